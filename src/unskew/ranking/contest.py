"""The contest of a run: its test users, their held-out rows and candidates, the same for all models."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from unskew.arrays import Bools, Floats, Ints, offsets_of, runs_of, spans
from unskew.data.candidates import All, Candidates, Listed, Sampled, Trained
from unskew.data.interactions import Interactions
from unskew.data.split import Split
from unskew.errors import ConfigError, DataError, Option, did_you_mean
from unskew.ranking.catalogue import Binding, JoinedCatalogue, join_catalogue
from unskew.ranking.scorers import Scorer

UserRule: TypeAlias = Literal["any", "common", "served"]
USER_RULES: tuple[UserRule, ...] = ("any", "common", "served")
"""The test users to include: those known to any model, to all models, or for each model those that it knows."""


@dataclass(frozen=True, eq=False)
class Contest:
    """The held-out rows, sorted by user and item, and their candidates.

    Parameters
    ----------
    rule : Candidates
    catalogue_size : int
        Size of the catalogue.
    users : array
        Codes of the judged users, ascending.
    offsets : array of int64
        The rows of the k-th judged user are ``offsets[k]:offsets[k + 1]``.
    items : array
        Item codes of the rows.
    columns : array of int32
        The items as places in the catalogue.
    listed_offsets, listed : array
        Places in the catalogue that are excluded for a user, or, if `among`, the user's candidates.
    among : bool
    candidates : array of int32
        How many candidates each judged user has.
    values : array, optional
        Values of the rows.
    bindings : mapping
        The rows and columns of each model.
    dropped : mapping
        How many rows and users were left out, by reason.
    catalogue_ids : array
        Ids of the catalogue, for messages.
    known_users : array of bool
        Users who may be included, by code: those known to any model, or to all of them.
    unknown_rows : int
        How many rows are of items that are neither in train nor known to a model; no model can find them.
    touched : pair of array, optional
        Under a corrected `sampled` rule, offsets and places in the catalogue of each judged user's items in train,
        validation or test; the other items could have been drawn.
    """

    rule: Candidates
    catalogue_size: int
    users: Ints
    offsets: Ints
    items: Ints
    columns: Ints
    listed_offsets: Ints
    listed: Ints
    among: bool
    candidates: Ints
    values: Floats | None
    bindings: Mapping[str, Binding]
    dropped: Mapping[str, int]
    catalogue_ids: npt.NDArray[Any]
    user_ids: npt.NDArray[Any]
    known_users: Bools
    unknown_rows: int = 0
    touched: tuple[Ints, Ints] | None = None

    def __len__(self) -> int:
        return len(self.items)

    @property
    def row_users(self) -> Ints:
        """User code of each row."""
        return np.repeat(self.users, np.diff(self.offsets))

    @property
    def row_pool(self) -> Ints | None:
        """For each row, how many items the sampled candidates were drawn from; None without a correction."""
        if self.touched is None:
            return None
        pool = self.catalogue_size - np.diff(self.touched[0])
        return np.repeat(pool, np.diff(self.offsets)).astype(np.int32)


def prepare_contest(
    models: Mapping[str, Scorer],
    split: Split,
    *,
    positive: str | None = None,
    seed: int = 0,
    also: Sequence[npt.ArrayLike] = (),
    users: str = "any",
    also_users: Ints | None = None,
    tested: bool = True,
    partial: bool = False,
) -> Contest:
    """Join the items of train, test and models, and drop and count the rows that cannot be judged.

    Parameters
    ----------
    models : mapping of Scorer
    split : Split
    positive : str, optional
        Condition for positive test rows; by default all are positive.
    seed : int
        Seed of sampled candidates.
    also : sequence of array
        Ids of further items of the catalogue, known to models that do not rank.
    users : {"any", "common", "served"}
        Test users to include: those known to at least one model, or to every model. A user whom a model does not know
        has an empty list there. ``served`` uses the rows of ``any``; each model's users are selected later.
    also_users : array, optional
        Codes of users known to models that have ranked already.
    tested : bool
        Whether test items that are neither in train nor known to a model are in the catalogue, although no model can
        find them. If not, their rows are left out and counted.
    partial : bool
        Whether the split is a part of a larger one, so that no row of it need be judged.

    Raises
    ------
    DataError
        If a model does not fit the split, or no row is left.
    """
    plan = plan_contest(
        models,
        split,
        positive=positive,
        seed=seed,
        also=also,
        users=users,
        also_users=also_users,
        tested=tested,
        partial=partial,
    )
    return plan.contest()


def plan_contest(
    models: Mapping[str, Scorer],
    split: Split,
    *,
    positive: str | None = None,
    seed: int = 0,
    also: Sequence[npt.ArrayLike] = (),
    users: str = "any",
    also_users: Ints | None = None,
    tested: bool = True,
    partial: bool = False,
) -> "ContestPlan":
    """Join the items of train, test and models; parameters as of `prepare_contest`."""
    if users not in USER_RULES:
        raise ConfigError(f"unknown rule users={users!r}{did_you_mean(users, USER_RULES)}")
    joined = join_catalogue(models, split, trained=isinstance(split.rule, Trained), tested=tested, also=also)
    known = _known_users(joined.bindings, split, users, also_users, partial=partial)
    return ContestPlan(
        models, split, joined, known, positive, seed, counts_unknown=bool(models) and not also, partial=partial
    )


@dataclass(frozen=True, eq=False)
class ContestPlan:
    """What the contests of any test users share: the catalogue, and who is known."""

    models: Mapping[str, Scorer]
    split: Split
    joined: JoinedCatalogue
    known: Bools
    positive: str | None
    seed: int
    counts_unknown: bool
    partial: bool = False  # whether the split is a part of a larger one, and need not have a row

    def contest(self, users: Ints | None = None) -> Contest:
        """The contest of some test users, given as ascending codes, or of all.

        That of all users is an error if it has no row. For some users the time does not depend on how many others there
        are.
        """
        split, joined, rule = self.split, self.joined, self.split.rule
        test = split.sorted_test if users is None else split.sorted_test.take(split.test_rows(users))
        is_positive = np.ones(len(test), bool) if self.positive is None else test.holds(self.positive)
        columns = _look_up(joined.places, test.items)
        if isinstance(rule, All | Listed):
            in_train = np.zeros(len(test), bool)
        else:
            in_train = split.test_in_train if users is None else split.in_train(users, test)
        kept, dropped = _keep(test, is_positive, in_train, columns, self.known)
        chosen = slice(None) if kept.all() else kept
        judged, counts = runs_of(test.users[chosen])
        offsets = offsets_of(counts)
        unknown = self._count_unknown(columns[chosen]) if self.counts_unknown else 0
        if users is None and not self.partial:
            _require_rows(kept, dropped, self.models, joined.bindings, split)
            if unknown and unknown == len(columns[chosen]):
                raise _strange_items(unknown)
        listed_offsets, listed, among, outside_of = _restrict(
            rule, split, judged, joined.places, columns[chosen], offsets, len(joined), self.seed
        )
        lengths = np.diff(listed_offsets)
        return Contest(
            rule=rule,
            catalogue_size=len(joined),
            users=judged,
            offsets=offsets,
            items=test.items[chosen],
            columns=columns[chosen],
            listed_offsets=listed_offsets,
            listed=listed,
            among=among,
            candidates=(lengths if among else len(joined) - lengths).astype(np.int32),
            values=None if test.values is None else test.values[chosen],
            bindings=joined.bindings,
            dropped=dropped,
            catalogue_ids=joined.ids,
            user_ids=split.user_vocabulary.ids,
            known_users=self.known,
            unknown_rows=unknown,
            touched=outside_of,
        )

    def _count_unknown(self, columns: Ints) -> int:
        """Number of rows of items that are neither in train nor known to a model."""
        places, catalogue = self.joined.places, self.split.catalogue
        known = np.zeros(len(self.joined), dtype=bool)
        known[places[catalogue][places[catalogue] >= 0]] = True
        for binding in self.joined.bindings.values():
            known |= binding.columns >= 0
        return 0 if known.all() else int(np.sum(~known[columns]))


def _known_users(
    bindings: Mapping[str, Binding], split: Split, rule: str, also: Ints | None, *, partial: bool
) -> Bools:
    """Whether any model, or every model, knows each user; all True if no model has user ids."""
    if not bindings:
        return np.ones(len(split.user_vocabulary), dtype=bool)
    knows = np.stack([binding.rows >= 0 for binding in bindings.values()])
    if rule == "common":
        return np.asarray(knows.all(axis=0))
    tested = split.tested_users
    for name, by_model in zip(bindings, knows, strict=True):
        if not partial and not by_model[tested].any() and (len(bindings) > 1 or also is not None):
            # a single one fails elsewhere
            raise DataError(
                f"model {name!r} knows none of the {len(tested):,} test users; are its user ids (for a built-in "
                "model, those of train) those of the test?"
            )
    known = np.asarray(knows.any(axis=0))
    if also is not None:
        known[also] = True
    return known


def _strange_items(rows: int) -> DataError:
    return DataError(
        f"no test row is left: {rows} test items are neither in train nor known to a model; are the item ids the same?"
    )


def _keep(
    test: Interactions, is_positive: Bools, in_train: Bools, columns: Ints, known: Bools
) -> tuple[Bools, dict[str, int]]:
    kept = is_positive.copy()
    strangers = np.zeros(len(test), bool) if known.all() else kept & ~known[test.users]
    kept &= ~strangers
    seen = kept & in_train
    kept &= ~seen
    outside = kept & (columns < 0)
    kept &= ~outside
    tested = 0 if kept.all() else _count_users(test.users)
    return kept, {
        "items_in_train": int(seen.sum()),
        "items_outside_catalogue": int(outside.sum()),
        "rows_without_rank": 0,
        "rows_of_unknown_users": int(strangers.sum()),
        "users_without_positive": 0 if is_positive.all() else tested - _count_users(test.users[is_positive]),
        "unknown_users": _count_users(test.users[strangers]),
        "users": 0 if kept.all() else tested - _count_users(test.users[kept]),
    }


def _count_users(codes: Ints) -> int:
    """Number of different users among sorted codes."""
    return int(np.count_nonzero(codes[1:] != codes[:-1])) + 1 if len(codes) else 0


def _require_rows(
    kept: Bools,
    dropped: dict[str, int],
    models: Mapping[str, Scorer],
    bindings: Mapping[str, Binding],
    split: Split,
) -> None:
    if kept.any():
        return
    strangers, outside, seen = (
        dropped[why] for why in ("rows_of_unknown_users", "items_outside_catalogue", "items_in_train")
    )
    if strangers and strangers >= max(outside, seen):
        tested = split.tested_users
        least = min(models, key=lambda name: int(np.sum(bindings[name].rows[tested] >= 0)))
        raise DataError(
            f"no test user is left: model {least!r} knows {int(np.sum(bindings[least].rows[tested] >= 0))} of "
            f"{len(tested)}; are its user ids (for a built-in model, those of train) those of the test?"
        )
    if outside and outside >= seen:
        raise _strange_items(outside)
    if seen:
        raise DataError(
            f"no test row is left: {seen} are also in train; use {Option('candidates', 'all')} to keep them"
        )
    raise DataError(f"the test has no positive row; check {Option('positive')} and the rating column")


def _restrict(
    rule: Candidates,
    split: Split,
    users: Ints,
    places: Ints,
    columns: Ints,
    offsets: Ints,
    catalogue_size: int,
    seed: int,
) -> tuple[Ints, Ints, bool, tuple[Ints, Ints] | None]:
    """Return (offsets, places, among, touched): `places` are each user's excluded items or, if `among`, candidates."""
    if isinstance(rule, All):
        return np.zeros(len(users) + 1, np.int64), np.empty(0, np.int32), False, None
    if isinstance(rule, Listed):
        return *rows_of(split.test.by_user, users, places), True, None
    if not isinstance(rule, Sampled):
        return *rows_of(split.train.by_user, users, places), False, None
    from unskew.ranking.seeded_draws import draw_outside, join_rows

    touched = _touched(split, users, places)
    drawn = draw_outside(seed, users, *touched, rule.n, catalogue_size)
    return *join_rows(offsets, columns, *drawn), True, touched if rule.corrected else None


