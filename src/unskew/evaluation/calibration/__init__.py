"""Simulated worlds calibrated to a log."""

from unskew.evaluation.calibration.calibrator import calibrate, check_numbers
from unskew.evaluation.calibration.ensemble import EnsembleFit, Fit, calibrate_ensemble
from unskew.evaluation.calibration.quick import QuickCalibration, calibrate_quickly
from unskew.evaluation.calibration.result import Calibrated, Calibration, LogFacts
from unskew.evaluation.calibration.spaces import KINDS, Space
from unskew.evaluation.calibration.suggesting import require_gp

__all__ = [
    "KINDS",
    "Calibrated",
    "Calibration",
    "EnsembleFit",
    "Fit",
    "LogFacts",
    "QuickCalibration",
    "Space",
    "calibrate",
    "calibrate_ensemble",
    "calibrate_quickly",
    "check_numbers",
    "require_gp",
]
