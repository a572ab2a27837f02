"""Definitions written as plain loops: metrics, ranks and estimators; the package must agree with them.

A ranking is a sequence of booleans, best place first: is the candidate at this place relevant? ``listed`` is the number
of places that the model filled itself; what comes after them was not recommended.
"""

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeAlias

import numpy as np

from unskew.arrays import Bools, Floats
from unskew.estimators import Aoa, Estimator, Ips, Rows, Snips
from unskew.testing.worlds.integer_worlds import IntegerWorld, Pair, Row

Ranking: TypeAlias = Sequence[bool]
Oracle: TypeAlias = Callable[[Ranking, int | None, int], float]


def hit_ranks(ranking: Ranking, k: int | None, listed: int) -> list[int]:
    """Return the 1-based ranks of the relevant items that count."""
    ranks = []
    for place, relevant in enumerate(ranking):
        if relevant and (k is None or (place < k and place < listed)):
            ranks.append(place + 1)
    return ranks


def _per_item(worth: Callable[[int, int], float], *, mean: bool) -> Oracle:
    def value(ranking: Ranking, k: int | None, listed: int) -> float:
        total = 0.0
        for rank in hit_ranks(ranking, k, listed):
            total += worth(rank, len(ranking))
        return total / sum(ranking) if mean else total

    return value


def _precision(ranking: Ranking, k: int | None, listed: int) -> float:
    return len(hit_ranks(ranking, k, listed)) / _required(k)


def _precision_of_list(ranking: Ranking, k: int | None, listed: int) -> float:
    return len(hit_ranks(ranking, k, listed)) / max(min(_required(k), listed), 1)


def _required(k: int | None) -> int:
    if k is None:
        raise ValueError("this metric needs a cut-off")
    return k


def _ndcg(discount: Callable[[int], float], *, cut: bool) -> Oracle:
    def value(ranking: Ranking, k: int | None, listed: int) -> float:
        size = sum(ranking)
        if cut and k is not None and k < size:
            size = k
        ideal = 0.0
        for rank in range(1, size + 1):
            ideal += discount(rank)
        gained = 0.0
        for rank in hit_ranks(ranking, k, listed):
            gained += discount(rank)
        return gained / ideal

    return value


def _standard(rank: int) -> float:
    return 1 / math.log2(rank + 1)


def _lenskit(rank: int) -> float:
    return 1 / max(math.log2(rank), 1)


def _average_precision(*, smaller: bool) -> Oracle:
    def value(ranking: Ranking, k: int | None, listed: int) -> float:
        total = 0.0
        for hits, rank in enumerate(hit_ranks(ranking, k, listed), start=1):
            total += hits / rank
        relevant = sum(ranking)
        return total / (min(k, relevant) if smaller and k is not None else relevant)

    return value


def _reciprocal_rank(ranking: Ranking, k: int | None, listed: int) -> float:
    ranks = hit_ranks(ranking, k, listed)
    return 1 / ranks[0] if ranks else 0.0


def _hit(ranking: Ranking, k: int | None, listed: int) -> float:
    return float(bool(hit_ranks(ranking, k, listed)))


def _recall_of_min(ranking: Ranking, k: int | None, listed: int) -> float:
    return len(hit_ranks(ranking, k, listed)) / min(_required(k), sum(ranking))


def _pairs_in_order(ranking: Ranking, k: int | None, listed: int) -> float:
    right, pairs = 0, 0
    for place, relevant in enumerate(ranking):
        for below, other in enumerate(ranking):
            if relevant and not other:
                pairs += 1
                right += below > place
    return right / pairs if pairs else math.nan


