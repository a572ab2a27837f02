"""Worlds whose truth is known, one file each."""

from unskew.simulators.marketplace import Marketplace
from unskew.simulators.movie_lovers import MovieLovers
from unskew.simulators.prediction_matrices import prediction_matrices
from unskew.simulators.ratings import MARGINALS, RatingWorld, draw_observed, observation, relabel
from unskew.simulators.world import World, WorldModel, logistic, solve_offset

__all__ = [
    "MARGINALS",
    "Marketplace",
    "MovieLovers",
    "RatingWorld",
    "World",
    "WorldModel",
    "draw_observed",
    "logistic",
    "observation",
    "prediction_matrices",
    "relabel",
    "solve_offset",
]
