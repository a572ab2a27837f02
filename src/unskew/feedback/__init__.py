"""Feedback loops: a recommender shows lists, users consume from them, and the log grows."""

from unskew.feedback.behaviour import Behaviour, play_round
from unskew.feedback.loop import METRICS, Feedback, simulate_feedback

__all__ = ["METRICS", "Behaviour", "Feedback", "play_round", "simulate_feedback"]
