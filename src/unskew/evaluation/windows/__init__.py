"""One report over several test windows: `evaluate_windows` and `WindowsReport`."""

from unskew.evaluation.windows.evaluate_windows import evaluate_windows
from unskew.evaluation.windows.result import WindowComparison, WindowEstimate, WindowOrder, WindowsReport

__all__ = ["WindowComparison", "WindowEstimate", "WindowOrder", "WindowsReport", "evaluate_windows"]
