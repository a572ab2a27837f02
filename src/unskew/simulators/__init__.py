"""Simulated worlds whose truth is known."""

from unskew.simulators.ibp import Ibp
from unskew.simulators.lda import Lda
from unskew.simulators.marketplace import Marketplace
from unskew.simulators.preference_world import PreferenceWorld
from unskew.simulators.preferences import Preferences
from unskew.simulators.profile_sizes import BetaBinomialSizes, ParetoSizes, ProfileSizes
from unskew.simulators.ratings.movie_lovers import MovieLovers
from unskew.simulators.ratings.prediction_matrices import prediction_matrices
from unskew.simulators.ratings.rating_world import MARGINALS, RatingWorld, draw_observed, observation, relabel
from unskew.simulators.selection_world import SELECTION_WORLDS, SelectionDraw, SelectionWorld, draw_outside
from unskew.simulators.uniform_likes import UniformLikes
from unskew.simulators.world import World, WorldModel, logistic, solve_offset

__all__ = [
    "MARGINALS",
    "SELECTION_WORLDS",
    "BetaBinomialSizes",
    "Ibp",
    "Lda",
    "Marketplace",
    "MovieLovers",
    "ParetoSizes",
    "PreferenceWorld",
    "Preferences",
    "ProfileSizes",
    "RatingWorld",
    "SelectionDraw",
    "SelectionWorld",
    "UniformLikes",
    "World",
    "WorldModel",
    "draw_observed",
    "draw_outside",
    "logistic",
    "observation",
    "prediction_matrices",
    "relabel",
    "solve_offset",
]
