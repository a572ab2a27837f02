"""`Cell`: one metric by one estimator, for all models."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from unskew.arrays import Floats
from unskew.errors import ConfigError
from unskew.estimators import Aoa, Estimate, Estimator, Rows, Terms
from unskew.estimators.means import kish, sum_by
from unskew.estimators.rows import Kind
from unskew.evaluation.collecting.imputed import Imputed
from unskew.evaluation.collecting.sample import Sample
from unskew.metrics import AnyMetric, scored_of
from unskew.metrics.content import ContentMetric

WEIGHTED = ", rows weighted"


@dataclass(frozen=True, eq=False)
class LaterTerms(Mapping[str, Terms]):
    """The terms of models, computed again when they are asked for, so that no user's numbers are kept.

    Parameters
    ----------
    models : tuple of str
    compute : callable
        Returns the terms of all of them.
    """

    models: tuple[str, ...]
    compute: Callable[[], Mapping[str, Terms]]

    def __getitem__(self, model: str) -> Terms:
        if model not in self.models:
            raise KeyError(model)
        return self.compute()[model]

    def __iter__(self) -> Iterator[str]:
        return iter(self.models)

    def __len__(self) -> int:
        return len(self.models)


@dataclass(frozen=True, eq=False)
class Cell:
    """The terms of all models, and the diagnostics that do not depend on the model."""

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
    terms: Mapping[str, Terms]
    weighted: bool = False  # whether the test rows have weights

    def estimate(self, model: str, definition: str, level: float, tied_share: float, **numbers: Any) -> Estimate:
        """The estimate of a model; `numbers` are its value, standard error and interval."""
        value = numbers["value"]
        if value is not None and not np.isfinite(value):
            raise ConfigError(f"{self.metric} by {self.estimator} of model {model!r} is {value}; check its gains")
        if isinstance(self.metric, ContentMetric) and self.metric.is_share and numbers["low"] is not None:
            numbers |= {end: min(max(numbers[end], 0.0), 1.0) for end in ("low", "high")}
        return Estimate(
            model=model,
            metric=str(self.metric),
            definition=definition,
            estimator=str(self.estimator),
            target=self.estimator.target_of(self.metric.kind) + (WEIGHTED if self.weighted else ""),
            level=level,
            assumed_low=None,
            assumed_high=None,
            users=self.users,
            dropped_users=self.dropped_users,
            dropped_items=self.dropped_items,
            effective_sample_size=self.effective_sample_size,
            effective_rows=self.effective_rows,
            max_weight_share=self.max_weight_share,
            clipped_share=self.clipped_share,
            tied_share=tied_share,
            **numbers,
        )


@dataclass(frozen=True)
class WeightSpread:
    """How evenly the weights of an estimator are spread over users and rows; None if there are none."""

    users: float | None
    rows: float | None
    largest: float | None


def weight_spread(estimator: Estimator, rows: Rows, kind: Kind) -> WeightSpread:
    """Effective numbers of users and rows, and the largest share of a weight."""
    form = estimator.form(kind) if isinstance(estimator, Aoa) else ""
    plain = rows.row_weight is None or kind in {"sum", "list"}
    if plain and form in {"pair", "user"} and len(rows):  # rows of a user weigh the same, so their numbers are enough
        counts = rows.counts.astype(float)
        if form == "pair":
            return WeightSpread(kish(counts), float(len(rows)), 1 / len(rows))
        return WeightSpread(
            float(len(counts)), len(counts) ** 2 / float(np.sum(1 / counts)), 1 / counts.min() / len(counts)
        )
    user, weights = rows.user, estimator.weights(rows, kind)
    if not weights.all():  # exposed rows that are not positive
        user, weights = user[weights > 0], weights[weights > 0]
    if not len(weights):  # of a part of a larger log
        return WeightSpread(None, None, None)
    return WeightSpread(kish(sum_by(user, weights)), kish(weights), float(weights.max() / weights.sum()))


def make_cell(
    sample: Sample,
    metric: AnyMetric,
    estimator: Estimator,
    rows: Rows,
    chances: Floats | None,
    terms: dict[str, Terms],
    spread: WeightSpread,
) -> Cell:
    """Return the cell with the terms of all models; `rows` are those of the sample as the estimator uses them."""
    first = next(iter(terms.values()))
    users = first.n_users if first.units == "users" else len(rows)
    if estimator.counts_empty_users:  # the whole population is in the sums, if only with 0
        population = sample.population(mean=metric.kind == "mean")
        dropped_users = int(np.sum((sample.split.test.user_counts > 0) & ~population))
    else:
        dropped_users = sample.dropped["users"] + len(sample.users) - users
    # with a slice the uncertainty is that of its positives
    drawn = sample.drawn.positives if isinstance(sample, Imputed) and sample.drawn and first.units != "users" else None
    whole = isinstance(sample, Imputed)  # every user with candidates is in the sums, and no held-out row is left out
    return Cell(
        metric=metric,
        estimator=estimator,
        users=users,
        dropped_users=0 if whole else dropped_users,
        dropped_items=sample.dropped_items + (0 if whole else sample.rows - len(rows)),
        without_propensity=0 if chances is None else int(np.sum(np.isnan(chances))),
        effective_sample_size=spread.users if drawn is None else float(drawn),
        effective_rows=spread.rows,
        max_weight_share=spread.largest,
        clipped_share=estimator.clipped_share(rows),
        terms=terms,
        weighted=sample.weights is not None,
    )


def as_share(terms: Terms, sample: Sample, metric: AnyMetric) -> Terms:
    """The terms of a propensity-scored metric as a share of the best possible; others as they are."""
    scored = scored_of(metric)
    if scored is None:
        return terms
    cutoff = metric.cutoff or 1
    divisors = scored.divisors(np.diff(sample.offsets), cutoff)
    best = scored.best(sample.rarity(metric), sample.offsets, cutoff)
    return replace(terms, numerator=terms.numerator / divisors, denominator=best / divisors)
