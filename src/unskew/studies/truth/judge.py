"""`judge`: every form of estimate on one log, next to the truth; `Judged` has the numbers of all models and metrics."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from unskew.arrays import Floats
from unskew.data import Interactions, Split, exposed_split
from unskew.evaluation import Report, evaluate
from unskew.evaluation.fitting.relevance import shared_exposure
from unskew.models import Model
from unskew.propensities import Exposure
from unskew.ranking import MatrixScorer, Scorer
from unskew.studies.framework.cache import read_arrays, write_arrays
from unskew.studies.framework.stats import LEVEL
from unskew.studies.truth.forms import (
    ALONE,
    AUTO,
    CHANCE,
    LABELLED,
    METRICS,
    MODELS,
    NAIVE,
    PLAIN,
    POSITIVE,
    SLICED,
    TRAINED,
    WITH_FEATURES,
    Form,
    Run,
)
from unskew.studies.truth.logs import Log, Parts

TRUTH = "truth"
Place: TypeAlias = tuple[float, int]
"""The share of a slice, and which of several slices of that share it is."""
NO_SLICE: Place = (0.0, 0)
_BLOCK = 256  # users whose scores are computed at once
_ARRAYS = ("forms", "values", "low", "high", "signs")


@dataclass(frozen=True, eq=False)
class Judged:
    """Estimates of all models by all forms, on one log.

    Parameters
    ----------
    forms : tuple of Form
        Those named `TRUTH` are what others are compared with, one per kind of log and slice.
    values, low, high : array (forms, models, metrics)
        Estimates and the ends of their 95 % intervals.
    signs : array (forms, metrics, pairs of models)
        1 or -1 for differences that are significant after Holm's correction over the pairs, else 0.
    """

    forms: tuple[Form, ...]
    values: Floats
    low: Floats
    high: Floats
    signs: Floats

    def place(self, form: Form) -> int:
        """Place of a form in the arrays."""
        return self.forms.index(form)

    def write(self, path: Path | None) -> None:
        """Keep the numbers in a file."""
        forms = np.array([f"{form.given}|{form.share!r}|{form.draw}|{form.name}" for form in self.forms])
        arrays: dict[str, Any] = {name: getattr(self, name) for name in _ARRAYS}
        write_arrays(path, {**arrays, "forms": forms})

    @classmethod
    def read(cls, path: Path | None) -> "Judged | None":
        """The numbers of a file; None without one."""
        arrays = read_arrays(path, _ARRAYS)
        if arrays is None:
            return None
        words = [str(word).split("|", 3) for word in arrays.pop("forms")]
        forms = tuple(Form(given, float(share), name, int(draw)) for given, share, draw, name in words)
        return cls(forms, **arrays)


@dataclass(frozen=True, eq=False)
class _Judge:
    """Evaluates fitted models on the parts of a log."""

    parts: Parts
    given: str
    scorers: Mapping[str, Scorer]
    seed: int
    threads: int | None
    trained: bool  # whether models are trained to fit gamma

    def plain(self) -> Iterator[tuple[Form, Report, str]]:
        split = Split(self.parts.train, self.parts.test)
        for run in PLAIN[self.given]:
            if run is not TRAINED or self.trained:
                yield from self._forms(run, split)
        yield from self._forms(AUTO, split)
        if self.given == LABELLED and self.parts.log.chance is not None:
            yield from self._forms(CHANCE, Split(self.parts.train, self.parts.test_with_chance))
        if self.given == LABELLED and self.parts.log.features is not None:
            yield from self._forms(WITH_FEATURES[False], split)

    def sliced(self, drawn: Interactions, place: Place) -> Iterator[tuple[Form, Report, str]]:
        split = Split(self.parts.train, self.parts.test, slice=drawn)
        yield from self._forms(SLICED[self.given], split, place)
        if self.given == LABELLED and self.parts.log.features is not None:
            yield from self._forms(WITH_FEATURES[True], split, place)
        yield from self._forms(ALONE, exposed_split(self.parts.train, drawn, population="unseen"), place)

    def truth(self, relevant: Interactions, places: Iterable[Place]) -> Iterator[tuple[Form, Report, str]]:
        report = self._evaluate(Split(self.parts.train, relevant), "popularity", [NAIVE])
        for share, draw in places:
            yield Form(self.given, share, TRUTH, draw), report, NAIVE

    def _forms(self, run: Run, split: Split, place: Place = NO_SLICE) -> Iterator[tuple[Form, Report, str]]:
        report = self._evaluate(split, run.propensity, list(run.names))
        share, draw = place
        for word, name in run.names.items():
            # auto has the name of the estimator that it became
            chosen = word if report.chosen is None else report.chosen.estimator
            yield Form(self.given, share, name, draw), report, chosen

    def _evaluate(self, split: Split, propensity: str | None, estimators: Sequence[str]) -> Report:
        return evaluate(
            self.scorers,
            split,
            metrics=METRICS,
            estimators=estimators,
            propensity=self._propensity(propensity),
            positive=None if split.exposed else "rating>=1",
            seed=self.seed,
            threads=self.threads,
        )

    def _propensity(self, word: str | None) -> str | Exposure | None:
        if word != "features":
            return word
        assert self.parts.log.features is not None
        users, items = self.parts.log.features
        return Exposure(users=users, items=items)


def judge(
    log: Log,
    shares: Sequence[float],
    seed: Sequence[int],
    *,
    draws: int = 1,
    threads: int | None = None,
    trained: bool = True,
) -> Judged:
    """Split a log, train all models once, and estimate in all forms, with slices of these shares.

    `seed` begins all seeds of random draws, so that equal logs with other seeds are split in other ways. `draws` is the
    number of slices of each share. Without `trained`, the form whose gamma is fitted by further models is left out.
    """
    rows: list[tuple[Form, Report, str]] = []
    slices = {
        (share, draw): log.sample(share, np.random.default_rng([*seed, 2, round(1e6 * share), draw]))
        for share in shares
        for draw in range(draws)
    }
    scorers = fit_models(log.parts(np.random.default_rng([*seed, 1])), seed)
    for given in (LABELLED, POSITIVE):
        parts = log.parts(np.random.default_rng([*seed, 1]), positives=given == POSITIVE)
        each = _Judge(parts, given, scorers, seed[-1], threads, trained)
        rows += each.truth(parts.truth(), (NO_SLICE, *slices) if log.known is None else (NO_SLICE,))
        with shared_exposure():
            rows += each.plain()
            for place, drawn in slices.items():
                rows += each.sliced(parts.slice_of(drawn), place)
        if log.known is not None:
            for place, drawn in slices.items():
                rows += each.truth(parts.truth(drawn), (place,))
    return _joined(rows)


def fit_models(parts: Parts, seed: Sequence[int]) -> dict[str, MatrixScorer]:
    """All models, trained on the positives of train; their scores are kept, because every slice needs them again."""
    train = parts.train.take(np.asarray(parts.train.values) > 0)
    fitted = {name: Model.from_word(word).fit(train, rng=np.random.default_rng(seed)) for name, word in MODELS.items()}
    return {name: _kept(scorer) for name, scorer in fitted.items()}


def _kept(scorer: Any) -> MatrixScorer:
    users = np.arange(len(scorer.user_ids))
    blocks = [scorer.score(users[start : start + _BLOCK]) for start in range(0, len(users), _BLOCK)]
    return MatrixScorer(np.concatenate(blocks), scorer.user_ids, scorer.item_ids)


def _joined(rows: Sequence[tuple[Form, Report, str]]) -> Judged:
    forms = tuple(form for form, _, _ in rows)
    numbers = [_numbers(report, word) for _, report, word in rows]
    values, low, high, signs = (np.array(part) for part in zip(*numbers, strict=True))
    return Judged(forms, values, low, high, signs)


def _numbers(report: Report, estimator: str) -> tuple[Floats, Floats, Floats, Floats]:
    """Values, low and high ends by model and metric, and significant signs by metric and pair."""
    cells = {(row.model, row.metric): row for row in report.estimates if row.estimator == estimator}
    table = np.array(
        [
            [[getattr(cells[name, metric], end) for metric in METRICS] for name in MODELS]
            for end in ("value", "low", "high")
        ],
        dtype=float,
    )
    pairs = {(row.metric, row.a, row.b): row for row in report.comparisons if row.estimator == estimator}
    signs = np.zeros((len(METRICS), len(MODELS) * (len(MODELS) - 1) // 2))
    for k, metric in enumerate(METRICS):
        for place, (a, b) in enumerate(combinations(MODELS, 2)):
            row = pairs[metric, a, b]
            if row.p_value_holm is not None and row.p_value_holm < LEVEL and row.difference is not None:
                signs[k, place] = np.sign(row.difference)
    return table[0], table[1], table[2], signs
