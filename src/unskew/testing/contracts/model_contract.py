"""The contract of a model: what it learns depends on the log, its options and the generator alone."""

from typing import Any

import numpy as np
from numba import get_num_threads, set_num_threads
from threadpoolctl import threadpool_limits

from unskew.arrays import Matrix
from unskew.data import Interactions, Split
from unskew.errors import DataError
from unskew.models import Model
from unskew.ranking import Scorer
from unskew.testing.contracts.require import (
    check_word,
    errors_as_sentences,
    fail,
    piece_of,
    require,
    require_method,
    same_bytes,
)
from unskew.testing.contracts.scorer_contract import check_scorer
from unskew.testing.worlds.two_tastes import checkerboard


def check_model(model: Model | str, *, rated: bool = False) -> None:
    """Check that a model keeps its contract, on small logs.

    It gives a scorer that keeps its own contract (`check_scorer`) and is named after the model. The same log and seed
    give the same bytes, whatever the order of the rows and the number of threads; ratings do not matter unless it is
    `rated`; and neither the log nor the model is changed. Items that only the test has are unknown to it. It reports
    progress to the end, and refuses a log without a row with `DataError`.

    Parameters
    ----------
    model : Model or str
        A model or its word, with options that suit a log of 24 users and 16 items.
    rated : bool
        Whether it learns from ratings.

    Raises
    ------
    AssertionError
        One sentence that says which property fails.

    Examples
    --------
    >>> check_model("popular")
    """
    checked = piece_of(Model, model)  # type: ignore[type-abstract]  # an instance of a subclass comes back
    with errors_as_sentences(checked):
        _check(checked, rated=rated)


def _check(model: Model, *, rated: bool) -> None:
    check_word(model)
    if type(model).fit is Model.fit:
        require_method(model, "learn", "train", "rng", "progress")
    require_method(model, "fit", "train", options=("rng", "progress"))
    train = _log(rated=rated)
    scorer = _fit(model, train)
    named = getattr(scorer, "name", "") == str(model)
    require(named, model, "the scorer is not named after the model; give it name=str(self)")
    for ids in ("user_ids", "item_ids"):
        require(getattr(scorer, ids, None) is not None, model, f"the scorer has no {ids}; give it those of the log")
    check_scorer(scorer)
    _check_bytes(model, train, _scores(scorer), rated=rated)
    _check_threads(model, rated=rated)
    _check_unknown(model, rated=rated)
    _check_progress(model, train)
    _check_empty(model)


def _log(*, rated: bool) -> Interactions:
    users, items, _, _ = checkerboard()
    return Interactions.from_arrays(users, items, values=_ratings(users, items) if rated else None)


def _ratings(users: Any, items: Any) -> Any:
    return (users + 3 * items) % 5 + 1


def _fit(model: Model, train: Interactions, **options: Any) -> Scorer:
    before = str(model), train.sha256
    scorer = model.fit(train, **options)
    require((str(model), train.sha256) == before, model, "fit() changes the model or the log; copy first")
    scores = isinstance(scorer, Scorer) and not isinstance(scorer, type)
    require(scores, model, f"it must return an object with score(users) from fit(), not {type(scorer).__name__}")
    return scorer


def _scores(scorer: Any) -> Matrix:
    return np.asarray(scorer.score(np.arange(len(scorer.user_ids))))


def _check_bytes(model: Model, train: Interactions, scores: Matrix, *, rated: bool) -> None:
    again = _scores(_fit(model, train, rng=0))
    require(same_bytes(again, scores), model, "a second fit with the same seed gives other scores; draw from rng alone")
    generator = _scores(_fit(model, train, rng=np.random.default_rng(0)))
    require(same_bytes(generator, scores), model, "a generator gives other scores than its seed; draw from rng alone")
    shuffled = train.take(np.random.default_rng(0).permutation(len(train)))
    require(
        same_bytes(_scores(_fit(model, shuffled)), scores),
        model,
        "the order of the rows changes the scores; sort what it learns from",
    )
    if not rated:
        given = Interactions.from_arrays(train.users, train.items, values=_ratings(train.users, train.items))
        require(
            same_bytes(_scores(_fit(model, given)), scores),
            model,
            "ratings change the scores; if it learns from them, give rated=True",
        )


def _check_threads(model: Model, *, rated: bool) -> None:
    rng = np.random.default_rng(2)
    users, items = rng.integers(900, size=6000), rng.integers(300, size=6000)
    train = Interactions.from_arrays(users, items, values=_ratings(users, items) if rated else None)
    before = get_num_threads()
    try:
        set_num_threads(1)
        with threadpool_limits(limits=1):
            alone = _fit(model, train)
    finally:
        set_num_threads(before)
    require(
        same_bytes(_scores(_fit(model, train)), _scores(alone)),
        model,
        "the number of threads changes the scores; add up in one order",
    )


def _check_unknown(model: Model, *, rated: bool) -> None:
    users, items, _, _ = checkerboard()
    ratings = _ratings(users, items) if rated else None
    train = Interactions.from_arrays([f"u{u:02}" for u in users], [f"i{i:02}" for i in items], values=ratings)
    test = Interactions.from_arrays(["new", "u00", "a"], ["i00", "later", "early"])
    split = Split(train=train, test=test)
    scorer: Any = _fit(model, split.train)
    known = np.array_equal(scorer.item_ids, train.item_vocabulary.ids)
    require(known, model, "it knows other items than those of the training rows; leave out items without a row")
    everybody, trained = split.user_vocabulary.ids, train.user_vocabulary.ids
    some = any(np.array_equal(scorer.user_ids, ids) for ids in (everybody, trained))
    require(some, model, "it knows other users than those of the training rows, or everybody")
    if len(scorer.user_ids) == len(trained):
        same = same_bytes(_scores(scorer), _scores(_fit(model, train)))
        require(same, model, "users and items of the test change its scores; learn from rows, not from the vocabulary")


def _check_progress(model: Model, train: Interactions) -> None:
    calls: list[tuple[int, int]] = []
    _fit(model, train, progress=lambda done, total: calls.append((done, total)))
    require(
        calls and calls[-1][0] == calls[-1][1],
        model,
        "progress(done, total) must end with both equal; call it at the end",
    )
    require(calls == sorted(calls), model, "progress goes backwards; let done grow")


def _check_empty(model: Model) -> None:
    cause = None
    try:
        model.fit(Interactions.from_arrays([], [], n_users=3, n_items=4, name="train.csv"))
    except DataError as error:
        require("train.csv" in str(error), model, "the refusal of a log without a row must name the log, train.name")
        return
    except Exception as error:  # noqa: BLE001 - it becomes the cause
        cause = error
    fail(model, "a log without a row must raise DataError; call check_rows(self, train) first", cause)
