"""Definitions written with loops, slow and plain; the package must agree with them.

A ranking is a sequence of booleans, best place first: is the candidate at this place relevant? ``listed``
says how many of the places the model filled itself; what comes after it was not recommended.
"""

import itertools
import math
from collections.abc import Callable, Iterator, Sequence

Ranking = Sequence[bool]
Oracle = Callable[[Ranking, int | None, int], float]


def hit_ranks(ranking: Ranking, k: int | None, listed: int) -> list[int]:
    """1-based ranks of the relevant items that count."""
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


def _precision(ranking: Ranking, k: int, listed: int) -> float:
    return len(hit_ranks(ranking, k, listed)) / k


def _precision_of_list(ranking: Ranking, k: int, listed: int) -> float:
    return len(hit_ranks(ranking, k, listed)) / max(min(k, listed), 1)


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


def _hit(ranking: Ranking, k: int, listed: int) -> float:
    return float(bool(hit_ranks(ranking, k, listed)))


def _recall_of_min(ranking: Ranking, k: int, listed: int) -> float:
    return len(hit_ranks(ranking, k, listed)) / min(k, sum(ranking))


def _pairs_in_order(ranking: Ranking, k: None, listed: int) -> float:
    right, pairs = 0, 0
    for place, relevant in enumerate(ranking):
        for below, other in enumerate(ranking):
            if relevant and not other:
                pairs += 1
                right += below > place
    return right / pairs if pairs else math.nan


ORACLES: dict[str, Oracle] = {
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


LOSS_ORACLES: dict[str, Callable[[float, float], float]] = {
    "mae": lambda rating, predicted: abs(rating - predicted),
    "mse": lambda rating, predicted: (rating - predicted) * (rating - predicted),
    "rmse": lambda rating, predicted: (rating - predicted) * (rating - predicted),
    "accuracy": lambda rating, predicted: 1.0 if rating == predicted else 0.0,
    "accuracy(rounded)": lambda rating, predicted: 1.0 if rating == _half_up(predicted) else 0.0,
}


def tie_orders(scores: Sequence[int], relevant: Sequence[bool]) -> Iterator[list[bool]]:
    """Every ranking these scores allow, each as likely as any other.

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
    """Gamma summed over all pairs of popularity levels, as Yang et al. 2018 print it."""
    above = below = 0.0
    for (x, f_x), (y, f_y) in itertools.combinations(list(zip(levels, f, strict=True)), 2):
        above += math.log(f_y / f_x) * math.log(y / x)
        below += math.log(y / x) ** 2
    return above / below
