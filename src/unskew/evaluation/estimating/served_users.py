"""Estimates of each model on the users it knows, and comparisons on the users whom both models know."""

from collections.abc import Mapping
from dataclasses import replace
from itertools import combinations

import numpy as np

from unskew.arrays import Bools
from unskew.errors import DataError
from unskew.estimators import Comparison, Estimate, holm
from unskew.evaluation.collecting.samples import Samples
from unskew.evaluation.estimating.cell import Cell
from unskew.evaluation.estimating.estimation import Estimation


def restrict_to_served(estimation: Estimation) -> dict[str, Estimation]:
    """The estimation of each model alone, on the users whom it knows."""
    samples = estimation.samples
    predicting = () if samples.ratings is None else samples.ratings.predictions
    names = dict.fromkeys([*samples.judged.ranks, *predicting])
    return {name: _restricted(estimation, _known(samples, name), (name,)) for name in names}


def estimate_served(
    estimation: Estimation, served: Mapping[str, Estimation]
) -> tuple[list[Cell], list[Estimate], list[Comparison]]:
    """Estimate each model on the users whom it knows, and compare two models on the users whom both know.

    The cells are those of the single models, one after the other. Holm's correction is over the pairs of a metric and
    an estimator, as in every run.
    """
    names = list(served)
    known = {name: _known(estimation.samples, name) for name in names}
    cells: list[Cell] = []
    by_key: dict[tuple[str, str, str], Estimate] = {}
    for name, alone in served.items():
        model_cells, estimates, _ = alone.run()
        cells += model_cells
        by_key |= {(row.metric, row.estimator, name): row for row in estimates}
    gaps: dict[tuple[str, str], list[Comparison]] = {}
    for a, b in combinations(names, 2):
        both = _restricted(estimation, known[a] & known[b], (a, b))
        for row in both.run()[2] if len(both.samples.judged.users) else _undefined(both, a, b):
            gaps.setdefault((row.metric, row.estimator), []).append(row)
    words = [(str(metric), str(estimator)) for metric, estimator in estimation.settings.pairs]
    return (
        cells,
        [by_key[*word, name] for word in words for name in names if (*word, name) in by_key],
        [row for word in words for row in _adjusted(gaps.get(word, []))],
    )


def _known(samples: Samples, name: str) -> Bools:
    """Which users a model knows, by code; without a contest, users who are not judged count as known."""
    sample, contest = samples.judged, samples.contest
    if contest is not None and name in contest.bindings:
        return np.asarray(contest.bindings[name].rows >= 0)
    known = np.ones(len(sample.known_users), dtype=bool)
    if name in sample.ranks:
        known[sample.users] = sample.served(name)
    return known


def _restricted(estimation: Estimation, known: Bools, names: tuple[str, ...]) -> Estimation:
    samples = estimation.samples.of_users(known, names)
    pairs = tuple(
        (metric, estimator)
        for metric, estimator in estimation.settings.pairs
        if set(names) <= set(samples.of(metric, estimator).judged_by(metric))
    )
    if len(names) == 1 and not len(samples.judged.users):
        raise DataError(f"model {names[0]!r} knows no judged user; are its user ids those of the test?")
    return replace(estimation, samples=samples, settings=replace(estimation.settings, pairs=pairs))


def _undefined(estimation: Estimation, a: str, b: str) -> list[Comparison]:
    """Comparisons of two models that share no user."""
    return [
        Comparison(str(metric), str(estimator), a, b, None, None, None, None, None)
        for metric, estimator in estimation.settings.pairs
    ]


def _adjusted(rows: list[Comparison]) -> list[Comparison]:
    p_values = holm({(row.a, row.b): row.p_value for row in rows})
    return [replace(row, p_value_holm=p_values[row.a, row.b]) for row in rows]
