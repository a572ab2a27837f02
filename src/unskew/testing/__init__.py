"""Contracts, small worlds, oracles and Hypothesis strategies, for tests of your own pieces.

``check_metric``, ``check_estimator``, ``check_propensity``, ``check_scorer`` and ``check_model`` run a piece on small
worlds and raise ``AssertionError`` with one sentence when it breaks a property that the evaluation relies on. They need
neither pytest nor Hypothesis. `unskew.testing.worlds` has the worlds, `unskew.testing.oracles` the definitions as plain
loops, and `unskew.testing.strategies` the Hypothesis strategies (``pip install unskew[testing]``).
"""

from unskew.testing.contracts import check_estimator, check_metric, check_model, check_propensity, check_scorer

__all__ = ["check_estimator", "check_metric", "check_model", "check_propensity", "check_scorer"]
