"""Evaluations of three models with a slice of random rows, shared by tests."""

from functools import cache

import numpy as np
from selected_logs import SelectedLog

from unskew import Report, Split, evaluate
from unskew.arrays import Floats

WORDS = ("recall@5", "adg", "auc")
ROWS = 200


@cache
def log() -> SelectedLog:
    return SelectedLog.of()


def run(split: Split, **options: object) -> Report:
    given = {"metrics": [*WORDS], "estimators": ["blend"], "positive": "rating>=1", **options}
    return evaluate(log().models, split, **given)  # type: ignore[arg-type]


@cache
def report() -> Report:
    return run(log().split(slice_rows=ROWS), metrics=[*WORDS, "dcg@5", "ndcg@5"])


def values(of: Report, metric: str, estimator: str = "blend") -> Floats:
    rows = {e.model: e.value for e in of.estimates if (e.metric, e.estimator) == (metric, estimator)}
    return np.array([rows[model] for model in log().models], dtype=float)
