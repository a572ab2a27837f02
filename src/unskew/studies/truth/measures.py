"""Measures of estimates next to the truth: error, order, winner, bias, coverage, width and wrong signs, per log."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from unskew.arrays import Floats
from unskew.studies.framework.stats import Mean, kendall, pair_signs
from unskew.studies.framework.trials import Row, Trials
from unskew.studies.truth.forms import Form
from unskew.studies.truth.judge import TRUTH, Judged

DIMS = ("data", "form", "measure")
ERROR, TAU, WINNER, BIAS, COVERAGE, WIDTH = "error", "tau", "winner", "bias", "coverage", "width"
NAIVE_TAU = "naive tau"
WRONG, SIGNIFICANT, CLEAR = "wrong pairs", "significant pairs", "clear pairs"
WRONG_CLEAR, WITH_ERROR = "wrong clear pairs", "coverage, truth's error"
ALONE = "ure"


def measure(logs: Iterable[tuple[str, Judged]]) -> Trials:
    """All measures of all forms, by data set, with one value per log, the mean over its slices.

    ``error`` is the mean absolute error over models and metrics, as a share of that of the naive average. ``tau`` is
    Kendall's, ``winner`` the share of metrics whose best model is the truly best one, and ``bias`` the mean over models
    as a share of the mean truth; all are means over metrics. ``coverage`` is the share of intervals that hold the
    truth, ``width`` their mean width as a share of that of the slice alone. ``naive tau`` is that of the naive average
    with the truth of the form. The others count pairs of models.
    """
    return Trials.collect(DIMS, "log", (row for data, judged in logs for row in _rows(data, judged)))


def wrong_share(trials: Trials, data: str, form: Form, *, clear: bool = False) -> float | None:
    """The share of significant differences whose sign is wrong, over all logs; None where none is significant.

    With `clear`, only pairs are counted whose true difference is significant itself.
    """
    names = (WRONG_CLEAR, CLEAR) if clear else (WRONG, SIGNIFICANT)
    wrong, counted = (float(trials.values(data=data, form=form, measure=name).sum()) for name in names)
    return wrong / counted if counted else None


def mean_of(trials: Trials, data: str, form: Form, name: str) -> Mean:
    """The mean of a measure over logs."""
    return trials.mean(data=data, form=form, measure=name)


def right_winner(values: Floats, true: Floats) -> Floats:
    """Whether the best model by an estimate is the truly best one, for each metric; among n tied ones, 1/n."""
    tops, best = values == values.max(axis=0), true == true.max(axis=0)
    return np.asarray((tops & best).sum(axis=0) / tops.sum(axis=0))


def _rows(data: str, judged: Judged) -> Iterator[Row]:
    """Measures by form; of several slices of one share, their means."""
    by_form: dict[Form, list[dict[str, float]]] = {}
    for place, form in enumerate(judged.forms):
        if form.name != TRUTH:
            by_form.setdefault(form.any_draw, []).append(_numbers(judged, place, form))
    for form, draws in by_form.items():
        for name in draws[0]:
            yield (data, form, name), float(np.mean([numbers[name] for numbers in draws]))


def _numbers(judged: Judged, place: int, form: Form) -> dict[str, float]:
    truth = judged.place(replace(form, name=TRUTH))
    naive = judged.place(Form(form.given, 0.0, "naive"))
    values, true = judged.values[place], judged.values[truth]
    base = np.abs(judged.values[naive] - true).mean()
    low, high = judged.low[place], judged.high[place]
    # two independent errors add up in squares
    half = np.hypot(high - low, judged.high[truth] - judged.low[truth]) / 2
    numbers = {
        ERROR: np.abs(values - true).mean() / base,
        TAU: _tau(values, true),
        NAIVE_TAU: _tau(judged.values[naive], true),
        WINNER: float(np.mean(right_winner(values, true))),
        BIAS: float(np.mean((values - true).mean(axis=0) / true.mean(axis=0))),
        COVERAGE: float(np.mean((low <= true) & (true <= high))),
        WITH_ERROR: float(np.mean(np.abs(values - true) <= half)),
        **_signs(judged, place, truth),
    }
    if form.share:
        alone = judged.place(replace(form, name=ALONE))
        numbers[WIDTH] = _width(high - low, judged.high[alone] - judged.low[alone])
    return numbers


def _tau(values: Floats, true: Floats) -> float:
    """Kendall's tau in the mean over metrics; 0 where all models tie, which is not an order."""
    return float(np.mean(np.nan_to_num(np.diag(kendall(values.T, true.T)))))


def _width(widths: Floats, alone: Floats) -> float:
    """The ratio of mean widths over models, in the mean over metrics for which the slice alone has any hit."""
    known = alone.mean(axis=0) > 0
    return float(np.mean(widths.mean(axis=0)[known] / alone.mean(axis=0)[known])) if known.any() else np.nan


def _signs(judged: Judged, place: int, truth: int) -> dict[str, float]:
    """Numbers of significant pairs and of those with a wrong sign, over all metrics."""
    signs, clear = judged.signs[place], judged.signs[truth] != 0
    wrong = signs * pair_signs(judged.values[truth].T) < 0
    return {
        SIGNIFICANT: float(np.count_nonzero(signs)),
        WRONG: float(wrong.sum()),
        CLEAR: float(np.count_nonzero(signs[clear])),
        WRONG_CLEAR: float(wrong[clear].sum()),
    }
