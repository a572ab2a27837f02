"""Judging models: evaluate(), Report and the page."""

from unskew.evaluation.audit_result import Audit
from unskew.evaluation.auditor import audit
from unskew.evaluation.changes import Change, Changes
from unskew.evaluation.comparer import compare
from unskew.evaluation.evaluator import evaluate
from unskew.evaluation.presets import PRESETS, get_preset
from unskew.evaluation.report import Report
from unskew.evaluation.settings import Settings, resolve
from unskew.evaluation.sweep import Sweep
from unskew.evaluation.validation import Chosen, choose

__all__ = [
    "PRESETS",
    "Audit",
    "Change",
    "Changes",
    "Chosen",
    "Report",
    "Settings",
    "Sweep",
    "audit",
    "choose",
    "compare",
    "evaluate",
    "get_preset",
    "resolve",
]
