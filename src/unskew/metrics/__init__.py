"""The ranking metrics by word, such as ``ndcg(discount=lenskit)@50``, each with its exact definition."""

from unskew.metrics.auc import ATOP, AUC, AUCOfNegatives
from unskew.metrics.average_precision import MAP
from unskew.metrics.catalogue import MetricEntry, list_metrics, parse_metric
from unskew.metrics.dcg import ADG, DCG, NDCG
from unskew.metrics.hits import Hit, Precision, Recall, RecallOfMin
from unskew.metrics.lists import UserLists
from unskew.metrics.metric import AtK, ListMetric, Metric, MetricWord
from unskew.metrics.reciprocal_rank import MRR

__all__ = [
    "ADG",
    "ATOP",
    "AUC",
    "DCG",
    "MAP",
    "MRR",
    "NDCG",
    "AUCOfNegatives",
    "AtK",
    "Hit",
    "ListMetric",
    "Metric",
    "MetricEntry",
    "MetricWord",
    "Precision",
    "Recall",
    "RecallOfMin",
    "UserLists",
    "list_metrics",
    "parse_metric",
]
