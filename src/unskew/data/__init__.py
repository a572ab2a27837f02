"""Interactions, splits and the readers of public data sets."""

from unskew.data.densify import Densified, Size, densify
from unskew.data.interactions import Interactions
from unskew.data.split import Candidates, Split
from unskew.data.splitters import (
    count_train_only,
    split_fractions,
    split_leave_one_out,
    split_per_user,
    split_temporal,
    test_propensity,
)
from unskew.data.vocabulary import Vocabulary

__all__ = [
    "Candidates",
    "Densified",
    "Interactions",
    "Size",
    "Split",
    "Vocabulary",
    "count_train_only",
    "densify",
    "split_fractions",
    "split_leave_one_out",
    "split_per_user",
    "split_temporal",
    "test_propensity",
]
