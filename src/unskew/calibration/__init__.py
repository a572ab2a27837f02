"""Calibrate simulated worlds to a log."""

from unskew.calibration.calibrate import calibrate, check_numbers
from unskew.calibration.ensemble import EnsembleFit, Fit, calibrate_ensemble
from unskew.calibration.quick import QuickCalibration, calibrate_quickly
from unskew.calibration.result import Calibrated, Calibration, LogFacts
from unskew.calibration.search_space import KINDS, Space
from unskew.calibration.suggest import require_gp

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
