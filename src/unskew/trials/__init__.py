"""How wrong an evaluation can be: trials on simulated logs whose truth is known."""

from unskew.trials.methods import CORRECTIONS, Correction
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
from unskew.trials.rows import Judged, Panel, judged_rows, split_panel
from unskew.trials.runs import Trials, run_trials
from unskew.trials.summary import (
    CellSummary,
    PairSummary,
    Summary,
    WrongWinner,
    smallest_detectable,
    wrong_winner,
)
from unskew.trials.trial import METRICS, PAPER_METRICS, RECOMMENDERS, Design, Trial, judge, run_trial

__all__ = [
    "CORRECTIONS",
    "METRICS",
    "PAPER_METRICS",
    "RECOMMENDERS",
    "CellSummary",
    "Correction",
    "Design",
    "Judged",
    "Learnt",
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
