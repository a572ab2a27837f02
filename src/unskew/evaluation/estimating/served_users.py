"""Estimates of each model on the users whom it knows, and comparisons on the users whom two models know."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from itertools import combinations

import numpy as np

from unskew.arrays import Bools
from unskew.errors import DataError
from unskew.estimators import Comparison, Estimate, holm
from unskew.evaluation.collecting.sample import Evidence
from unskew.evaluation.estimating.cell import Cell
from unskew.evaluation.estimating.estimate import Estimation
from unskew.metrics import AnyMetric
from unskew.ranking import Contest


def restrict_to_served(estimation: Estimation, contest: Contest | None) -> dict[str, Estimation]:
    """The estimation of each model as if it were alone, on the users whom it knows.

    Parameters
    ----------
    estimation : Estimation
        Over all users known to any model.
    contest : Contest or None
        Says whom each model knows beyond the judged users; None when all ranks were made before.
    """
    names = dict.fromkeys([*estimation.evidence.ranks, *_predicting(estimation)])
    return {name: _restricted(estimation, _known(estimation.evidence, contest, name), (name,)) for name in names}


def estimate_served(
    estimation: Estimation, served: Mapping[str, Estimation], contest: Contest | None
) -> tuple[list[Cell], list[Estimate], list[Comparison]]:
    """Estimate each model on the users whom it knows, and compare two on the users of both.

    Parameters
    ----------
    estimation : Estimation
        Over all users known to any model.
    served : mapping of Estimation
        Of each model alone.
    contest : Contest or None

    Returns
    -------
    cells, estimates, comparisons
        The cells are those of the single models, one after the other. Holm's correction is over the pairs of a metric
        and an estimator, as in every run.
    """
    names = list(served)
    known = {name: _known(estimation.evidence, contest, name) for name in names}
    cells: list[Cell] = []
    found: dict[tuple[str, str, str], Estimate] = {}
    for name, alone in served.items():
        own, estimates, _ = alone.run()
        cells += own
        found |= {(row.metric, row.estimator, name): row for row in estimates}
    gaps: dict[tuple[str, str], list[Comparison]] = {}
    for a, b in combinations(names, 2):
        both = _restricted(estimation, known[a] & known[b], (a, b))
        for row in both.run()[2] if len(both.evidence.users) else _undefined(both, a, b):
            gaps.setdefault((row.metric, row.estimator), []).append(row)
    words = [(str(metric), str(estimator)) for metric, estimator in estimation.settings.pairs]
    return (
        cells,
        [found[*word, name] for word in words for name in names if (*word, name) in found],
        [row for word in words for row in _adjusted(gaps.get(word, []))],
    )


def _predicting(estimation: Estimation) -> Collection[str]:
    return () if estimation.rated is None else estimation.rated.predictions


def _known(evidence: Evidence, contest: Contest | None, name: str) -> Bools:
    """Whom a model knows, by code."""
    if contest is not None and name in contest.bindings:
        return np.asarray(contest.bindings[name].rows >= 0)
    known = np.ones(len(evidence.known_users), dtype=bool)
    if name in evidence.ranks:
        known[evidence.users] = evidence.served(name)
    return known


def _restricted(estimation: Estimation, known: Bools, names: tuple[str, ...]) -> Estimation:
    rated = None if estimation.rated is None else estimation.rated.of_users(known, names)
    evidence = estimation.evidence.of_users(known, names)
    own = tuple(pair for pair in estimation.settings.pairs if _judges(pair[0], evidence, rated, names))
    if len(names) == 1 and not len(evidence.users):
        raise DataError(f"model {names[0]!r} knows no judged user; are its user ids those of the test?")
    return replace(estimation, evidence=evidence, rated=rated, settings=replace(estimation.settings, pairs=own))


def _judges(metric: AnyMetric, evidence: Evidence, rated: Evidence | None, names: tuple[str, ...]) -> bool:
    """Whether all of these models can be judged by a metric."""
    rows = rated if metric.kind in {"loss", "graded"} else evidence
    return rows is not None and all(name in rows.judged_by(metric) for name in names)


def _undefined(estimation: Estimation, a: str, b: str) -> list[Comparison]:
    """Comparisons of two models that share no user."""
    return [
        Comparison(str(metric), str(estimator), a, b, None, None, None, None, None)
        for metric, estimator in estimation.settings.pairs
    ]


def _adjusted(rows: list[Comparison]) -> list[Comparison]:
    p_values = holm({(row.a, row.b): row.p_value for row in rows})
    return [replace(row, p_value_holm=p_values[row.a, row.b]) for row in rows]
