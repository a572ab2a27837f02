"""What each family owes an evaluation, as checks that run on any piece of it, one file each."""

from unskew.testing.contracts.estimator_contract import check_estimator
from unskew.testing.contracts.metric_contract import check_metric
from unskew.testing.contracts.model_contract import check_model
from unskew.testing.contracts.propensity_contract import check_propensity
from unskew.testing.contracts.scorer_contract import check_scorer

__all__ = ["check_estimator", "check_metric", "check_model", "check_propensity", "check_scorer"]
