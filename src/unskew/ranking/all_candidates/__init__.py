"""Sums over all candidates of each user, held out or not, weighted by the chance that each is relevant."""

from unskew.ranking.all_candidates.candidate_moments import Moments, candidate_moments
from unskew.ranking.all_candidates.candidate_sums import CandidateSums, sum_candidates, sum_models
from unskew.ranking.all_candidates.everyone import everyone

__all__ = ["CandidateSums", "Moments", "candidate_moments", "everyone", "sum_candidates", "sum_models"]
