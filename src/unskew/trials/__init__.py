"""Trials: evaluations on simulated logs whose truth is known, to measure how wrong estimates are."""

from unskew.trials.design import METRICS, PAPER_METRICS, RECOMMENDERS, Design
from unskew.trials.methods import METHODS, Method
from unskew.trials.panel import Panel, split_panel
from unskew.trials.recommenders import (
    Learnt,
    Oracle,
    Popular,
    Random,
    Recommender,
    RecommenderLike,
    Recommenders,
    parse_recommender,
    resolve_recommenders,
)
from unskew.trials.rows import JudgedRows, judged_rows
from unskew.trials.runs import Trials, run_trials
from unskew.trials.summary import (
    CellSummary,
    PairSummary,
    Summary,
    WrongWinner,
    smallest_detectable,
    wrong_winner,
)
from unskew.trials.trial import Trial, judge, run_trial

__all__ = [
    "METHODS",
    "METRICS",
    "PAPER_METRICS",
    "RECOMMENDERS",
    "CellSummary",
    "Design",
    "JudgedRows",
    "Learnt",
    "Method",
    "Oracle",
    "PairSummary",
    "Panel",
    "Popular",
    "Random",
    "Recommender",
    "RecommenderLike",
    "Recommenders",
    "Summary",
    "Trial",
    "Trials",
    "WrongWinner",
    "judge",
    "judged_rows",
    "parse_recommender",
    "resolve_recommenders",
    "run_trial",
    "run_trials",
    "smallest_detectable",
    "split_panel",
    "wrong_winner",
]
