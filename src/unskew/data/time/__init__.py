"""Splits at moments: units of time, rolling windows, and folders of them."""

from unskew.data.time.clock import Clock
from unskew.data.time.leakage import Leakage, find_leakage
from unskew.data.time.splits import parse_rolling, rolling, split_by_time
from unskew.data.time.windows import read_windows, window_folders, window_names

__all__ = [
    "Clock",
    "Leakage",
    "find_leakage",
    "parse_rolling",
    "read_windows",
    "rolling",
    "split_by_time",
    "window_folders",
    "window_names",
]