METRICS: dict[str, Oracle] = {
    "auc": _per_item(lambda rank, n: 1 - (rank - 1) / n, mean=True),
    "auc(literal)": _per_item(lambda rank, n: 1 - rank / n, mean=True),
    "auc(of=negatives)": _pairs_in_order,
    "atop": _per_item(lambda rank, n: 1 - (rank - 1) / (n - 1) if n > 1 else 1.0, mean=True),
    "adg": _per_item(lambda rank, n: _standard(rank), mean=True),
    "dcg": _per_item(lambda rank, n: _standard(rank), mean=False),
    "recall": _per_item(lambda rank, n: 1.0, mean=True),
    "recall(of=min)": _recall_of_min,
    "precision": _precision,
    "precision(of=list)": _precision_of_list,
    "hit": _hit,
    "map": _average_precision(smaller=False),
    "map(of=min)": _average_precision(smaller=True),
    "mrr": _reciprocal_rank,
    "ndcg": _ndcg(_standard, cut=True),
    "ndcg(ideal=all)": _ndcg(_standard, cut=False),
    "ndcg(discount=lenskit)": _ndcg(_lenskit, cut=True),
    "ndcg(discount=lenskit, ideal=all)": _ndcg(_lenskit, cut=False),
    # graded ones, where what is relevant is rated 1 and all else 0
    "cg": _precision_of_list,
    "dcg(gain=value)": _per_item(lambda rank, n: _standard(rank), mean=False),
    "precision(gain=value)": _precision,
    "precision(gain=value, of=list)": _precision_of_list,
}


def _half_up(number: float) -> int:
    whole = math.floor(number)
    return whole + 1 if number - whole >= 0.5 else whole


LOSSES: dict[str, Callable[[float, float], float]] = {
    "mae": lambda rating, predicted: abs(rating - predicted),
    "mse": lambda rating, predicted: (rating - predicted) * (rating - predicted),
    "rmse": lambda rating, predicted: (rating - predicted) * (rating - predicted),
    "accuracy": lambda rating, predicted: 1.0 if rating == predicted else 0.0,
    "accuracy(rounded)": lambda rating, predicted: 1.0 if rating == _half_up(predicted) else 0.0,
}


def tie_orders(scores: Sequence[int], relevant: Sequence[bool]) -> Iterator[list[bool]]:
    """Yield every ranking that these scores allow, each as likely as any other.

    Inside a tie group all choices of places for the relevant items are equally likely.
    """
    patterns = []
    for score in sorted(set(scores), reverse=True):
        group = [r for s, r in zip(scores, relevant, strict=True) if s == score]
        places = itertools.combinations(range(len(group)), sum(group))
        patterns.append([[place in chosen for place in range(len(group))] for chosen in places])
    for choice in itertools.product(*patterns):
        yield [relevant for group in choice for relevant in group]


def gamma_of_pairs(levels: Sequence[float], f: Sequence[float]) -> float:
    """Return gamma summed over all pairs of popularity levels, as Yang et al. 2018 print it."""
    above = below = 0.0
    for (x, f_x), (y, f_y) in itertools.combinations(list(zip(levels, f, strict=True)), 2):
        above += math.log(f_y / f_x) * math.log(y / x)
        below += math.log(y / x) ** 2
    return above / below


def candidates_of(world: IntegerWorld, user: int, rule: str) -> list[int]:
    """Return the items that a held-out item of the user is ranked among."""
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


def slow_rows(world: IntegerWorld, rule: str, ties: str) -> list[Row]:
    """Return the rank of each held-out row that can be judged."""
    rows = []
    for user, item in sorted(world.test):
        candidates = candidates_of(world, user, rule)
        if item in candidates:
            rows.append((user, item, *slow_rank(world.scores[user], item, candidates, ties), len(candidates)))
    return rows


def slow_rank(scores: Iterable[float], item: int, candidates: Iterable[int], ties: str) -> Pair:
    """Return how many candidates are above, as the policy counts them, and how many others are tied."""
    row = list(scores)
    above = tied = before = 0
    for other in candidates:
        if row[other] > row[item]:
            above += 1
        elif other != item and row[other] == row[item]:
            tied += 1
            before += other < item
    return above + {"pessimistic": tied, "ordinal": before}.get(ties, 0), tied


FORMS: list[Estimator] = [
    Aoa(), Aoa(per="pair"), Aoa(per="user"), Aoa(per="item"), Ips(), Ips(clip=0.4),
    Snips(), Snips(per="balanced"), Snips(per="user"), Snips(per="item"), Snips(clip=0.4), Snips(per="item", clip=0.7),
]  # fmt: skip
"""The forms of the estimators that `estimate_by_loops` and `estimate_by_users` know."""


def sizes_of(rows: Rows) -> Floats:
    """Return s of each row."""
    return np.ones(len(rows)) if rows.size is None else rows.size


