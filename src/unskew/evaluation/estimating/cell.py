"""Metrics over all pairs of a user and an item: rating losses and graded sums."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from unskew.arrays import Bools, Floats, Ints
from unskew.estimators import Estimator, Rows, Terms
from unskew.estimators.estimator import sum_by
from unskew.evaluation.collecting.sample import Evidence
from unskew.metrics import AnyMetric, RatingLoss
from unskew.propensities import Propensity


@dataclass(frozen=True, eq=False)
class Cell:
    """A metric by an estimator: what all models share there."""

    metric: AnyMetric
    estimator: Estimator
    users: int
    dropped_users: int
    dropped_items: int
    without_propensity: int
    effective_sample_size: float | None
    effective_rows: float | None
    max_weight_share: float | None
    clipped_share: float
    terms: dict[str, Terms]


@dataclass(frozen=True, eq=False)
class Risks:
    """Estimates over all pairs, from the rated rows of the test."""

    evidence: Evidence
    propensity: Propensity

    def cell(self, metric: AnyMetric, estimator: Estimator) -> Cell:
        """All models that can be judged by the metric, by one estimator."""
        evidence = self.evidence
        root = isinstance(metric, RatingLoss) and metric.root
        made = {model: self._rows(model, metric, estimator) for model in evidence.judged_by(metric)}
        terms = {}
        for model, rows in made.items():
            risk = estimator.risk(rows)
            terms[model] = replace(risk, root=root)
        rows = next(iter(made.values()))
        weights = estimator.row_weights(rows)
        judged = len(next(iter(terms.values())).numerator)
        return Cell(
            metric=metric,
            estimator=estimator,
            users=judged,
            dropped_users=self._dropped_users(estimator, int(rows.user.max(initial=-1)) + 1),
            dropped_items=evidence.dropped_items + evidence.rows - len(rows.loss),
            without_propensity=self._without_propensity if estimator.uses_propensity else 0,
            effective_sample_size=kish(sum_by(rows.user, weights)),
            effective_rows=kish(weights),
            max_weight_share=float(weights.max() / weights.sum()),
            clipped_share=estimator.clipped_share(rows.propensity),
            terms=terms,
        )

    def _dropped_users(self, estimator: Estimator, with_rows: int) -> int:
        evidence = self.evidence
        if estimator.counts_empty_users:
            return int(np.sum((evidence.split.test.user_counts > 0) & ~self._population))
        return evidence.dropped["users"] + len(evidence.users) - with_rows

    @cached_property
    def _population(self) -> Bools:
        """Users, by code, whose pairs the metric is over."""
        return self.evidence.population(mean=False)

    @cached_property
    def _propensities(self) -> tuple[Floats, Bools | None]:
        return self.evidence.propensities(self.propensity)

    @property
    def _without_propensity(self) -> int:
        _, has = self._propensities
        return 0 if has is None else int(np.sum(~has))

    def _rows(self, model: str, metric: AnyMetric, estimator: Estimator) -> Rows:
        evidence = self.evidence
        loss = evidence.gains(model, metric)
        propensity, has = self._propensities if estimator.uses_propensity else (np.ones(evidence.rows), None)
        kept = np.ones(evidence.rows, dtype=bool) if has is None else has.copy()
        if metric.kind == "loss" and evidence.predicted is not None:
            kept &= evidence.predicted
        users, user = np.unique(evidence.row_users[kept], return_inverse=True)
        graded = metric.kind == "graded"
        pairs = evidence.pairs
        return Rows(
            loss=loss[kept],
            propensity=propensity[kept],
            user=user,
            item=np.unique(evidence.items[kept], return_inverse=True)[1],
            size=1 / pairs[users][user] if graded else np.ones(len(user)),
            total=self._totals(users, graded=graded),
        )

    def _totals(self, users: Ints, *, graded: bool) -> Floats:
        """Pairs of the users with rows, then of the rest of the population; 1 each for a sum over a user's items."""
        rest = self._population.copy()
        rest[users] = False
        pairs = np.concatenate([self.evidence.pairs[users], self.evidence.pairs[rest]])
        return (pairs > 0).astype(float) if graded else pairs


def kish(weights: Floats) -> float:
    """Effective sample size (Kish 1965): the square of the sum over the sum of squares."""
    return float(weights.sum() ** 2 / np.dot(weights, weights))
