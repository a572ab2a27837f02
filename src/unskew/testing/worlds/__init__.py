"""Small worlds with known properties, by hand or from a seed, one file each."""

from unskew.testing.worlds.estimator_rows import at_ranks, exposed_rows, observed_rows, pair_rows
from unskew.testing.worlds.exposed_worlds import exposed_world, judge_exposed
from unskew.testing.worlds.head_and_tail import judge_models, make_scorer, make_split
from unskew.testing.worlds.integer_worlds import IntegerWorld
from unskew.testing.worlds.known_errors import judge_mixed, judge_ratings, rated_split
from unskew.testing.worlds.long_tail import (
    flat_log,
    log_of,
    real_factors,
    skewed_log,
    skewed_rows,
    skewed_split,
    whole_scores,
)
from unskew.testing.worlds.observed_worlds import CovariateWorld, covariate_world
from unskew.testing.worlds.rated_worlds import RatedWorld, rated_world
from unskew.testing.worlds.relevant_items import Relevant
from unskew.testing.worlds.scored_users import ScoredUser, placed_user, user_values
from unskew.testing.worlds.true_worlds import draw_world, make_world

__all__ = [
    "CovariateWorld",
    "IntegerWorld",
    "RatedWorld",
    "Relevant",
    "ScoredUser",
    "at_ranks",
    "covariate_world",
    "draw_world",
    "exposed_rows",
    "exposed_world",
    "flat_log",
    "judge_exposed",
    "judge_mixed",
    "judge_models",
    "judge_ratings",
    "log_of",
    "make_scorer",
    "make_split",
    "make_world",
    "observed_rows",
    "pair_rows",
    "placed_user",
    "rated_split",
    "rated_world",
    "real_factors",
    "skewed_log",
    "skewed_rows",
    "skewed_split",
    "user_values",
    "whole_scores",
]
