"""How wrong an evaluation can be: trials on simulated logs whose truth is known."""

from unskew.evaluation.error.corrections import CORRECTIONS, Correction
from unskew.evaluation.error.judged import Judged, Panel, judged_rows, split_panel
from unskew.evaluation.error.recommenders import (
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
from unskew.evaluation.error.runs import Trials, run_trials
from unskew.evaluation.error.summary import (
    CellSummary,
    PairSummary,
    Summary,
    WrongWinner,
    smallest_detectable,
    wrong_winner,
)
from unskew.evaluation.error.trial import METRICS, PAPER_METRICS, RECOMMENDERS, Design, Trial, judge, run_trial

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
