"""Estimates by group of users, items or test rows: `slices` and its result."""

from unskew.evaluation.slicing.groups import Grouping, group_by_frame, group_by_popularity, group_by_time
from unskew.evaluation.slicing.slices import GroupComparison, GroupEstimate, Slices, slices

__all__ = [
    "GroupComparison",
    "GroupEstimate",
    "Grouping",
    "Slices",
    "group_by_frame",
    "group_by_popularity",
    "group_by_time",
    "slices",
]
