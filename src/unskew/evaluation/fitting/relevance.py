"""`fit_relevance`: what the imputing estimators of a run need: chances of relevance, and the exposure model."""

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace

import numpy as np

from unskew.arrays import Bools, Floats, Ints
from unskew.data import Interactions, Split
from unskew.data.candidates import All
from unskew.data.exposed import has_labels
from unskew.errors import ConfigError, DataError, Option
from unskew.estimators import Dr, Imputing
from unskew.evaluation.fitting.pair_features import TrainingFeatures
from unskew.evaluation.run import Run
from unskew.imputation import (
    FittedImputation,
    FromSlice,
    Imputation,
    LabelledRows,
    Scores,
    SliceFit,
    fit_to_slice,
)
from unskew.logistic import log_odds
from unskew.propensities.exposure import Exposure, FittedExposure, Regressed

POSITIVE_ONLY = Exposure(power=0.5)
"""The propensity of logs that have positives only; power 0.5 was the best of 0.5, 0.75 and 1 there."""
SLICE_PENALTY = 1 / 0.3
"""Ridge penalty of a regression on the slice alone."""


@dataclass(frozen=True, eq=False)
class Relevance:
    """Chances of relevance by the word of q, and the exposure model, as far as the estimators of a run need them."""

    chances: Mapping[str, FittedImputation] = field(default_factory=dict)
    exposure: FittedExposure | None = None
    labelled: bool = False  # whether the log has negatives


def fit_relevance(run: Run, exposure: FittedExposure | None) -> Relevance:
    """Fit the chances that the imputing estimators of a run name.

    `exposure` is that of the run's propensity, if this is an exposure model; else one with default settings is fitted
    where an estimator, or the slice, needs it.
    """
    asked = [estimator for estimator in run.settings.estimators if isinstance(estimator, Imputing)]
    if not asked:
        return Relevance(exposure=exposure)
    words = {estimator.q: Imputation.from_word(estimator.q) for estimator in asked}
    slice_rows = drawn_rows(run.split)
    log = labelled_rows(run)
    labelled = has_negatives(run)
    if not labelled and any(isinstance(estimator, Dr) for estimator in asked):
        log.require_both()  # its errors are of rows that are positive and of rows that are not
    if any(estimator.uses_exposure for estimator in asked) or slice_rows is not None:
        exposure = exposure or fit_exposure(Exposure() if labelled else POSITIVE_ONLY, run.split)
    chances: dict[str, FittedImputation] = {}
    for word, imputation in words.items():
        base: FittedImputation | None = None
        if isinstance(imputation, FromSlice) and slice_rows is None:
            raise ConfigError(f"q=slice needs random rows; give them with {Option('exposed')} next to {Option('test')}")
        if isinstance(imputation, Scores):
            base = imputation.read(run.split.user_vocabulary, run.split.item_vocabulary)
        elif not isinstance(imputation, FromSlice) and (labelled or slice_rows is None):
            base = imputation.fit(log)
        if slice_rows is None:
            assert base is not None
            chances[word] = base
        else:
            assert exposure is not None
            chances[word] = _fit_slice(base, exposure, run, slice_rows)
    return Relevance(chances, exposure, labelled)


_SHARED: ContextVar[dict[str, Regressed] | None] = ContextVar("exposure", default=None)


@contextmanager
def shared_exposure() -> Iterator[None]:
    """Within it, evaluations of the same train and test share one regression of exposure, whatever its power."""
    if _SHARED.get() is not None:
        yield
        return
    token = _SHARED.set({})
    try:
        yield
    finally:
        _SHARED.reset(token)


def fit_exposure(model: Exposure, split: Split) -> FittedExposure:
    """Fit an exposure model to the rows that were held out, positive or not."""
    shared = _SHARED.get()
    if shared is None or model.users is not None or model.items is not None:
        return model.weighted(_regress(model, split))
    key = _content(replace(model, power=1.0, clip=0.0), split)
    if key not in shared:
        shared[key] = _regress(model, split)
    return model.weighted(shared[key])


def _content(model: Exposure, split: Split) -> str:
    """All that a regression depends on, as a digest; splits of the same rows have different objects."""
    declared = split.user_vocabulary.declared, split.item_vocabulary.declared
    size = len(split.user_vocabulary), len(split.item_vocabulary)
    digest = hashlib.sha256(repr((str(model), declared, size, isinstance(split.rule, All))).encode())
    for part in (split.train, split.test):
        digest.update(repr(len(part)).encode())
        for codes in (part.users, part.items):
            digest.update(np.ascontiguousarray(codes, dtype=np.int64).tobytes())
    return digest.hexdigest()


