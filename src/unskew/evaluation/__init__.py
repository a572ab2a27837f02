"""Judging models: evaluate(), Report and the page."""

from unskew.evaluation.evaluator import evaluate
from unskew.evaluation.report import Report
from unskew.evaluation.settings import Settings, resolve
from unskew.evaluation.sweep import Sweep

__all__ = ["Report", "Settings", "Sweep", "evaluate", "resolve"]
