"""Steps of doubly robust joint learning."""

import torch

from unskew.models.debiased.backbones import Factorisation
from unskew.models.debiased.dr import Dr
from unskew.models.debiased.method import Pointwise, Setting, Slopes
from unskew.models.debiased.optimisers import optimiser_of

AHEAD = 5  # how much faster g learns than the model


class Robust(Pointwise):
    """The steps of `dr`.

    Parameters
    ----------
    model : Dr
    setting : Setting
    negative, positive : float
        Inverse propensity of a row of that label.
    """

    def __init__(self, model: Dr, setting: Setting, negative: float, positive: float) -> None:
        super().__init__(model, setting)
        self.mean, self.half = (positive + negative) / 2, (positive - negative) / 2
        self.guess = Factorisation(setting.labelled.shape, model.imputation_factors, setting.rng)
        rate = model.imputation_rate or AHEAD * model.learning_rate
        self.guess_optimiser = optimiser_of(model.optimiser, self.guess.parameters, rate)

    def step(self, block: slice) -> tuple[float, float]:
        """Update first the prediction of the errors, then the model."""
        factors = self.backbone.factors(self.backbone.parameters)
        loss, weight = self._improve_guess(block, factors)
        guess = self.guess.factors(self.guess.parameters)
        slopes = Slopes(factors)
        for rows, labels, predicted in self.tiles(block, factors):
            weights = self._weights(labels)
            errors = torch.sub(labels, predicted)
            # observed pairs add w [(p - y) + g]
            slopes.add(rows, torch.mm(guess[0][rows], guess[1].T).sub_(errors).mul_(weights))
        # all pairs add -g, a product of few factors
        slopes.by_users[block].sub_(guess[0][block] @ (guess[1].T @ factors[1]))
        by_users, by_items = slopes.result(self.slope)
        by_items.sub_(guess[1] @ (guess[0][block].T @ factors[0][block]), alpha=self.slope)
        self.descend(block, by_users, by_items)
        return loss, weight

    def _improve_guess(self, block: slice, factors: tuple[torch.Tensor, torch.Tensor]) -> tuple[float, float]:
        """Take a step on w (g - e)^2 of the observed pairs; return the weighted squared errors e of the model."""
        guess = self.guess.factors(self.guess.parameters)
        slopes = Slopes(guess)
        loss, weight = 0.0, 0.0
        for rows, labels, predicted in self.tiles(block, factors):
            weights = self._weights(labels)
            errors = torch.sub(labels, predicted)
            weighed = torch.mul(errors, weights)
            loss += float(torch.vdot(errors.view(-1), weighed.view(-1)))
            weight += float(weights.sum())
            slopes.add(rows, torch.mm(guess[0][rows], guess[1].T).mul_(weights).sub_(weighed))
        gradients = self.guess.gradient(*slopes.result(2.0))
        self.guess.penalise(gradients, self.penalty, block)
        self.guess_optimiser.step(gradients)
        return loss, weight

    def _weights(self, labels: torch.Tensor) -> torch.Tensor:
        """The inverse propensity of each pair; 0 if it is not observed."""
        return torch.mul(labels, self.half).add_(self.mean).mul_(labels).abs_()
