"""The metrics by word, such as ``ndcg(discount=lenskit)@50``, each with its exact definition."""

from unskew.metrics.auc import ATOP, AUC, AUCOfNegatives
from unskew.metrics.average_precision import MAP
from unskew.metrics.content import AveragePopularity, ContentMetric, Coverage, Gini, Head, Novelty, TopItems
from unskew.metrics.dcg import ADG, DCG, NDCG
from unskew.metrics.exact.size_shift import Move, expected_average_precision, expected_move, ndcg_shrinkage
from unskew.metrics.exact.user_lists import UserLists
from unskew.metrics.graded import CG, DCGOfValues, GradedMetric, PrecisionOfValues
from unskew.metrics.hits import Hit, Precision, Recall, RecallOfMin
from unskew.metrics.losses import MAE, MSE, RMSE, Accuracy, RatingLoss
from unskew.metrics.metric import AtK, ListMetric, Metric, MetricWord
from unskew.metrics.propensity_scored import PSNDCG, PSP, PropensityScored, scored_of
from unskew.metrics.reciprocal_rank import MRR
from unskew.metrics.registry import AnyMetric, MetricEntry, list_metrics, parse_metric

__all__ = [
    "ADG",
    "ATOP",
    "AUC",
    "CG",
    "DCG",
    "MAE",
    "MAP",
    "MRR",
    "MSE",
    "NDCG",
    "PSNDCG",
    "PSP",
    "RMSE",
    "AUCOfNegatives",
    "Accuracy",
    "AnyMetric",
    "AtK",
    "AveragePopularity",
    "ContentMetric",
    "Coverage",
    "DCGOfValues",
    "Gini",
    "GradedMetric",
    "Head",
    "Hit",
    "ListMetric",
    "Metric",
    "MetricEntry",
    "MetricWord",
    "Move",
    "Novelty",
    "Precision",
    "PrecisionOfValues",
    "PropensityScored",
    "RatingLoss",
    "Recall",
    "RecallOfMin",
    "TopItems",
    "UserLists",
    "expected_average_precision",
    "expected_move",
    "list_metrics",
    "ndcg_shrinkage",
    "parse_metric",
    "scored_of",
]
