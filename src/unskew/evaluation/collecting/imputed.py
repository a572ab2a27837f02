"""`Imputed`: all candidates of all users, summed with their chances of relevance, and the slice of random rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from unskew.arrays import Bools, Floats, Ints, gram
from unskew.data.candidates import All
from unskew.data.pairs import row_keys
from unskew.errors import ConfigError, DataError, Option
from unskew.estimators import Blend, Dm, Dr, Estimator, Imputing, Kind, Rows, Terms
from unskew.estimators.imputed import (
    SlicedMetric,
    SlicedModel,
    SliceRows,
    blend_with_slice,
    joint_terms,
    shifts_of_tilt,
    tilted_weights,
)
from unskew.evaluation.collecting.sample import Sample
from unskew.evaluation.collecting.slice_draw import DrawTest
from unskew.evaluation.fitting.relevance import Relevance
from unskew.imputation import LabelledRows, SliceFit, TableOfChances
from unskew.metrics import AnyMetric, Metric
from unskew.ranking import CandidateSums, Moments, Ranks

FEW_POSITIVES = 10
"""Positives of a slice below which it decides nothing."""


@dataclass(frozen=True, eq=False)
class Drawn:
    """The rows of a slice, ranked by every model."""

    rows: LabelledRows  # sorted by user and item
    ranks: Mapping[str, Ranks]
    moments: Mapping[tuple[str, str], Moments]  # by q and metric, of all models in their order
    draw: DrawTest

    @property
    def positives(self) -> int:
        """Number of positives."""
        return int(self.rows.label.sum())

    @property
    def decides(self) -> bool:
        """Whether there are enough positives to decide anything."""
        return self.positives >= FEW_POSITIVES


@dataclass(frozen=True, eq=False)
class Imputed(Sample):
    """The sums over all candidates of each user, by q and model; the fields of a sample are the held-out positives."""

    kind: ClassVar[str] = "candidates"

    everyone: Ints = field(default_factory=lambda: np.empty(0, np.int64))  # codes of all users
    candidates: Ints = field(default_factory=lambda: np.empty(0, np.int64))  # how many each of them has
    sums: Mapping[tuple[str, str], CandidateSums] = field(default_factory=dict)
    relevance: Relevance = field(default_factory=Relevance)
    logged: Sample | None = None  # all held-out rows, positive or not, for dr
    labels: Bools | None = None  # of `logged`
    drawn: Drawn | None = None
    shifted: Mapping[tuple[str, str], tuple[CandidateSums, ...]] = field(default_factory=dict)  # as `SliceFit.shifted`
    resemblance: Mapping[tuple[str, str], float] = field(default_factory=dict)  # of q and model: rank correlation

    def __post_init__(self) -> None:
        for q, chances in self.listed_chances.items():
            self._tables[q].refuse_constant(chances, int(self.candidates.sum()))

    @cached_property
    def listed_chances(self) -> dict[str, Floats]:
        """Chances of the candidates that tables of chances list, by q."""
        excluded: Ints = np.empty(0, np.int64)
        if self._tables and not isinstance(self.split.rule, All):
            excluded = row_keys(self.split.train, len(self.split.item_vocabulary))
        return {q: table.of_candidates(self.everyone, excluded) for q, table in self._tables.items()}

    @cached_property
    def _tables(self) -> dict[str, TableOfChances]:
        fits = self.relevance.chances.items()
        bases = {q: fitted.base if isinstance(fitted, SliceFit) else fitted for q, fitted in fits}
        return {q: base for q, base in bases.items() if isinstance(base, TableOfChances)}

    def by_list(self, metric: AnyMetric) -> bool:
        """False: the sums hold the expectation of each list."""
        return False

    def to_rows(self, kind: Kind, estimator: Estimator, chances: Floats | None = None) -> Rows:
        """One row per user, whose size is the sum of chances, with the held-out rows that the estimator weights."""
        assert isinstance(estimator, Imputing)
        first = self.sums[estimator.q, next(iter(self.ranks))]
        sizes = {"mean": first.mass, "list": first.any_relevant}
        return Rows(
            worth=np.empty(0),
            user=np.arange(len(self.everyone)),
            size=sizes.get(kind),
            total=self.candidates.astype(float),
            mass=first.mass,
            logged=self._logged(estimator) if estimator.uses_exposure and kind != "list" else None,
        )

    def fill(self, rows: Rows, model: str, metric: AnyMetric, estimator: Estimator) -> Rows:
        """The rows with a model's sums, and with its gains of the held-out rows."""
        assert isinstance(estimator, Imputing)
        sums, word = self.sums[estimator.q, model], str(metric)
        worth = sums.values[word] if metric.kind == "list" else sums.gains[word]
        filled = rows.with_worth(worth)
        if rows.logged is None:
            return filled
        source = self.logged if isinstance(estimator, Dr) else self
        assert source is not None
        gains = Sample.gains(source, model, metric)
        return replace(filled, logged=rows.logged.with_worth(gains))

    def weighted_by(self, chance: Floats, model: str, metric: AnyMetric, q: str) -> Rows:
        """One row per user, with a model's gains of the held-out positives, which have these chances."""
        rows, user = self.to_rows(metric.kind, Dm(q=q)), self._place(self.row_users)
        return replace(rows, logged=Rows(Sample.gains(self, model, metric), user, propensity=chance))

    def shrinks(self, metric: AnyMetric, estimator: Estimator) -> bool:
        """Whether an estimate is shrunk towards the slice, jointly for all models."""
        return self.drawn is not None and isinstance(estimator, Blend) and metric.kind != "list"

    def sliced(self, metric: AnyMetric, estimator: Blend, direct: Mapping[str, Terms]) -> SlicedMetric:
        """All models under a metric, compared with the slice; `direct` has the terms of ``dm`` of each."""
        assert self.drawn is not None
        models = [
            SlicedModel(
                terms,
                gains_of(metric, self.drawn.ranks[model], self.unlisted),
                Sample.gains(self, model, metric),
                self._shifts(metric, estimator, model, terms.value or 0.0),
            )
            for model, terms in direct.items()
        ]
        moments = self.drawn.moments[estimator.q, str(metric)]
        parts = float(moments.total), moments.first, moments.second
        return blend_with_slice(models, self.slice_rows[estimator.q], parts, mean=metric.kind == "mean")

    def fitted(self, metric: AnyMetric, estimator: Estimator) -> bool:
        """Whether an estimate is imputation alone, with chances that are fitted to the slice."""
        return (
            isinstance(estimator, Dm | Blend)
            and (estimator.q, next(iter(self.ranks))) in self.shifted
            and not self.shrinks(metric, estimator)
        )

    def with_fit(self, metric: AnyMetric, estimator: Imputing, direct: Mapping[str, Terms]) -> list[Terms]:
        """Terms of imputation whose covariance over models also has the error of the chances, fitted to the slice."""
        influence = np.stack([terms.influence for terms in direct.values()])
        values = np.array([terms.value or 0.0 for terms in direct.values()])
        shifts = np.stack(
            [self._shifts(metric, estimator, model, value) for model, value in zip(direct, values, strict=True)]
        )
        return joint_terms(values, gram(influence) + gram(shifts))

    def _shifts(self, metric: AnyMetric, estimator: Imputing, model: str, value: float) -> Floats:
        """By how much imputation moves with the coefficients of its chances, in each direction."""
        word, shifts = str(metric), []
        for sums in self.shifted[estimator.q, model]:
            if metric.kind == "list":
                terms = Terms(sums.values[word], sums.any_relevant)
            else:
                terms = Terms(sums.gains[word], sums.mass if metric.kind == "mean" else np.ones(len(sums.mass)))
            shifts.append((terms.value or 0.0) - value)
        return np.array(shifts)

    @cached_property
    def slice_rows(self) -> dict[str, SliceRows]:
        """The rows of the slice as `blend_with_slice` uses them, by q."""
        assert self.drawn is not None
        rows, exposure = self.drawn.rows, self.relevance.exposure
        assert exposure is not None
        weight = 1 / exposure(self.row_users, self.items)
        tilted, shifts = self._tilted(weight)
        by_q = {}
        for q, fitted in self.relevance.chances.items():
            sums = next(sums for (word, _), sums in self.sums.items() if word == q)
            mass = float(sums.mass.sum())
            shifted = next((each for (word, _), each in self.shifted.items() if word == q), ())
            by_q[q] = SliceRows(
                user=self._place(rows.users),
                positive=rows.label > 0,
                chance=fitted.rows(rows.users, rows.items),
                candidates=int(self.candidates.sum()),
                mass=mass,
                users=len(self.everyone),
                logged_user=self._place(self.row_users),
                logged_weight=np.asarray(weight / weight.sum()),
                tilted_weight=tilted,
                weight_shifts=shifts,
                mass_shifts=np.array([float(each.mass.sum()) - mass for each in shifted]),
            )
        return by_q

    def _tilted(self, weight: Floats) -> tuple[Floats | None, Floats | None]:
        """Weights of the held-out positives, tilted towards the slice's positives, and how they move with the slice."""
        assert self.drawn is not None and self.relevance.exposure is not None  # noqa: PT018
        rows, exposure = self.drawn.rows, self.relevance.exposure
        count = np.log1p(self.split.train.item_counts)
        users, items = self.row_users, self.items
        features = np.column_stack([count[items], exposure.logits(users, items)])
        drawn = np.column_stack([count[rows.items], exposure.logits(rows.users, rows.items)])
        center, spread = drawn.mean(axis=0), drawn.std(axis=0)
        scale = np.where(spread > 0, spread, 1.0)
        positive = rows.label > 0
        if not positive.any() or not len(weight):
            return None, None
        features, chosen = (features - center) / scale, ((drawn - center) / scale)[positive]
        shares = tilted_weights(features, weight, chosen.mean(axis=0), len(chosen))
        return shares, shifts_of_tilt(features, shares, np.cov(chosen.T, bias=True), len(chosen))

    def _logged(self, estimator: Imputing) -> Rows:
        """The held-out rows that an estimator weights; those of one kind are the same for all models and metrics."""
        key = estimator.q if isinstance(estimator, Dr) else None
        if key not in self._weighted:
            self._weighted[key] = self._rows_for_dr(key) if key is not None else self._rows_for_mean()
        return self._weighted[key]

    @cached_property
    def _weighted(self) -> dict[str | None, Rows]:
        """Rows of `_logged` by q of ``dr``, and under None those of a weighted mean."""
        return {}

    def _rows_for_mean(self) -> Rows:
        exposure = self.relevance.exposure
        assert exposure is not None
        return Rows(
            worth=np.empty(0), user=self._place(self.row_users), propensity=exposure(self.row_users, self.items)
        )

    def _rows_for_dr(self, q: str) -> Rows:
        exposure, source = self.relevance.exposure, self.logged
        assert exposure is not None
        if source is None:
            raise DataError("dr needs all held-out rows ranked")
        users, items = source.row_users, source.items
        return Rows(
            worth=np.empty(0),
            user=self._place(users),
            # the doubly robust weights are inverse chances, whatever the power of the weighted mean
            propensity=exposure(users, items) ** (1 / exposure.power),
            positive=self.labels,
            imputed=self.relevance.chances[q].rows(users, items),
        )

    def _place(self, users: Ints) -> Ints:
        """Place of each user among all users."""
        place = np.searchsorted(self.everyone, users)
        return np.asarray(place)


def gains_of(metric: AnyMetric, ranks: Ranks, unlisted: str) -> Floats:
    """The gain of each row under a model, ties in expectation."""
    assert isinstance(metric, Metric)
    listed = ranks.in_list() if unlisted == "zero" else None
    return metric.row_gains(ranks.above, ranks.spread, ranks.candidates, listed)


def check_imputable(estimators: Sequence[Estimator], users: str, ready: Sequence[str]) -> None:
    """Refuse imputing estimators for users of each model, and for models with saved ranks only."""
    asked = [estimator for estimator in estimators if isinstance(estimator, Imputing)]
    if not asked:
        return
    if users == "served":
        raise ConfigError(f"{asked[0]} is about the candidates of all users; use {Option('users', 'any')} or common")
    if ready:
        raise ConfigError(
            f"{asked[0]} needs the scores of all candidates, but model {ready[0]!r} has ranks of held-out rows only; "
            f"give {Option('scores')} or {Option('factors')}, or use snips"
        )
