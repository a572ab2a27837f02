"""The contract of a scorer: finite numbers, one row per user and one column per item, that do not depend on blocks."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from unskew.arrays import Ints, Matrix
from unskew.ranking import ListScorer, Scorer
from unskew.ranking.tensor_counts import as_array
from unskew.testing.contracts.require import (
    errors_as_sentences,
    fail,
    refuse_class,
    require,
    require_method,
    same_bytes,
)

_THREADS = 4


def check_scorer(scorer: Any, *, n_users: int | None = None, n_items: int | None = None, seed: int = 0) -> None:
    """Check that a scorer keeps its contract.

    `score(users)` gives one row per user and one column per item, finite real numbers (a `ListScorer` may give minus
    infinity); the same users have the same scores in every block, order, call and thread; and its argument is not
    changed. `user_ids` and `item_ids` name each row and column once.

    Parameters
    ----------
    scorer : Scorer
    n_users, n_items : int, optional
        How many it knows; by default the lengths of its `user_ids` and `item_ids`.
    seed : int
        Of the order in which users are asked for.

    Raises
    ------
    AssertionError
        One sentence that says which property fails.

    Examples
    --------
    >>> import numpy as np
    >>> from unskew.ranking import MatrixScorer
    >>> check_scorer(MatrixScorer(np.eye(3)), n_users=3, n_items=3)
    """
    refuse_class(scorer)
    with errors_as_sentences(scorer):
        _check(scorer, n_users, n_items, np.random.default_rng(seed))


def _check(scorer: Any, n_users: int | None, n_items: int | None, rng: np.random.Generator) -> None:
    if callable(getattr(scorer, "fit", None)) and not hasattr(scorer, "score"):
        fail(scorer, "it has no method score(users); give what fit() returns, or use check_model")
    require_method(scorer, "score", "users")
    users = np.arange(_number(scorer, "user_ids", n_users, "n_users"))
    items = _number(scorer, "item_ids", n_items, "n_items")
    whole = np.array(_scores(scorer, users, items))  # a copy, because a scorer may reuse its array
    repeated = same_bytes(_scores(scorer, users, items), whole)
    require(repeated, scorer, "the same users have other scores in a second call; let no call depend on another")
    order = rng.permutation(users)
    sentence = "the scores of a user depend on the block or its order; compute each row from its own user"
    for block in np.array_split(order, 5):
        if len(block):
            require(_agree(_scores(scorer, block, items), whole[block]), scorer, sentence)
    _check_threads(scorer, np.array_split(order, _THREADS), whole, items)


def _number(scorer: Any, ids: str, given: int | None, option: str) -> int:
    named = getattr(scorer, ids, None)
    if named is None:
        if given is None:
            fail(scorer, f"it has no {ids}, so its size is not known; give check_scorer {option}=...")
        return given
    names = np.asarray(named)
    require(given in {None, len(names)}, scorer, f"it has {len(names)} {ids}, not {given}; correct {ids} or {option}")
    require(len(np.unique(names)) == len(names), scorer, f"{ids} names one id twice; give each its own id")
    return len(names)


def _scores(scorer: Scorer, users: Ints, n_items: int) -> Matrix:
    asked = users.copy()
    scores = as_array(scorer.score(asked))
    require(np.array_equal(asked, users), scorer, "score() changes its argument; copy it first")
    shape = (len(users), n_items)
    sentence = f"score() gives shape {scores.shape} for {shape[0]} users and {n_items} items; give users by items"
    require(scores.shape == shape, scorer, sentence)
    require(
        scores.dtype.kind in "fiub",
        scorer,
        f"score() gives type {scores.dtype}, which is not a real number; give floats",
    )
    allowed = np.isneginf(scores) if isinstance(scorer, ListScorer) else np.zeros(shape, bool)
    if not (np.isfinite(scores) | allowed).all():
        fail(scorer, "score() gives a number that is not finite; give a low score to what it would never show")
    return scores


ROUNDING = 1e-5
"""Of the largest score of a user: single precision, and a kernel of the product that depends on the block."""


def _agree(scores: Matrix, whole: Matrix) -> bool:
    """Whether two answers for the same users agree but for rounding; a score near 0 may be a sum of larger numbers."""
    finite = np.isfinite(whole)
    largest = np.max(np.abs(np.where(finite, whole, 0.0)), axis=1, keepdims=True, initial=0.0)
    gaps = np.abs(np.subtract(scores, whole, where=finite, out=np.zeros(whole.shape)))
    return bool((gaps <= ROUNDING * largest).all() and np.array_equal(scores[~finite], whole[~finite]))


def _check_threads(scorer: Scorer, blocks: list[Ints], whole: Matrix, items: int) -> None:
    def ask(block: Ints) -> Iterator[bool]:
        for _ in range(10):
            scores = _scores(scorer, block, items)
            yield _agree(scores, whole[block])

    with ThreadPoolExecutor(_THREADS) as pool:
        agreed = list(pool.map(lambda block: all(ask(block)), [block for block in blocks if len(block)]))
    sentence = (
        "the scores of a user differ when several threads ask at the same time; return a new array from each call"
    )
    require(all(agreed), scorer, sentence)
