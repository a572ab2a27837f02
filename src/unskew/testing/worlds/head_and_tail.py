"""A log whose skew is known by hand: ten popular items, ten rare ones, and models that prefer the one or the other.

Items 0 to 9 are the head, with 100 training rows each; items 10 to 19 the tail, with one. Four of five held-out rows
are of the head. The model "head" ranks all head items above the tail, "tail" the other way round, so that by recall@10
the naive averages are 0.8 and 0.2. With gamma g a tail row weighs (101 / 2) ** ((g + 1) / 2) head rows.
"""

from typing import Any

import numpy as np

from unskew.data import Interactions, Split
from unskew.evaluation import Report, evaluate
from unskew.ranking import MatrixScorer

HEAD, ITEMS, TRAINING_USERS = 10, 20, 100
NAIVE_AND_SNIPS = ("aoa(per=pair)", "snips")
"""The naive average and its correction by a propensity, both of pairs, whatever the data."""


def make_split(users: int = 200, *, propensity: float | None = None) -> Split:
    """Return the split; each of the users has one held-out row, with this propensity if one is given."""
    total = users + TRAINING_USERS
    trained = np.arange(users, total)
    train_users = np.append(np.repeat(trained, HEAD), trained[: ITEMS - HEAD])
    train_items = np.append(np.tile(np.arange(HEAD), TRAINING_USERS), np.arange(HEAD, ITEMS))
    test_users = np.arange(users)
    test_items = np.where(test_users % 5 < 4, test_users % HEAD, HEAD + test_users // 5 % (ITEMS - HEAD))
    column = None if propensity is None else np.full(users, propensity)
    return Split(
        Interactions.from_arrays(train_users, train_items, n_users=total, n_items=ITEMS),
        Interactions.from_arrays(test_users, test_items, propensity=column, n_users=total, n_items=ITEMS),
    )


def make_scorer(kind: str, users: int = 200) -> MatrixScorer:
    """Return the model ``head``, ``tail`` or ``even``, the last with equal scores."""
    is_head = np.arange(ITEMS) < HEAD
    row = {"head": is_head * 1.0, "tail": ~is_head * 1.0, "even": np.zeros(ITEMS)}[kind]
    return MatrixScorer(np.tile(row, (users + TRAINING_USERS, 1)))


def judge_models(*kinds: str, users: int = 200, names: tuple[str, ...] | None = None, **settings: Any) -> Report:
    """Return the report on these models, by recall@10 and `NAIVE_AND_SNIPS` unless `settings` say otherwise."""
    models = {name: make_scorer(kind, users) for name, kind in zip(names or kinds, kinds, strict=True)}
    settings.setdefault("metrics", ["recall@10"])
    settings.setdefault("estimators", NAIVE_AND_SNIPS)
    split = settings.pop("split", None) or make_split(users)
    return evaluate(models, split, **{"baselines": False, **settings})
