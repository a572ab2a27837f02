"""Broken scorers and models are refused with a sentence that names the property, and sound ones of others are not."""

import threading
import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from unskew.arrays import Ints
from unskew.data import Interactions
from unskew.models import Model
from unskew.models.popular import Popular
from unskew.ranking import MatrixScorer
from unskew.testing import check_model, check_scorer

USERS, ITEMS = 12, 7
SCORES = np.random.default_rng(0).normal(size=(USERS, ITEMS))


class Sound:
    def score(self, users: Ints, /) -> Any:
        return SCORES[users]


def test_a_sound_scorer_of_somebody_else_passes() -> None:
    check_scorer(Sound(), n_users=USERS, n_items=ITEMS)


def test_a_scorer_without_ids_needs_its_size() -> None:
    with pytest.raises(AssertionError, match=r"^Sound: it has no user_ids, .*; give check_scorer n_users=\.\.\."):
        check_scorer(Sound())
    with pytest.raises(AssertionError, match=r"^Sound: it has no item_ids, .*; give check_scorer n_items=\.\.\."):
        check_scorer(Sound(), n_users=USERS)


class Transposed(Sound):
    def score(self, users: Ints, /) -> Any:
        return SCORES[users].T


class FirstItem(Sound):
    def score(self, users: Ints, /) -> Any:
        return SCORES[users, 0]


class Texts(Sound):
    def score(self, users: Ints, /) -> Any:
        return SCORES[users].astype(str)


class Unfinished(Sound):
    def score(self, users: Ints, /) -> Any:
        return np.where(SCORES[users] > 1, np.nan, SCORES[users])


class Unlisted(Sound):
    """Minus infinity is for lists alone."""

    def score(self, users: Ints, /) -> Any:
        return np.where(SCORES[users] > 1, -np.inf, SCORES[users])


class Noisy(Sound):
    rng = np.random.default_rng(0)

    def score(self, users: Ints, /) -> Any:
        return SCORES[users] + self.rng.normal(size=(len(users), ITEMS))


class OfBlock(Sound):
    def score(self, users: Ints, /) -> Any:
        return SCORES[users] - SCORES[users].mean()


class ByPlace(Sound):
    """The k-th row is the k-th user, whoever was asked for."""

    def score(self, users: Ints, /) -> Any:
        return SCORES[: len(users)]


class Sorting(Sound):
    def score(self, users: Ints, /) -> Any:
        users[:] = users[::-1]
        return SCORES[users]


class Shared(Sound):
    """Every thread writes into one array."""

    buffer = np.empty((USERS, ITEMS))

    def score(self, users: Ints, /) -> Any:
        self.buffer[: len(users)] = SCORES[users]
        if threading.current_thread() is not threading.main_thread():
            time.sleep(0.002)
        return self.buffer[: len(users)]


class Twins(Sound):
    user_ids = (0,) * USERS


class NoArgument(Sound):
    def score(self) -> Any:  # type: ignore[override]
        return SCORES


class Crash(Sound):
    def score(self, users: Ints, /) -> Any:
        return SCORES[users + 1]


class MixedIds(Sound):
    user_ids = (*range(USERS - 1), None)


class Settings:
    def fit(self, train: Interactions) -> Sound:
        return Sound()


@pytest.mark.parametrize(
    "broken, says",
    [
        (NoArgument, r"score\(\) does not take its arguments .*; define it as score\(users\)"),
        (Crash, r"score\(\) raises IndexError .* on valid input; the traceback of the cause has the line"),
        (MixedIds, "an attribute or a result cannot be used: TypeError"),
        (Settings, r"it has no method score\(users\); give what fit\(\) returns, or use check_model"),
        (Transposed, r"score.. gives shape \(7, 12\) for 12 users and 7 items"),
        (FirstItem, r"score.. gives shape \(12,\) for 12 users and 7 items"),
        (Texts, "score.. gives type <U32, which is not a real number"),
        (Unfinished, "score.. gives a number that is not finite"),
        (Unlisted, "score.. gives a number that is not finite"),
        (Noisy, "the same users have other scores in a second call"),
        (OfBlock, "the scores of a user depend on the block or its order"),
        (ByPlace, "the scores of a user depend on the block or its order"),
        (Sorting, "score.. changes its argument"),
        (Shared, "the scores of a user differ when several threads ask at the same time"),
        (Twins, "user_ids names one id twice"),
        (dict, "it has no method score"),
    ],
)
def test_a_broken_scorer_is_refused(broken: type, says: str) -> None:
    with pytest.raises(AssertionError, match=f"{broken.__name__}: {says}"):
        check_scorer(broken(), n_users=USERS, n_items=ITEMS)


def test_an_error_in_a_scorer_is_the_cause_of_the_sentence() -> None:
    with pytest.raises(AssertionError) as caught:
        check_scorer(Crash(), n_users=USERS, n_items=ITEMS)
    assert isinstance(caught.value.__cause__, IndexError)


