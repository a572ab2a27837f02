"""Add each user's number of relevant items to a sample, from a mapping or a frame."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from unskew.arrays import Bools, Floats, Ints
from unskew.data import Split
from unskew.data.frames import eager
from unskew.data.vocabulary import canonical, vocabulary_of
from unskew.errors import DataError
from unskew.evaluation.collecting.sample import Sample
from unskew.evaluation.fitting.models import Fitted
from unskew.ranking import Ranks


def with_relevant_counts(sample: Sample, counts: Any, models: Mapping[str, Fitted], users: str) -> Sample:
    """Return the sample with each user's number of relevant items, from a mapping or columns ``user``, ``relevant``.

    `models` know users of neither train nor test, and `users` is the rule for which of them may be judged. A judged
    user without a count, or with fewer relevant items than held-out ones, is refused.
    """
    by_user, ids, numbers = relevant_counts(counts, sample.split, sample.users)
    short = by_user[sample.users] < np.diff(sample.offsets)
    if short.any():
        k = int(np.argmax(short))
        raise DataError(
            f"relevant counts: user {sample.split.user_vocabulary.ids[sample.users[k]]} has "
            f"{int(by_user[sample.users[k]])} relevant items but {np.diff(sample.offsets)[k]} held-out ones; a count "
            "covers all relevant items, observed or not"
        )
    return replace(sample, relevant=by_user, absent=numbers[_known_elsewhere(models, ids, users)])


def relevant_counts(counts: Any, split: Split, users: Ints) -> tuple[Floats, pl.Series, Floats]:
    """Number of relevant items by user code, and the ids and counts of users that neither train nor test holds.

    A judged user (`users`, by code) without a count is refused.
    """
    frame = counts_frame(counts)
    numbers = frame["relevant"].cast(pl.Float64, strict=False).fill_null(np.nan).to_numpy()
    bad = ~((numbers >= 0) & (numbers == np.floor(numbers)) & np.isfinite(numbers))
    if bad.any():
        raise DataError(f"relevant counts: row {int(np.argmax(bad)) + 1} is not a whole number of 0 or more")
    users_given = canonical(frame["user"], "users of the relevant counts")
    if users_given.is_duplicated().any():
        twice = users_given.filter(users_given.is_duplicated())[0]
        raise DataError(f"relevant counts: user {twice} appears more than once; give one count per user")
    codes = split.user_vocabulary.encode(users_given)
    by_user = np.full(len(split.user_vocabulary), -1.0)
    by_user[codes[codes >= 0]] = numbers[codes >= 0]
    missing = by_user[users] < 0
    if missing.any():
        user = split.user_vocabulary.ids[users[int(np.argmax(missing))]]
        raise DataError(
            f"relevant counts: {int(missing.sum())} of {len(users)} test users have none, the first is {user}; "
            "every user with test rows needs a count"
        )
    return by_user, users_given.filter(pl.Series(codes < 0)), numbers[codes < 0]


def counts_frame(counts: Any) -> pl.DataFrame:
    """Numbers of relevant items, from a mapping or a frame, as a table with columns ``user`` and ``relevant``."""
    if isinstance(counts, Mapping):
        return pl.DataFrame({"user": [str(user) for user in counts], "relevant": list(counts.values())}, strict=False)
    return eager(counts, ("user", "relevant"), "relevant counts")


def _known_elsewhere(models: Mapping[str, Fitted], ids: pl.Series, rule: str) -> Bools:
    """Whether a user of neither train nor test may be judged; only models with ids of their own can know one."""
    knows = []
    for name, fitted in models.items():
        model = fitted.ranker
        if model is None or isinstance(model, Ranks):
            continue  # ranks do not show whom else the model knows
        user_ids = getattr(model, "user_ids", None)
        nobody = np.zeros(len(ids), dtype=bool)
        knows.append(
            nobody if user_ids is None else vocabulary_of(user_ids, f"user_ids of model {name!r}")[0].encode(ids) >= 0
        )
    if not knows:
        return np.ones(len(ids), dtype=bool)
    return np.asarray(np.any(knows, axis=0) if rule == "any" else np.all(knows, axis=0))
