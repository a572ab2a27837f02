from types import SimpleNamespace
from typing import Any

from unskew.audit.error.own_models import Seen
from unskew.estimators import Comparison


def test_models_that_are_level_differ_by_zero_without_a_sign() -> None:
    """The better model by the first metric comes first; by another the two are level, and 0 has no minus."""
    values = {("worse", "auc"): 0.6, ("better", "auc"): 0.7, ("worse", "recall@1"): 0.0, ("better", "recall@1"): 0.0}
    rows = [SimpleNamespace(model=a, metric=b, estimator="aoa", value=value) for (a, b), value in values.items()]
    level = Comparison("recall@1", "aoa", "worse", "better", 0.0, 0.0, 0.0, 1.0, 1.0)
    nothing: Any = None
    evidence: Any = SimpleNamespace(ranks={"worse": None, "better": None})
    settings: Any = SimpleNamespace(metrics=["auc"])
    seen = Seen({}, {}, {}, evidence, nothing, nothing, settings, 5)
    seen.__dict__["_estimates"] = (rows, [level])
    (found,) = seen.observed()
    row = found.comparison
    assert (row.a, row.b) == ("better", "worse")
    assert [str(number) for number in (row.difference, row.low, row.high)] == ["0.0", "0.0", "0.0"]