def test_a_class_is_not_a_scorer() -> None:
    with pytest.raises(AssertionError, match=r"^Sound is a class; give an instance, Sound\(\)$"):
        check_scorer(Sound, n_users=USERS, n_items=ITEMS)


@dataclass(frozen=True)
class Counts(Model):
    """The number of training rows of each item."""

    def learn(self, train: Interactions, rng: np.random.Generator, progress: Any) -> MatrixScorer:
        known = np.flatnonzero(train.user_counts), np.flatnonzero(train.item_counts)
        row = self.score_items(train, rng)[known[1]]
        progress(1, 1)
        ids = train.user_vocabulary.ids[known[0]], train.item_vocabulary.ids[known[1]]
        scores = np.tile(row.astype(float), (len(known[0]), 1))
        return MatrixScorer(scores, user_ids=ids[0], item_ids=ids[1], name=str(self))

    def score_items(self, train: Interactions, rng: np.random.Generator) -> Any:
        return train.item_counts


def test_a_sound_model_of_somebody_else_passes() -> None:
    check_model(Counts())
    check_model(Popular())
    check_model("popular")


def test_a_class_and_an_unknown_word_are_not_models() -> None:
    with pytest.raises(AssertionError, match=r"^Counts is a class; give an instance, Counts\(\)$"):
        check_model(Counts)  # type: ignore[arg-type]
    with pytest.raises(AssertionError, match=r"^populer: the word cannot be read: unknown model 'populer'"):
        check_model("populer")


class Unseeded(Counts):
    def score_items(self, train: Interactions, rng: np.random.Generator) -> Any:
        return np.random.default_rng().random(train.n_items)


class Latest(Counts):
    """The last row of an item counts, wherever it is in the log."""

    def score_items(self, train: Interactions, rng: np.random.Generator) -> Any:
        last = np.zeros(train.n_items)
        last[train.items] = np.arange(len(train))
        return last


class Rated(Counts):
    def score_items(self, train: Interactions, rng: np.random.Generator) -> Any:
        values = train.values if train.values is not None else np.ones(len(train))
        return np.bincount(train.items, weights=values, minlength=train.n_items)


class Peeking(Counts):
    """Uses how many items there are in train and test together."""

    def score_items(self, train: Interactions, rng: np.random.Generator) -> Any:
        return train.item_counts / train.n_items


class Nameless(Counts):
    def learn(self, train: Interactions, rng: np.random.Generator, progress: Any) -> MatrixScorer:
        return replace(super().learn(train, rng, progress), name="nobody")


class Silent(Counts):
    def learn(self, train: Interactions, rng: np.random.Generator, progress: Any) -> MatrixScorer:
        return super().learn(train, rng, lambda done, total: None)


class Undaunted(Counts):
    def fit(self, train: Interactions, *, rng: Any = 0, progress: Any = None) -> MatrixScorer:  # type: ignore[override]
        return self.learn(train, np.random.default_rng(rng), progress or (lambda done, total: None))


class Unfinished(Model):
    """Defines nothing."""


class Factors(Counts):
    """Gives an array and not a scorer."""

    def learn(self, train: Interactions, rng: np.random.Generator, progress: Any) -> Any:
        return np.ones((train.n_users, 2))


class NoProgress(Counts):
    def learn(self, train: Interactions, rng: np.random.Generator) -> MatrixScorer:  # type: ignore[override]
        return super().learn(train, rng, lambda done, total: None)


class CrashingModel(Counts):
    def score_items(self, train: Interactions, rng: np.random.Generator) -> Any:
        raise KeyError("scores")


class CrashOnEmpty(Undaunted):
    def score_items(self, train: Interactions, rng: np.random.Generator) -> Any:
        return train.item_counts + 0 * train.items[0]


@pytest.mark.parametrize(
    "broken, says",
    [
        (Unfinished, r"it has no method learn\(train, rng, progress\); define it"),
        (Factors, r"it must return an object with score\(users\) from fit\(\), not ndarray"),
        (NoProgress, r"learn\(\) does not take its arguments .*; define it as learn\(train, rng, progress\)"),
        (CrashingModel, r"score_items\(\) raises KeyError \('scores'\) on valid input"),
        (CrashOnEmpty, r"a log without a row must raise DataError; call check_rows\(self, train\) first"),
        (Unseeded, "a second fit with the same seed gives other scores"),
        (Latest, "the order of the rows changes the scores"),
        (Rated, "ratings change the scores; if it learns from them, give rated=True"),
        (Peeking, "users and items of the test change its scores"),
        (Nameless, "the scorer is not named after the model"),
        (Silent, "progress.* must end with both equal"),
        (Undaunted, "a log without a row must raise DataError"),
    ],
)
def test_a_broken_model_is_refused(broken: type[Model], says: str) -> None:
    with pytest.raises(AssertionError, match=says):
        check_model(broken())


def test_a_model_of_ratings_may_use_them() -> None:
    check_model(Rated(), rated=True)
