"""A feedback loop: what a recommender shows becomes the next log, and the log judges the next recommender."""

from unskew.feedback.behaviour import Behaviour, play_round
from unskew.feedback.loop import METRICS, Feedback, simulate_feedback

__all__ = ["METRICS", "Behaviour", "Feedback", "play_round", "simulate_feedback"]
