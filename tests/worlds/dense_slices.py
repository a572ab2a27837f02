"""`Dense`: a slice compared with all candidates, by the formulas on matrices of all pairs."""

import numpy as np
from selected_logs import ITEMS, USERS, SelectedLog

from unskew import Report
from unskew.arrays import Floats, Ints
from unskew.estimators.imputed import SlicedMetric, tilted_weights
from unskew.imputation import SliceFit
from unskew.logistic import sigmoid


class Dense:
    """The formulas on matrices of all pairs, from the fitted chances and exposure of a report."""

    def __init__(self, of: Report, world: SelectedLog, q: str = "labels") -> None:
        relevance = of.propensities.relevance
        self.world, self.fitted = world, relevance.chances[q]
        self.candidates = world.candidates if relevance.labelled else ~(world.in_train & world.drawn.relevant)
        self.q = np.where(self.candidates, self.fitted.block(np.arange(USERS), np.arange(ITEMS)), 0.0)
        assert relevance.exposure is not None
        self.exposure, self.labelled = relevance.exposure, relevance.labelled
        assert of.inputs.split.slice is not None
        drawn = of.inputs.split.slice
        self.users, self.items, self.label = drawn.users, drawn.items, np.asarray(drawn.values)

    def tilted(self) -> tuple[Ints, Ints, Floats, Floats, Floats]:
        """Users and items of the held-out positives, their weights with and without the tilt.

        Last is the covariance of tilted weights over slices.
        """
        users, items = np.nonzero(self.world.in_test & self.world.drawn.relevant)
        count = np.log1p(self.world.in_train.sum(axis=0) if self.labelled else self.positive_counts())
        features = np.column_stack([count[items], self.exposure.logits(users, items)])
        drawn = np.column_stack([count[self.items], self.exposure.logits(self.users, self.items)])
        center, spread = drawn.mean(axis=0), drawn.std(axis=0)
        features, chosen = (features - center) / spread, ((drawn - center) / spread)[self.label > 0]
        weight = sigmoid(self.exposure.logits(users, items)) ** -(0.75 if self.labelled else 0.5)
        target, n = chosen.mean(axis=0), len(chosen)
        slopes = []
        for step in 1e-5 * np.eye(2):  # by finite differences
            ahead, behind = (tilted_weights(features, weight, target + sign * step, n) for sign in (1, -1))
            slopes.append((ahead - behind) / 2e-5)
        moved = np.array(slopes)
        away = chosen - target
        tilted = tilted_weights(features, weight, target, n)
        return users, items, weight / weight.sum(), tilted, moved.T @ (away.T @ away / n**2) @ moved

    def positive_counts(self) -> Floats:
        return np.asarray((self.world.in_train & self.world.drawn.relevant).sum(axis=0))

    def metric(self, word: str) -> SlicedMetric:
        """Sources, one-step estimates and their errors, summed over all pairs."""
        gains = np.stack([self.gains(word, model) for model in self.world.models])
        per_user = word.startswith("dcg")
        n, size, mass = len(self.users), int(self.candidates.sum()), float(self.q.sum())

        def direct_of(q: Floats) -> Floats:
            return np.asarray((gains * q).sum(axis=(1, 2)) / (USERS if per_user else q.sum()))

        direct = direct_of(self.q)
        centre = 0 * direct if per_user else direct
        scale = size / (USERS if per_user else mass)
        error = self.label - self.fitted.rows(self.users, self.items)
        away = gains[:, self.users, self.items] - centre[:, None]
        spread = np.where(self.candidates, self.q * (1 - self.q), 0.0)
        deviation = gains - centre[:, None, None]
        variance = scale**2 * np.einsum("aui,bui,ui->ab", deviation, deviation, spread) / (size * n)
        errors = scale * error * away
        one_step = direct + errors.mean(axis=1)
        errors = errors - errors.mean(axis=1, keepdims=True)
        by_user = np.array([errors[:, self.users == user].sum(axis=1) for user in range(USERS)]).T / n
        users, items, weight, tilted, of_weights = self.tilted()
        logged, level = gains[:, users, items], mass / USERS if per_user else 1.0

        def by_rows(of_user: Floats) -> Floats:
            """The mean of both, where users count with these weights."""
            each = of_user[users]
            flat, tilt = (logged @ (each * w) / (each @ w) for w in (weight, tilted))
            return np.asarray((tilt + flat * tilt.sum() / flat.sum()) / 2)

        plain, flat = by_rows(np.ones(USERS)), logged @ weight
        sizes = np.full(USERS, 1 / USERS) if per_user else self.q.sum(axis=1) / mass
        of_q = (gains * self.q).sum(axis=2) / (USERS if per_user else mass) - np.outer(direct, sizes)
        nudges = 1e-6 * np.eye(USERS)
        of_log = level * np.array([by_rows(1 + each) - by_rows(1 - each) for each in nudges]).T / 2e-6
        shifted = [np.where(self.candidates, each, 0.0) for each in self.shifted_blocks()]
        through_q = sum(np.outer(direct_of(q) - direct, direct_of(q) - direct) for q in shifted)
        slopes = (logged + np.outer(flat / flat.mean(), logged.mean(axis=0))) / 2  # by each tilted weight
        through_log = level**2 * slopes @ of_weights @ slopes.T
        if per_user:
            through_log = through_log + sum(np.outer(plain, plain) * ((q.sum() - mass) / USERS) ** 2 for q in shifted)
        both = [of_q, of_log]
        return SlicedMetric(
            np.stack([direct, level * plain]),
            one_step,
            variance,
            by_user @ by_user.T,
            np.array([[a @ b.T for b in both] for a in both]),
            np.array([through_q, through_log]),
            int(self.label.sum()),
        )

    def gains(self, word: str, model: str) -> Floats:
        if self.labelled:
            return self.world.gains(word, model)
        kept = SelectedLog(self.world.drawn, self.world.in_train & self.world.drawn.relevant)
        return kept.gains(word, model)

    def shifted_blocks(self) -> list[Floats]:
        assert isinstance(self.fitted, SliceFit)
        return [each.block(np.arange(USERS), np.arange(ITEMS)) for each in self.fitted.shifted]
