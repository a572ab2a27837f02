"""The split of a log: what models learn from, what they are evaluated on, and among which candidates."""

import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from unskew.arrays import Bools, Ints, distinct_of, offsets_of, spans
from unskew.data.candidates import Candidates
from unskew.data.exposed import check_exposed, check_slice
from unskew.data.interactions import Interactions
from unskew.data.pairs import contains, pair_keys, row_keys
from unskew.data.vocabulary import Vocabulary
from unskew.errors import DataError, check_types

_PARTS = ("train", "test", "validation", "slice")
_OF_TEST = ("sorted_test", "_test_order", "_test_offsets", "tested_users", "test_in_train")


@dataclass(frozen=True, eq=False)
class Split:
    """Train, test and optional validation interactions with shared vocabularies, and the candidate rule.

    The vocabularies are joined on construction, so the parts may come from different files.

    Parameters
    ----------
    train, test : Interactions
    validation : Interactions, optional
    candidates : str or Candidates
        ``unseen`` (default), ``all``, ``trained``, ``listed`` or ``sampled(n)``.
    origin : str
        How the split was made, for the record.
    exposed : bool
        Whether the test is of items drawn at random from the candidates, ``all`` or ``unseen``, with labels 1 and 0 as
        values. Only then can `ure` be computed; `exposed_split` makes such a split.
    population_by : str
        Why the exposed items are assumed to be drawn from the candidates, for the record.
    notes : tuple of str
        Warnings about the data, found while it was split.
    slice : Interactions, optional
        A small sample of pairs drawn at random from the candidates, next to an ordinary test, with labels 1 and 0 as
        values. `blend` and `dm` are corrected by it.
    """

    train: Interactions
    test: Interactions
    validation: Interactions | None = None
    candidates: str | Candidates = "unseen"
    origin: str = "given"
    exposed: bool = False
    population_by: str = "given"
    notes: tuple[str, ...] = ()
    slice: Interactions | None = None

    def __post_init__(self) -> None:
        for name in _PARTS:
            part = getattr(self, name)
            if not isinstance(part, Interactions) and not (name in {"validation", "slice"} and part is None):
                kind = type(part).__name__
                raise DataError(f"{name} must be Interactions, not {kind}; see Interactions.from_frame and .read")
            if name != "train" and part is not None and part.repeats:  # a held-out pair counts once
                object.__setattr__(self, name, part.distinct())
        own_items = self.train.item_vocabulary
        parts = {name: getattr(self, name) for name in _PARTS if getattr(self, name) is not None}
        users, items = self.train.user_vocabulary, self.train.item_vocabulary
        for part in parts.values():
            users = users.union(part.user_vocabulary)
            items = items.union(part.item_vocabulary)
        users = Vocabulary(users.ids, declared=self.train.user_vocabulary.declared)
        # ids that only the test has are not declared by train, so a model trained on train must not have them
        items = Vocabulary(items.ids, declared=own_items.declared and len(own_items) == len(items))
        declared = {
            "user": _declared([part.user_vocabulary for part in (self.train, self.test)], users),
            "item": _declared([part.item_vocabulary for part in (self.train, self.test)], items),
        }
        object.__setattr__(self, "_declared", declared)
        occurring = np.flatnonzero(self.train.item_counts)
        known = np.arange(len(own_items)) if own_items.declared else occurring
        for name, part in parts.items():
            object.__setattr__(self, name, part.recode(users, items))
        positions = own_items.codes_in(items)
        object.__setattr__(self, "_catalogue", positions[known].astype(np.int32))
        check_types("text", {"candidates": self.candidates}, Candidates, optional=False)
        if isinstance(self.candidates, str):
            object.__setattr__(self, "candidates", Candidates.from_word(self.candidates))
        if self.exposed:
            check_exposed(self)
        if self.slice is not None:
            check_slice(self)

    def __repr__(self) -> str:
        parts = {"train": self.train, "validation": self.validation, "test": self.test, "slice": self.slice}
        counts = {  # counts of the part, not of the shared vocabulary
            name: (np.count_nonzero(part.user_counts), np.count_nonzero(part.item_counts))
            for name, part in parts.items()
            if part is not None
        }
        shown = ", ".join(f"{name}={getattr(self, name).describe(*numbers)}" for name, numbers in counts.items())
        return f"Split({shown}, candidates={self.candidates})"

    @property
    def user_vocabulary(self) -> Vocabulary:
        """Ids of all users."""
        return self.train.user_vocabulary

    @property
    def item_vocabulary(self) -> Vocabulary:
        """Ids of all items."""
        return self.train.item_vocabulary

    @property
    def rule(self) -> Candidates:
        """The candidate rule, parsed."""
        assert isinstance(self.candidates, Candidates)
        return self.candidates

    def with_candidates(self, rule: "str | Candidates") -> "Split":
        """The same split under another candidate rule, with the same catalogue."""
        other = copy.copy(self)
        object.__setattr__(other, "candidates", Candidates.from_word(rule) if isinstance(rule, str) else rule)
        if other.exposed:
            check_exposed(other)
        if other.slice is not None:
            check_slice(other)
        return other

    def with_test_of(self, users: Ints) -> "Split":
        """The same split with the test rows of these users alone, given as ascending codes, in their order."""
        other = copy.copy(self)
        for name in _OF_TEST:
            other.__dict__.pop(name, None)
        object.__setattr__(other, "test", self.test.take(np.sort(self._test_order[self.test_rows(users)])))
        return other

    @property
    def catalogue(self) -> Ints:
        """Codes of the items of train, ascending: all that were declared, or else those that occur."""
        codes: Ints = self._catalogue  # type: ignore[attr-defined]
        return codes

    def rows_of(self, axis: Literal["user", "item"]) -> Ints:
        """Codes of the rows of a model without ids: row k is the k-th id of train and test together."""
        declared: Ints | None = self._declared[axis]  # type: ignore[attr-defined]
        if declared is not None:
            return declared
        counts = "user_counts" if axis == "user" else "item_counts"
        occurs = getattr(self.train, counts) + getattr(self.test, counts) > 0
        return np.flatnonzero(occurs).astype(np.int32)

    @cached_property
    def sorted_test(self) -> Interactions:
        """The test rows ordered by user, then item."""
        return self.test.take(self._test_order)

    @cached_property
    def _test_order(self) -> Ints:
        return np.argsort(row_keys(self.test, max(len(self.item_vocabulary), 1)), kind="stable")

    @cached_property
    def _test_offsets(self) -> Ints:
        return offsets_of(self.test.user_counts)

    @cached_property
    def tested_users(self) -> Ints:
        """Codes of the users who have test rows, ascending."""
        return np.flatnonzero(self.test.user_counts)

    def test_rows(self, users: Ints) -> Ints:
        """Numbers of the rows of the sorted test that these users have."""
        starts = self._test_offsets[users]
        return spans(starts, self._test_offsets[users + 1] - starts)

    @cached_property
    def test_in_train(self) -> Bools:
        """Whether each row of the sorted test is also in train."""
        return self.in_train(self.tested_users, self.sorted_test)

    def in_train(self, users: Ints, rows: Interactions) -> Bools:
        """Whether each of some rows of these users, given as ascending codes, is also in train."""
        offsets, items = self.train.by_user
        counts = offsets[users + 1] - offsets[users]
        width = max(len(self.item_vocabulary), 1)
        seen = pair_keys(np.repeat(users, counts), items[spans(offsets[users], counts)], width)
        return contains(seen, row_keys(rows, width))


def _declared(vocabularies: list[Vocabulary], joined: Vocabulary) -> Ints | None:
    """Codes of the ids that train, and possibly test, declared; None if train declared none."""
    if not vocabularies[0].declared:
        return None
    stated = [vocabulary.codes_in(joined) for vocabulary in vocabularies if vocabulary.declared]
    return distinct_of(np.concatenate(stated)).astype(np.int32)
