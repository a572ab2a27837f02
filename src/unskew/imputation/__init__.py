"""Imputation: the chance that a pair is relevant, learnt from labels, for estimators that sum over all candidates."""

from unskew.imputation.imputation import FittedImputation, Imputation, LabelledRows
from unskew.imputation.labels import FittedLabels, Labels
from unskew.imputation.scores import Scores, TableOfChances
from unskew.imputation.slice_fit import FromSlice, PairColumns, SliceFit, fit_to_slice

__all__ = [
    "FittedImputation",
    "FittedLabels",
    "FromSlice",
    "Imputation",
    "LabelledRows",
    "Labels",
    "PairColumns",
    "Scores",
    "SliceFit",
    "TableOfChances",
    "fit_to_slice",
]
