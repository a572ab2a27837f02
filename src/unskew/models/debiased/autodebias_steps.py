"""Steps of AutoDebias: weights and imputed labels that minimise the loss on a uniform sample."""

from dataclasses import dataclass

import torch
from torch import Tensor

from unskew.models.debiased.autodebias import AutoDebias
from unskew.models.debiased.backbones import Pair
from unskew.models.debiased.method import Pointwise, Setting, Slopes
from unskew.models.debiased.optimisers import Adam

SOFTENING = 5.0  # weights are exp of a fifth of the learnt number


@dataclass(frozen=True, eq=False)
class Weights:
    """Weights and targets in a form for whole matrices.

    The functions of a label y, which is 1, -1 or 0 (none), are written c0 + c1 y + c2 y².

    Parameters
    ----------
    users, items : Tensor
        The part of the weight of users and of items.
    weight, weighed_target : tuple of float
        The part of the weight of a label, and that times the target: c0, c1, c2.
    """

    users: Tensor
    items: Tensor
    weight: tuple[float, float, float]
    weighed_target: tuple[float, float, float]

    def fill(self, rows: slice, labels: Tensor, squares: Tensor) -> Pair:
        """Weights, and weights times targets, of all items of some users."""
        scale = self.users[rows][:, None]
        first = _polynomial(self.weight, labels, squares).mul_(self.items).mul_(scale)
        second = _polynomial(self.weighed_target, labels, squares).mul_(self.items).mul_(scale)
        return first, second


class Meta(Pointwise):
    """The steps of `autodebias`."""

    def __init__(self, model: AutoDebias, setting: Setting) -> None:
        super().__init__(model, setting)
        n_users, n_items = setting.labelled.shape
        self.model = model
        self.ahead = model.learning_rate if model.optimiser == "sgd" else model.look_ahead
        sample = setting.sample
        self.sample = torch.from_numpy(sample.users), torch.from_numpy(sample.items)
        self.sample_labels = torch.from_numpy(sample.labels).float()
        # of users, items, and negatives and positives
        self.observed = [torch.zeros(n_users), torch.zeros(n_items), torch.zeros(2)]
        # of users, items, and pairs without and with a label
        self.pairs = [torch.zeros(n_users), torch.zeros(n_items), torch.zeros(2)]
        # of negatives, pairs without a label, and positives
        self.imputed = [torch.zeros(3)]
        settings = (
            (self.observed, model.observed_rate, model.observed_decay),
            (self.pairs, model.pair_rate, model.pair_decay),
            (self.imputed, model.label_rate, model.label_decay),
        )
        self.meta_optimisers = [Adam(part, rate, decay) for part, rate, decay in settings]

    def step(self, block: slice) -> tuple[float, float]:
        """Look ahead, update the weights, then the model."""
        factors = self.backbone.factors(self.backbone.parameters)
        by_observed, by_pairs, by_imputed = self.hypergradient(block, factors)
        observed_optimiser, pair_optimiser, label_optimiser = self.meta_optimisers
        if self.epoch >= self.model.frozen:
            observed_optimiser.step(by_observed)
            pair_optimiser.step(by_pairs)
        label_optimiser.step(by_imputed)
        slopes, loss, weight = self._slopes(block, factors)
        self.descend(block, *slopes.result(self.slope))
        return loss, weight

    def hypergradient(self, block: slice, factors: Pair) -> tuple[list[Tensor], list[Tensor], list[Tensor]]:
        r"""The gradient of the uniform sample's loss after the look-ahead, by a, b and c.

        With v the gradient of that loss at :math:`\theta'`, it is
        :math:`-\eta\, \partial_\phi \langle \nabla_\theta L(\theta, \phi), v \rangle`. The inner product is the
        derivative of L in the direction v, a sum over pairs of their slope times how their score changes along v.
        """
        direction = self.backbone.along(self._uniform_gradient(self._ahead(block, factors)))
        (users, items), (by_users, by_items) = factors, direction
        both = torch.hstack([by_users, users]), torch.hstack([items, by_items])
        sums = Sums(self.labels.shape)
        observed, pairs = self._observed_weights(), self._pair_weights()
        moves = torch.empty_like(self._buffers[0])
        for rows, labels, predicted in self.tiles(block, factors):
            move = torch.mm(both[0][rows], both[1].T, out=moves[: len(labels)])
            squares = labels.abs()
            weight, target = observed.fill(rows, labels, squares)
            sums.add_observed(rows, weight.mul_(predicted).sub_(target).mul_(move), labels)
            weight, target = pairs.fill(rows, labels, squares)
            sums.add_imputed(torch.mul(weight, move), labels, squares)
            sums.add_pairs(rows, weight.mul_(predicted).sub_(target).mul_(move), squares)
        return sums.gradients(-self.ahead * self.slope, torch.tanh(self.imputed[0]))

    def _ahead(self, block: slice, factors: Pair) -> list[Tensor]:
        """The backbone at θ', after one plain step."""
        slopes, _, _ = self._slopes(block, factors)
        gradients = self.backbone.gradient(*slopes.result(self.slope))
        self.backbone.penalise(gradients, self.penalty, block)
        return [
            torch.sub(now, gradient, alpha=self.ahead)
            for now, gradient in zip(self.backbone.parameters, gradients, strict=True)
        ]

    def _uniform_gradient(self, parameters: list[Tensor]) -> list[Tensor]:
        """The gradient of the sum of losses over the uniform sample."""
        users, items = self.backbone.factors(parameters)
        left, right = users[self.sample[0]], items[self.sample[1]]
        slope = self.link(torch.linalg.vecdot(left, right)).sub_(self.sample_labels).mul_(self.slope)[:, None]
        by_users = torch.zeros_like(users).index_add_(0, self.sample[0], right * slope)
        by_items = torch.zeros_like(items).index_add_(0, self.sample[1], left * slope)
        return self.backbone.gradient(by_users, by_items)

    def _slopes(self, block: slice, factors: Pair) -> tuple[Slopes, float, float]:
        """The slopes of L, the plain squared errors of the observed pairs, and their number."""
        slopes = Slopes(factors)
        observed, pairs = self._observed_weights(), self._pair_weights()
        loss, count = 0.0, 0.0
        for rows, labels, predicted in self.tiles(block, factors):
            squares = labels.abs()
            count += float(squares.sum())
            weights, targets = observed.fill(rows, labels, squares)
            more, beside = pairs.fill(rows, labels, squares)
            slopes.add(rows, weights.add_(more).mul_(predicted).sub_(targets.add_(beside)))
            errors = squares.mul_(predicted).sub_(labels)
            loss += float(torch.vdot(errors.view(-1), errors.view(-1)))
        return slopes, loss, count

    def _observed_weights(self) -> Weights:
        """w1, and w1 y."""
        users, items, label = (torch.exp(part / SOFTENING) for part in self.observed)
        negative, positive = label.tolist()
        mean, half = (positive + negative) / 2, (positive - negative) / 2
        return Weights(users, items, (0.0, half, mean), (0.0, mean, half))

    def _pair_weights(self) -> Weights:
        """λ w2, and λ w2 m."""
        users, items, observed = (torch.exp(part / SOFTENING) for part in self.pairs)
        outside, inside = (observed * self.model.imputation).tolist()
        negative, none, positive = torch.tanh(self.imputed[0]).tolist()
        targets = (
            outside * none,
            inside * (positive - negative) / 2,
            inside * (positive + negative) / 2 - outside * none,
        )
        return Weights(users, items, (outside, 0.0, inside - outside), targets)


