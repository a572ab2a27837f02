"""Ranking: the rank of each held-out item, computed from scores by kernels on engines."""

from unskew.ranking.all_candidates import (
    CandidateSums,
    Moments,
    candidate_moments,
    everyone,
    sum_candidates,
    sum_models,
)
from unskew.ranking.catalogue import Binding
from unskew.ranking.contest import USER_RULES, Contest, UserRule, prepare_contest
from unskew.ranking.engines import Engine, Threads, engine_of
from unskew.ranking.engines.ray import Ray
from unskew.ranking.list_scorer import ListScorer
from unskew.ranking.model_files import read_factors, read_predictions, read_scores, scores_from_frame
from unskew.ranking.predictions import Predictions, look_up, predict
from unskew.ranking.rank import default_block_size, rank
from unskew.ranking.ranks import TIE_POLICIES, Ranks, Ties
from unskew.ranking.run_files import write_run
from unskew.ranking.scorers import CallableScorer, FactorScorer, ItemItemScorer, MatrixScorer, Scorer
from unskew.ranking.top import TopCounts, TopLists, count_top, top_lists

__all__ = [
    "TIE_POLICIES",
    "USER_RULES",
    "Binding",
    "CallableScorer",
    "CandidateSums",
    "Contest",
    "Engine",
    "FactorScorer",
    "ItemItemScorer",
    "ListScorer",
    "MatrixScorer",
    "Moments",
    "Predictions",
    "Ranks",
    "Ray",
    "Scorer",
    "Threads",
    "Ties",
    "TopCounts",
    "TopLists",
    "UserRule",
    "candidate_moments",
    "count_top",
    "default_block_size",
    "engine_of",
    "everyone",
    "look_up",
    "predict",
    "prepare_contest",
    "rank",
    "read_factors",
    "read_predictions",
    "read_scores",
    "scores_from_frame",
    "sum_candidates",
    "sum_models",
    "top_lists",
    "write_run",
]
