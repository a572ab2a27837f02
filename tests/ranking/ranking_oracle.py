"""Ranks written with loops, slow and plain, and small worlds with many ties to try them on."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from unskew import Interactions, Split
from unskew.ranking import Contest, Ranks

Pair = tuple[int, int]
Row = tuple[int, int, int, int, int]


@dataclass(frozen=True)
class World:
    """Codes 0, 1, ... for users and items, and a score for each of their pairs."""

    n_users: int
    n_items: int
    train: frozenset[Pair]
    validation: frozenset[Pair]
    test: frozenset[Pair]
    scores: tuple[tuple[int, ...], ...]

    @property
    def matrix(self) -> np.ndarray:
        return np.array(self.scores, dtype=float)

    def split(self, rule: str) -> Split:
        held = self._part(self.validation) if self.validation else None
        return Split(self._part(self.train), self._part(self.test), held, candidates=rule)

    def _part(self, pairs: Iterable[Pair]) -> Interactions:
        users, items = zip(*sorted(pairs), strict=True) if pairs else ((), ())
        return Interactions.from_arrays(users, items, n_users=self.n_users, n_items=self.n_items)


@st.composite
def worlds(draw: st.DrawFn, max_users: int = 5, max_items: int = 8, max_score: int = 3) -> World:
    n_users, n_items = draw(st.integers(1, max_users)), draw(st.integers(2, max_items))
    pairs = st.frozensets(st.tuples(st.integers(0, n_users - 1), st.integers(0, n_items - 1)), max_size=20)
    row = st.tuples(*[st.integers(-max_score, max_score)] * n_items)
    return World(
        n_users,
        n_items,
        draw(pairs),
        draw(pairs),
        draw(pairs.filter(bool)),
        tuple(draw(row) for _ in range(n_users)),
    )


def candidates_of(world: World, user: int, rule: str) -> list[int]:
    """Items a held-out item of the user is ranked among."""
    chosen = []
    for item in range(world.n_items):
        seen = (user, item) in world.train
        if rule == "all":
            take = True
        elif rule == "unseen":
            take = not seen
        elif rule == "trained":
            take = not seen and any(other == item for _, other in world.train)
        else:
            take = (user, item) in world.test
        if take:
            chosen.append(item)
    return chosen


def slow_rows(world: World, rule: str, ties: str) -> list[Row]:
    """User, item, above, tied and number of candidates of each held-out row that can be judged."""
    rows = []
    for user, item in sorted(world.test):
        candidates = candidates_of(world, user, rule)
        if item in candidates:
            rows.append((user, item, *slow_rank(world.scores[user], item, candidates, ties), len(candidates)))
    return rows


def slow_rank(scores: Iterable[float], item: int, candidates: Iterable[int], ties: str) -> Pair:
    """Count the candidates above, as the policy has it, and the others tied."""
    row = list(scores)
    above = tied = before = 0
    for other in candidates:
        if row[other] > row[item]:
            above += 1
        elif other != item and row[other] == row[item]:
            tied += 1
            before += other < item
    return above + {"pessimistic": tied, "ordinal": before}.get(ties, 0), tied


def rows_of(ranks: Ranks) -> list[Row]:
    columns = (ranks.users, ranks.items, ranks.above, ranks.tied, ranks.candidates)
    return list(zip(*(column.tolist() for column in columns), strict=True))


def listed_of(contest: Contest) -> list[list[int]]:
    """The listed places of each judged user."""
    return [part.tolist() for part in np.split(contest.listed, contest.listed_offsets[1:-1])]
