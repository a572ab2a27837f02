"""Evaluate models on a split: `evaluate`, `compare`, `gate` and `Report`."""

from unskew.evaluation.comparing.changes import Change, Changes
from unskew.evaluation.comparing.compare import compare
from unskew.evaluation.estimating.gamma_sweep import Sweep
from unskew.evaluation.evaluate import choose, evaluate
from unskew.evaluation.fitting.selection import Chosen
from unskew.evaluation.gating import Gate, gate
from unskew.evaluation.report import Report
from unskew.evaluation.settings.presets import PRESETS, get_preset
from unskew.evaluation.settings.settings import Settings, resolve
from unskew.evaluation.slicing import Slices

__all__ = [
    "PRESETS",
    "Change",
    "Changes",
    "Chosen",
    "Gate",
    "Report",
    "Settings",
    "Slices",
    "Sweep",
    "choose",
    "compare",
    "evaluate",
    "gate",
    "get_preset",
    "resolve",
]