def _touched(split: Split, users: Ints, places: Ints) -> tuple[Ints, Ints]:
    """Offsets and catalogue places of the items that these users have in train, validation or test."""
    from unskew.ranking.seeded_draws import join_rows

    parts = [part for part in (split.train, split.test, split.validation) if part is not None]
    first, *others = (rows_of(part.by_user, users, places) for part in parts)
    for other in others:
        first = join_rows(*first, *other)
    return first


def rows_of(by_user: tuple[Ints, Ints], users: Ints, places: Ints) -> tuple[Ints, Ints]:
    """Offsets and catalogue places of these users' items, without items outside the catalogue."""
    offsets, items = by_user
    if len(users) == len(offsets) - 1:
        chosen, counts = items, np.diff(offsets)
    else:
        counts = offsets[users + 1] - offsets[users]
        chosen = items[spans(offsets[users], counts)]
    in_catalogue = _look_up(places, chosen)
    if in_catalogue is not chosen and (in_catalogue < 0).any():
        owner = np.repeat(np.arange(len(users)), counts)
        counts = np.bincount(owner[in_catalogue >= 0], minlength=len(users))
        in_catalogue = in_catalogue[in_catalogue >= 0]
    return offsets_of(counts), in_catalogue.astype(np.int32)


def _look_up(places: Ints, items: Ints) -> Ints:
    """``places[items]``; the items themselves if every item is its own place."""
    return items if np.array_equal(places, np.arange(len(places))) else places[items]
