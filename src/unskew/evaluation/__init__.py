"""Judging models: evaluate(), Report and the page."""

from unskew.evaluation.audit_result import Audit
from unskew.evaluation.auditor import audit
from unskew.evaluation.evaluator import evaluate
from unskew.evaluation.report import Report
from unskew.evaluation.settings import Settings, resolve
from unskew.evaluation.sweep import Sweep

__all__ = ["Audit", "Report", "Settings", "Sweep", "audit", "evaluate", "resolve"]