def _regress(model: Exposure, split: Split) -> Regressed:
    features = TrainingFeatures(split.train, model.regularisation)
    if isinstance(split.rule, All):
        return model.regress(features, split.test)
    judged = split.sorted_test.take(~split.test_in_train) if split.test_in_train.any() else split.test
    return model.regress(features, judged, seen=split.train)


def labelled_rows(run: Run) -> LabelledRows:
    """The rows of train and test with their labels; all are positive without a condition or labels."""
    parts = run.split.train, run.split.test
    label = np.concatenate([_labels(part, run.settings.positive) for part in parts]).astype(float)
    return LabelledRows(
        np.concatenate([part.users for part in parts]),
        np.concatenate([part.items for part in parts]),
        label,
        len(run.split.user_vocabulary),
        len(run.split.item_vocabulary),
        run.split.train.name,
    )


def has_negatives(run: Run) -> bool:
    """Whether a log has rows that are positive and rows that are not."""
    if run.settings.positive is None and not any(map(has_labels, (run.split.train, run.split.test))):
        return False  # all rows are positive
    label = labelled_rows(run).label
    return bool(0 < label.sum() < len(label))


def drawn_rows(split: Split) -> LabelledRows | None:
    """The rows of the slice that are candidates, sorted by user and item; None without a slice."""
    rows = split.slice
    if rows is None:
        return None
    if not isinstance(split.rule, All):
        from unskew.data.pairs import is_among

        rows = rows.take(~is_among(rows, split.train, len(split.item_vocabulary)))
    if not len(rows):
        raise DataError(
            f"{rows.name}: every row is also in train, so no candidate was drawn; draw items that the users do not have"
        )
    assert rows.values is not None
    if (rows.values > 0).all():
        raise DataError(
            f"{rows.name}: every row of the slice is positive, so rows that were drawn and not liked are missing; keep "
            "all rows that were drawn"
        )
    order = np.lexsort((rows.items, rows.users))  # the order of a file must not decide the folds
    return LabelledRows(
        rows.users[order],
        rows.items[order],
        (rows.values[order] > 0).astype(float),
        len(split.user_vocabulary),
        len(split.item_vocabulary),
        rows.name,
    )


def _labels(rows: Interactions, positive: str | None) -> Bools:
    if positive is not None:
        try:
            return rows.holds(positive)
        except DataError:  # it lacks that column, so all its rows are positives
            return np.ones(len(rows), dtype=bool)
    if has_labels(rows):
        assert rows.values is not None
        return rows.values > 0
    return np.ones(len(rows), dtype=bool)


def _fit_slice(base: FittedImputation | None, exposure: FittedExposure, run: Run, rows: LabelledRows) -> SliceFit:
    columns = SliceColumns(base, exposure, run.split.train)
    penalty = SLICE_PENALTY if base is None else 1.0
    return fit_to_slice(columns, rows, base=base, penalty=penalty, seed=run.settings.seed)


@dataclass(frozen=True, eq=False)
class SliceColumns:
    """Log-odds of the imputation, log of the item's count and log-odds of exposure; without an imputation, activity."""

    base: FittedImputation | None
    exposure: FittedExposure
    train: Interactions

    def rows(self, users: Ints, items: Ints, /) -> Floats:
        """Columns of each pair."""
        counted = np.log1p(self.train.item_counts[items])
        exposed = self.exposure.logits(users, items)
        first = np.log1p(self.train.user_counts[users]) if self.base is None else log_odds(self.base.rows(users, items))
        return np.column_stack([first, counted, exposed])

    def block(self, users: Ints, items: Ints, /) -> Floats:
        """Columns of these users with these items."""
        known = items >= 0
        counted = np.where(known, np.log1p(self.train.item_counts)[items], 0.0)
        exposed = self.exposure.block_logits(users)[:, items]
        if not known.all():
            exposed[:, ~known] = exposed.min(axis=1, keepdims=True)
        shape = exposed.shape
        first = (
            np.broadcast_to(np.log1p(self.train.user_counts[users])[:, None], shape)
            if self.base is None
            else self.base.block_logits(users, items)
        )
        return np.stack([first, np.broadcast_to(counted, shape), exposed], axis=2)
