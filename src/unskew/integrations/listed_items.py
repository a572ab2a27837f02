"""Lists of items: ``{user: [items]}``, ``{user: {item: score}}``, and one list per user row."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain, pairwise
from typing import Any

import numpy as np

from unskew.arrays import offsets_of
from unskew.data.vocabulary import canonical, factorise
from unskew.integrations.family import Family, Given
from unskew.ranking import ListScorer

HOW = "give {user: [best item, next item, ...]} or {user: {item: score}}"


def read_lists(given: Given) -> ListScorer:
    """Lists, best item first, or items with scores, where larger is better."""
    by_user: Mapping[Any, Any] = given.model
    users = given.named("user", canonical([str(user) for user in by_user], f"users of model {given.name!r}"))
    return _of_lists(replace(given, user_ids=users.to_numpy()), list(by_user), list(by_user.values()))


def read_rows(given: Given) -> ListScorer:
    """The same without users: list k is of row k."""
    return _of_lists(given, range(len(given.model)), list(given.model))


def _of_lists(given: Given, users: Sequence[Any], lists: list[Any]) -> ListScorer:
    pairs = [_pairs(given, user, each) for user, each in zip(users, lists, strict=True)]
    items = list(chain.from_iterable(each for each, _ in pairs))
    if not items:
        raise given.refuse(f"has no item in any list; {HOW}")
    codes, vocabulary = factorise(given.named("item", canonical(items, f"items of model {given.name!r}")))
    offsets = offsets_of(np.array([len(each) for each, _ in pairs]))
    for place, (start, end) in enumerate(pairwise(offsets)):
        listed = codes[start:end]
        if len(np.unique(listed)) < len(listed):
            twice = next(item for item in listed if np.count_nonzero(listed == item) > 1)
            raise given.refuse(f"lists item {vocabulary.ids[twice]} twice for user {users[place]}; keep it once")
    scores = np.array(list(chain.from_iterable(values for _, values in pairs)), dtype=np.float64)
    if not np.isfinite(scores).all():
        bad = int(np.argmin(np.isfinite(scores)))
        user = users[int(np.searchsorted(offsets, bad, side="right")) - 1]
        raise given.refuse(f"gives user {user}, item {items[bad]} the score {scores[bad]}; scores must be finite")
    labels = {**given.labels, "item_ids": vocabulary.ids}
    return ListScorer(offsets, codes.astype(np.int32), scores, len(vocabulary.ids), **labels)


def _pairs(given: Given, user: Any, listed: Any) -> tuple[list[Any], list[float]]:
    """The items of one list and their scores; without scores the first item has the highest."""
    if isinstance(listed, Mapping):
        return list(listed), [_number(given, user, score) for score in listed.values()]
    if isinstance(listed, str | bytes | set | frozenset) or not isinstance(listed, Iterable):
        raise given.refuse(f"has {type(listed).__name__} as the list of user {user}, which has no order; {HOW}")
    if isinstance(listed, np.ndarray) and (listed.ndim != 1 or isinstance(listed, np.ma.MaskedArray)):
        kind = "a masked array" if listed.ndim == 1 else f"an array of {listed.ndim} dimensions"
        raise given.refuse(f"has {kind} as the list of user {user}; {HOW}")
    entries = list(listed)
    with_scores = [isinstance(entry, tuple | list) and len(entry) == 2 for entry in entries]
    if any(with_scores):
        if not all(with_scores):
            raise given.refuse(f"has items with and without scores in the list of user {user}; {HOW}")
        return [item for item, _ in entries], [_number(given, user, score) for _, score in entries]
    return entries, [float(len(entries) - place) for place in range(len(entries))]


def _number(given: Given, user: Any, score: Any) -> float:
    try:
        return float(score)
    except (TypeError, ValueError):
        raise given.refuse(f"has the score {score!r} in the list of user {user}; expected a number") from None


def _is_rows(model: Any) -> bool:
    return isinstance(model, list) and bool(model) and all(isinstance(row, list | tuple | np.ndarray) for row in model)


BY_USER = Family(
    "lists by user",
    "{user: [items]}, best first, or {user: {item: score}}",
    (),
    read_lists,
    recognises=lambda model: isinstance(model, Mapping),
)
BY_ROW = Family(
    "lists by row", "[[items], ...], best first; list k is of the k-th user", (), read_rows, recognises=_is_rows
)