def estimate_by_loops(estimator: Estimator, rows: Rows) -> float:
    """Return the value over all pairs, row by row."""
    everything, weight, sizes = range(len(rows)), _inverse(estimator, rows), sizes_of(rows)
    if isinstance(estimator, Ips):
        return float(sum(weight[r] * rows.worth[r] for r in everything) / sum(_total(rows).tolist()))
    per = _per(estimator)
    group = {"pair": np.zeros(len(rows), int), "item": rows.item}.get(per, rows.user)
    assert group is not None
    above, below, ratios = [], [], []
    for which in sorted(set(group.tolist())):
        members = [r for r in everything if group[r] == which]
        gained = sum(weight[r] * rows.worth[r] for r in members)
        size = sum(weight[r] * sizes[r] for r in members)
        above.append(gained / len(members))
        below.append(size / len(members))
        ratios.append(gained / size)
    return float(sum(above) / sum(below) if per == "balanced" else sum(ratios) / len(ratios))


def estimate_by_users(estimator: Estimator, rows: Rows, user_weight: Floats) -> float:
    """Return the value over all pairs when each user counts `user_weight` times; users without a row come last."""
    each, weight = user_weight[rows.user], np.array(_inverse(estimator, rows))
    if isinstance(estimator, Ips):
        return float(np.sum(each * weight * rows.worth) / np.sum(user_weight * _total(rows)))
    per = _per(estimator)
    if per == "user":
        ratios = [_ratio(rows, weight, rows.user == user) for user in range(rows.n_users)]
        return float(np.average(ratios, weights=user_weight[: len(ratios)]))
    if per == "item":
        assert rows.item is not None
        return float(np.mean([_ratio(rows, each * weight, rows.item == item) for item in np.unique(rows.item)]))
    if per == "balanced":
        weight = weight / np.bincount(rows.user)[rows.user]
    return _ratio(rows, each * weight, np.ones(len(rows), bool))


def _inverse(estimator: Estimator, rows: Rows) -> list[float]:
    """One over the clipped propensity of each row; 1 for the naive average."""
    if isinstance(estimator, Aoa):
        return [1.0] * len(rows)
    chances = rows.chance.tolist()
    floor = getattr(estimator, "clip", 0.0) * max(chances)
    return [1 / max(chance, floor) for chance in chances]


def _per(estimator: Estimator) -> str:
    per = str(getattr(estimator, "per"))  # noqa: B009 - of the forms above, all but ips have it
    return "pair" if per == "auto" else per


def _total(rows: Rows) -> Floats:
    assert rows.total is not None
    return rows.total


def _ratio(rows: Rows, weight: Floats, which: Bools) -> float:
    return float(np.sum(weight[which] * rows.worth[which]) / np.sum(weight[which] * sizes_of(rows)[which]))


def content_value(word: str, lists: list[list[int]], counts: list[int], n_users: int) -> float:
    """Return a metric of what is in the lists, by plain loops; every list has an item.

    Parameters
    ----------
    word : str
        Such as ``coverage@10``; its cut-off is not applied.
    lists : list of list of int
        The items of each user.
    counts : list of int
        Number of training users of each item of the catalogue.
    n_users : int
        Number of training users.
    """
    exposure = [sum(item in each for each in lists) for item in range(len(counts))]
    if word.startswith("coverage"):
        return sum(times > 0 for times in exposure) / len(counts)
    if word.startswith("gini"):
        gaps = sum(abs(a - b) for a in exposure for b in exposure)
        return gaps / (2 * len(counts) * sum(exposure))
    if word.startswith("novelty"):
        worth = [-math.log2(max(count, 1) / n_users) for count in counts]
    elif word.startswith("popularity"):
        worth = [float(count) for count in counts]
    else:
        worth = _head(word, counts)
    return sum(sum(worth[item] for item in each) / len(each) for each in lists) / len(lists)


def _head(word: str, counts: list[int]) -> list[float]:
    """Return how far each item belongs to the head: the mean over the orders of equal counts."""
    share = float(word.split("share=")[1].split(")", maxsplit=1)[0]) if "share=" in word else 0.2
    size, rows = 0, 0
    for count in sorted(counts, reverse=True):
        if (size >= share * len(counts) - 1e-9) if "rows" not in word else (rows >= share * sum(counts) - 1e-9):
            break
        size, rows = size + 1, rows + count
    edge = sorted(counts, reverse=True)[size - 1]
    above, level = sum(count > edge for count in counts), sum(count == edge for count in counts)
    return [1.0 if count > edge else (size - above) / level if count == edge else 0.0 for count in counts]
