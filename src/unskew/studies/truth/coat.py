"""Table coat: ratings of coats that people chose, judged by ratings of coats that were drawn for them."""

from dataclasses import replace
from functools import partial

import numpy as np

from unskew.arrays import Bools
from unskew.data import Interactions
from unskew.data.sources.coat import read_item_features, read_user_features
from unskew.studies.framework.result import Findings
from unskew.studies.framework.study import Context, Size, Table
from unskew.studies.truth.findings import Case, compute, missing_data
from unskew.studies.truth.logs import Log
from unskew.studies.truth.targets import claims

NAME, POSITIVE_RATING = "coat", 4
SEEDS = Size(20, 1, trials=True)
SHARES: Size[tuple[float, ...]] = Size((0.01, 0.03), (0.01,))
LIMITS = {0.0: 0.2, 0.01: 0.16}
"""Largest errors, by the share of the slice."""
_NOTE = (
    "coat: 290 people rated 24 coats that they chose, which is the log, and 16 that were drawn for them at random out "
    "of 300. Ratings of 4 and 5 are positive. The truth is the random part, without the rows of the slice, which is a "
    "random part of it; a slice of 3 % of all pairs takes more than half of it. So the truth is itself a sample, and "
    "its error is in all measures: errors below 0.1 are ties. No interval can hold a noisy truth in 95 % of cases; "
    "that of the slice alone, which is unbiased, does not either. So the targets are judged by two measures that "
    "allow for the error of the truth. 'coverage, truth's error' adds it to the intervals, and 'wrong, clear truth' "
    "counts only pairs whose true difference is significant. The plain measures are shown and not judged; all of this "
    "was decided after they had been seen. 'by features': the exposure model has products of the features of people "
    "and coats too."
)


def run(context: Context) -> Findings:
    """The table; logs differ in what is held out and in the slice."""
    source = context.find(NAME)
    if source is None:
        return missing_data(NAME, context)
    place = context.place(NAME)
    split = source.read_split(place)
    features = read_user_features(place), read_item_features(place)
    log = replace(log_of(split.train, split.test), features=features)
    seeds, shares = range(context.size(SEEDS)), context.size(SHARES)
    content = context.fingerprint(NAME)
    cases = [Case(NAME, partial(_same, log), (content,), shares, (context.seed, seed)) for seed in seeds]
    targets = partial(claims, limits=LIMITS, sampled=True)
    return compute(context, cases, targets, _NOTE, sampled=True)


def log_of(chosen: Interactions, drawn: Interactions) -> Log:
    """The log of chosen coats, with the drawn ones as a sample of the truth."""
    observed, liked = _matrices(chosen)
    known, relevant = _matrices(drawn)
    return Log(observed, liked, relevant, known=known)


def _matrices(ratings: Interactions) -> tuple[Bools, Bools]:
    """Which pairs are rated, and which of them are positive."""
    rated, positive = np.zeros((2, ratings.n_users, ratings.n_items), dtype=bool)
    rated[ratings.users, ratings.items] = True
    positive[ratings.users, ratings.items] = np.asarray(ratings.values) >= POSITIVE_RATING
    return rated, positive


def _same(log: Log) -> Log:
    return log


TABLE = Table("coat", "Estimates next to a random test of Coat", run, needs=(NAME,))