class Sums:
    """Sums of slopes over users, items and kinds of pairs, for the hyper-gradient.

    Parameters
    ----------
    shape : tuple of int
        Numbers of users and items.
    """

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.observed = [torch.zeros(shape[0]), torch.zeros(shape[1]), torch.zeros(2)]
        self.pairs = [torch.zeros(shape[0]), torch.zeros(shape[1]), torch.zeros(2)]
        self.imputed = torch.zeros(3)

    def add_observed(self, rows: slice, slopes: Tensor, labels: Tensor) -> None:
        """Add the slopes of w1 (p - y), which are 0 without a label."""
        self.observed[0][rows] = slopes.sum(1)
        self.observed[1] += slopes.sum(0)
        total, difference = self.observed[0][rows].sum(), torch.vdot(slopes.view(-1), labels.view(-1))
        self.observed[2] += torch.stack([total - difference, total + difference]) / 2

    def add_pairs(self, rows: slice, slopes: Tensor, squares: Tensor) -> None:
        """Add the slopes of λ w2 (p - m)."""
        self.pairs[0][rows] = slopes.sum(1)
        self.pairs[1] += slopes.sum(0)
        inside = torch.vdot(slopes.view(-1), squares.view(-1))
        self.pairs[2] += torch.stack([self.pairs[0][rows].sum() - inside, inside])

    def add_imputed(self, slopes: Tensor, labels: Tensor, squares: Tensor) -> None:
        """Add the slopes of -λ w2 m, without the factor m."""
        flat = slopes.view(-1)
        difference, inside = torch.vdot(flat, labels.view(-1)), torch.vdot(flat, squares.view(-1))
        self.imputed += torch.stack([(inside - difference) / 2, flat.sum() - inside, (inside + difference) / 2])

    def gradients(self, scale: float, targets: Tensor) -> tuple[list[Tensor], list[Tensor], list[Tensor]]:
        """The gradients by a, b and c: the sums times the derivatives of exp(·/5) and tanh."""
        weighed = scale / SOFTENING
        return (
            [part * weighed for part in self.observed],
            [part * weighed for part in self.pairs],
            [self.imputed * (targets.square() - 1) * scale],
        )


def _polynomial(coefficients: tuple[float, float, float], labels: Tensor, squares: Tensor) -> Tensor:
    constant, linear, quadratic = coefficients
    values = torch.mul(squares, quadratic)
    if linear:
        values.add_(labels, alpha=linear)
    return values.add_(constant) if constant else values
