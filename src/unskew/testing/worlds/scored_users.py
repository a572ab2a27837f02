"""Users with few candidates and many ties, and their ranks as the metrics read them."""

import dataclasses
import itertools
import typing
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from unskew.arrays import Floats, Ints
from unskew.metrics import ListMetric, Metric, MetricWord, UserLists, parse_metric
from unskew.ranking import Ranks


@dataclass(frozen=True)
class ScoredUser:
    """The scores of a user's candidates, and which of them are relevant; a score of 0 means that it is not listed."""

    scores: tuple[int, ...]
    relevant: tuple[bool, ...]

    @property
    def listed(self) -> int:
        """Number of candidates that the model listed."""
        return sum(score > 0 for score in self.scores)

    def ranks(self) -> tuple[list[int], list[int]]:
        """Return how many candidates are above and tied with each relevant item."""
        positives = [s for s, r in zip(self.scores, self.relevant, strict=True) if r]
        above = [sum(other > score for other in self.scores) for score in positives]
        tied = [self.scores.count(score) - 1 for score in positives]
        return above, tied

    def parts(self, size: int) -> "list[ScoredUser]":
        """Return the user with each choice of `size` relevant items; the others stay candidates."""
        places = [place for place, relevant in enumerate(self.relevant) if relevant]
        chosen = itertools.combinations(places, size)
        return [ScoredUser(self.scores, tuple(i in part for i in range(len(self.scores)))) for part in chosen]


def rows_of(users: list[ScoredUser], policy: str = "expected") -> tuple[Ints, Ints, Ints, Ints, Ints]:
    """Return offsets, above, tied, candidates and listed, resolved by the policy."""
    above, tied, candidates, listed = [], [], [], []
    offsets = [0]
    for user in users:
        a, t = user.ranks()
        above += a
        tied += t
        candidates += [len(user.scores)] * len(a)
        listed += [user.listed] * len(a)
        offsets.append(len(above))
    a_, t_ = np.array(above), np.array(tied)
    if policy != "expected":
        a_ = a_ + (t_ if policy == "pessimistic" else 0)
        t_ = np.zeros_like(t_)
    return np.array(offsets), a_, t_, np.array(candidates), np.array(listed)


def ranks_of(users: list[ScoredUser], *, top_n: bool = False) -> Ranks:
    """Return the ranks of the relevant items, as if a model had been ranked."""
    offsets, above, tied, candidates, listed = rows_of(users)
    counts = np.diff(offsets)
    items = np.arange(offsets[-1]) - np.repeat(offsets[:-1], counts)
    return Ranks(
        np.repeat(np.arange(len(users)), counts), items, above, tied, candidates, listed=listed if top_n else None
    )


def user_values(
    metric: Metric | ListMetric, users: list[ScoredUser], *, policy: str = "expected", top_n: bool = False
) -> Floats:
    """Return one value per user, a mean or a sum over rows where the metric is one.

    For a graded metric every relevant item is rated 1 and every other 0, which adds nothing to a sum.
    """
    offsets, above, tied, candidates, listed = rows_of(users, policy)
    given = listed if top_n else None
    lists = UserLists.from_rows(offsets, above, tied, candidates, given, policy=policy)
    if isinstance(metric, ListMetric):
        return metric.values(lists)
    gains = metric.row_gains(above, tied, candidates, given)
    sums = np.add.reduceat(gains, offsets[:-1])
    return sums / lists.relevant if metric.kind == "mean" else sums


def placed_user(places: Iterable[int], n: int) -> ScoredUser:
    """Return a user without ties whose relevant items have these places, from 0, among n candidates."""
    wanted = set(places)
    return ScoredUser(tuple(range(n, 0, -1)), tuple(place in wanted for place in range(n)))


def random_users(n: int, rng: np.random.Generator, max_items: int = 7, max_score: int = 3) -> list[ScoredUser]:
    """Return users with few candidates, many ties and at least one relevant item.

    The first two are edge cases: one candidate, and candidates that are all tied.
    """
    users = [ScoredUser((1,), (True,)), ScoredUser((1,) * 5, (True, True, False, False, False))]
    while len(users) < n:
        size = int(rng.integers(1, max_items + 1))
        relevant = rng.random(size) < 0.5
        relevant[rng.integers(size)] = True
        users.append(ScoredUser(tuple(rng.integers(0, max_score + 1, size).tolist()), tuple(relevant.tolist())))
    return users[:n]


def from_ranks(ranks: list[int], n: int) -> UserLists:
    """Return the list of one user without ties whose relevant items have these 1-based ranks."""
    above = np.array(ranks) - 1
    return UserLists.from_rows(np.array([0, len(ranks)]), above, np.zeros_like(above), np.full_like(above, n))


def all_forms() -> list[str]:
    """Return every registered metric with every choice of its options, without cut-off.

    Metrics that need more than ranks of held-out items are left out: what is in the lists, and training counts.
    """
    forms = []
    for member in MetricWord.members():
        if member.kind in {"content", "scored"}:
            continue
        hints = typing.get_type_hints(member)
        fields = [field for field in dataclasses.fields(member) if field.init]
        choices = [typing.get_args(hints[field.name]) or (False, True) for field in fields]
        names = [field.name for field in fields]
        forms += [str(member(**dict(zip(names, values, strict=True)))) for values in itertools.product(*choices)]
    return forms


def all_words(cutoffs: tuple[int, ...] = (1, 3, 10)) -> list[str]:
    """Return every form with every cut-off that it takes."""
    words = []
    for form in all_forms():
        takes = MetricWord.from_word(form).takes_cutoff
        words += [] if takes == "required" else [form]
        words += [] if takes == "never" else [f"{form}@{k}" for k in cutoffs]
    return words


def ranking_words(cutoffs: tuple[int, ...] = (1, 3, 10)) -> list[str]:
    """Return every word of a metric that ranks; the others are losses of predicted ratings."""
    return [word for word in all_words(cutoffs) if parse_metric(word).kind != "loss"]
