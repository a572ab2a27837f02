"""The value and the weight of each user in every estimate, as a frame."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from unskew.errors import ConfigError, did_you_mean
from unskew.estimators import Imputing, Terms
from unskew.evaluation.estimating.cell import Cell

if TYPE_CHECKING:
    import polars as pl

    from unskew.evaluation.report import Report

IN_PARTS = "the data were read part by part, and only sums over users were kept; evaluate files in memory"


def user_values(report: "Report", metric: str | None = None, estimator: str | None = None) -> "pl.DataFrame":
    r"""The value :math:`v_u` and the weight :math:`b_u` of each user; an estimate is :math:`\sum b v / \sum b`.

    Parameters
    ----------
    report : Report
    metric, estimator : str, optional
        Words as the report prints them; all by default.

    Raises
    ------
    ConfigError
        If an estimate is not a weighted mean over users of the log.
    """
    import polars as pl

    if report.merged is not None:
        raise ConfigError(f"there are no values of single users: {IN_PARTS}")
    ids = report.inputs.split.user_vocabulary.ids
    frames = []
    for cell in _chosen(report, metric, estimator):
        for model, terms in cell.terms.items():
            codes = _codes(report, cell, terms)
            value = np.divide(
                terms.numerator, terms.denominator, out=np.full(len(codes), np.nan), where=terms.denominator != 0
            )
            columns: dict[str, Any] = {
                "user": _named(ids, codes),
                "model": pl.repeat(model, len(codes), dtype=pl.String, eager=True),
                "metric": pl.repeat(str(cell.metric), len(codes), dtype=pl.String, eager=True),
                "estimator": pl.repeat(str(cell.estimator), len(codes), dtype=pl.String, eager=True),
                "value": pl.Series(value).fill_nan(None),
                "weight": np.asarray(terms.denominator, dtype=float),
            }
            frames.append(pl.DataFrame(columns))
    return pl.concat(frames)


def _chosen(report: "Report", metric: str | None, estimator: str | None) -> Iterator[Cell]:
    """Yield the cells that were asked for; refuse those without values of users."""
    pairs = [(row.metric, row.estimator) for row in report.estimates]
    if not any(metric in {None, pair[0]} and estimator in {None, pair[1]} for pair in pairs):
        asked = " ".join(word for word in (metric, estimator) if word)
        known = dict.fromkeys(word for pair in pairs for word in (*pair, " ".join(pair)))
        raise ConfigError(f"no estimate {asked!r}{did_you_mean(asked, known)}")
    for cell in report.estimated.cells:
        words = str(cell.metric), str(cell.estimator)
        if (metric is None or words[0] == metric) and (estimator is None or words[1] == estimator):
            if why := _why_not(cell):
                others = [str(each.estimator) for each in _same_metric(report, cell) if not _why_not(each)]
                hint = f"name another, as in estimator={others[0]!r}" if others else "add aoa to the estimators"
                raise ConfigError(f"{words[0]} by {words[1]} has no value of each user: {why}; {hint}")
            yield cell


def _same_metric(report: "Report", cell: Cell) -> list[Cell]:
    return [each for each in report.estimated.cells if str(each.metric) == str(cell.metric)]


def _why_not(cell: Cell) -> str:
    """Why an estimate is not a weighted mean over users; empty if it is one."""
    estimator, terms = cell.estimator, cell.terms
    if isinstance(estimator, Imputing) or any(each.units != "users" for each in terms.values()):
        return "it imputes what was not observed, for all users together"
    if getattr(estimator, "per", "") == "item":
        return "it is a mean over items"
    if any(np.any((each.denominator == 0) & (each.numerator != 0)) for each in terms.values()):
        return "users without weight take part in it, through its reduction of variance"
    return ""


def _codes(report: "Report", cell: Cell, terms: Terms) -> npt.NDArray[Any]:
    """The code of each user; -1 for users who are in no file except in that of relevant counts."""
    who = terms.who
    assert who is not None
    more = len(terms.numerator) - len(who)
    if not more:
        return who
    sample = report.samples.of(cell.metric, cell.estimator)
    rest = sample.population(mean=cell.metric.kind == "mean")
    rest[who] = False
    silent = np.flatnonzero(rest)
    return np.concatenate([who, silent, np.full(more - len(silent), -1)])


def _named(ids: npt.NDArray[Any], codes: npt.NDArray[Any]) -> "pl.Series":
    import polars as pl

    named = pl.Series(ids.tolist(), dtype=pl.Int64 if ids.dtype.kind == "i" else pl.String)
    return named.gather(pl.Series(np.where(codes < 0, 0, codes))).set(pl.Series(codes < 0), None)
