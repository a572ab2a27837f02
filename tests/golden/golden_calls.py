"""Golden cases in Python, through the names of the packages that users import from."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import polars as pl

import unskew
from unskew import Interactions, Predictions, Ranks, Split, audit, compare
from unskew.data import (
    count_train_only,
    densify,
    exposed_from_frame,
    find_population,
    read_catalogue,
    split_fractions,
    split_leave_one_out,
    split_per_user,
    split_temporal,
    with_items,
)
from unskew.data import test_propensity as propensity_in_test  # pytest must not take it for a test
from unskew.estimators import (
    ExposurePlan,
    erm_bound,
    exposures_needed,
    holm,
    interval_width,
    ips_bias,
    ips_variance,
    misspecified_bound,
    normal_quantile,
    p_value,
    recall_variance,
    student_p,
    tail_bound,
)
from unskew.metrics import expected_average_precision, expected_move, list_metrics, ndcg_shrinkage, parse_metric
from unskew.ranking import (
    CallableScorer,
    ItemItemScorer,
    MatrixScorer,
    count_top,
    prepare_contest,
    rank,
    read_factors,
    read_predictions,
    read_scores,
    top_lists,
)

evaluate = partial(unskew.evaluate, baselines=False)  # most calls are about the models alone
METRICS = ["recall@5", "adg", "ndcg@5", "map", "precision@5"]


def _split(**more: Any) -> Split:
    return Split(Interactions.read("train.csv"), Interactions.read("test.csv"), **more)


def _columns(ranks: Ranks) -> dict[str, Any]:
    return {name: getattr(ranks, name).tolist() for name in ("users", "items", "above", "tied", "candidates")}


def ranks_of_models() -> dict[str, Any]:
    """Where held-out items landed, by a model of factors, a table and lists."""
    split = _split()
    models = {"one": read_factors("one.npz"), "dense": read_scores("dense.csv"), "lists": read_scores("lists.csv")}
    contest = prepare_contest(models, split)
    return {name: _columns(rank(model, contest, name=name)) for name, model in models.items()}


def saved_ranks() -> dict[str, Any]:
    """Ranks that were written and read again are judged like the model."""
    split = _split()
    model = read_factors("one.npz")
    ranks = rank(model, prepare_contest({"one": model}, split), name="one")
    ranks.save("ranks.npz")
    return evaluate(
        {"one": Ranks.load("ranks.npz"), "popular": "popular"}, split, metrics=METRICS, propensity="popularity"
    ).to_dict()


def scorers() -> dict[str, Any]:
    """Every ready-made scorer on one split."""
    split = _split()
    users, items = split.train.user_vocabulary.ids, split.train.item_vocabulary.ids
    n_users, n_items = len(users), len(items)
    scores = np.add.outer(np.arange(n_users) * 7 % 11, np.arange(n_items) * 5 % 13) % 9
    similar = (np.add.outer(np.arange(n_items), np.arange(n_items)) % 5).astype(float)
    models = {
        "matrix": MatrixScorer(scores.astype(float), user_ids=users, item_ids=items),
        "called": CallableScorer(lambda asked: scores[asked].astype(float), users, items),
        "similar": ItemItemScorer(split.train.to_sparse(), similar, user_ids=users, item_ids=items),
        "lists": pl.read_csv("lists.csv"),
    }
    return evaluate(models, split, metrics=["recall@5", "auc"], estimators=["aoa(per=pair)", "snips"]).to_dict()


def compared() -> dict[str, Any]:
    """A run set beside another in Python, where the ranks of both are at hand."""
    train, models = Interactions.read("train.csv"), {"one": read_factors("one.npz"), "dense": read_scores("dense.csv")}
    runs = [
        evaluate(models, Split(train, Interactions.read(f"{name}.csv")), metrics=METRICS, estimators=["aoa"])
        for name in ("test_half", "test")
    ]
    return compare(runs[1], runs[0]).to_dict()


def predicted() -> dict[str, Any]:
    """Ratings predicted by a table, a frame and a scorer."""
    split = Split(Interactions.read("rated_train.csv"), Interactions.read("rated_test.csv"), candidates="all")
    guesses = np.add.outer(np.arange(40) % 3, np.arange(24) % 3) + 1.0
    models = {
        "file": read_predictions("near.csv"),
        "frame": Predictions.from_frame(pl.read_csv("high.csv"), split),
        "scorer": MatrixScorer(guesses, user_ids=range(40), item_ids=range(24), ratings=True),
    }
    return evaluate(models, split, metrics=["mae", "mse"], estimators=["aoa", "snips"], propensity="column").to_dict()


def exposed() -> dict[str, Any]:
    """An exposed test put together by hand."""
    train = with_items(Interactions.read("train.csv"), read_catalogue("catalogue.csv"))
    drawn = exposed_from_frame(pl.read_csv("exposed_unseen.csv"))
    population = find_population("auto", train, drawn)
    split = Split(train, drawn, candidates=population.rule, exposed=True)
    report = evaluate({"one": read_factors("one.npz"), "popular": "popular"}, split, metrics=["recall@5", "ndcg@5"])
    return {"why": population.why, **report.to_dict()}


def audited() -> dict[str, Any]:
    """The audit of a log with a model."""
    found = audit(
        Interactions.read("train.csv"), {"one": read_factors("one.npz")}, test=Interactions.read("test.csv"), k=5
    )
    return found.to_dict()


def splits() -> dict[str, Any]:
    """Every splitter: which rows went where."""
    log = Interactions.read("log.csv")
    made = {
        "fractions": split_fractions(log, (60, 20, 20), rng=1),
        "two": split_fractions(log, (80, 20), rng=2),
        "per-user": split_per_user(log, 0.2, validation=0.1, least=6, rng=1),
        "leave-one-out": split_leave_one_out(log, rng=1),
        "temporal": split_temporal(log, 0.25),
    }
    told = {
        name: {
            "made": split.origin,
            "test": [split.test.users.tolist(), split.test.items.tolist()],
            "validation": 0 if split.validation is None else len(split.validation),
            "propensity": None if split.test.propensity is None else float(split.test.propensity.sum()),
            "train_only": count_train_only(split),
        }
        for name, split in made.items()
    }
    chances = propensity_in_test(np.array([0.1, 0.5, 1.0]), 0.7, 0.2)
    return {**told, "propensity": chances.tolist()}


def dense_part() -> dict[str, Any]:
    """The dense part of a log."""
    found = densify(Interactions.read("log.csv"), user_least=6, item_least=6)
    return {"repr": repr(found), "users": found.log.users.tolist(), "items": found.log.items.tolist()}


def recommended() -> dict[str, Any]:
    """Top lists, and how often each item is in one."""
    split, model = _split(), read_scores("dense.csv")
    lists = top_lists(model, split, 3)
    counts = count_top(model, split, 3)
    return {
        "lists": {key: np.asarray(each).tolist() for key, each in vars(lists).items() if isinstance(each, np.ndarray)},
        "counts": {
            key: np.asarray(each).tolist() for key, each in vars(counts).items() if isinstance(each, np.ndarray)
        },
    }


def moves() -> dict[str, Any]:
    """What metrics do when half of the positives are missing."""
    split, model = _split(), read_factors("two.npz")
    ranks = rank(model, prepare_contest({"two": model}, split), name="two")
    words = (
        "recall@5",
        "adg",
        "auc",
        "dcg@5",
        "precision@5",
        "ndcg",
        "ndcg@5",
        "map",
        "mrr",
        "hit@5",
        "recall(of=min)@5",
    )
    found = {word: expected_move(word, ranks, share=0.5) for word in words}
    return {
        "moves": {word: [move.before, move.after, move.ratio, move.users] for word, move in found.items()},
        "shrinkage": ndcg_shrinkage(8, 4),
        "precision": expected_average_precision([0, 2, 5], 2),
    }


def metric_words() -> dict[str, Any]:
    """The gain of a held-out item by how many stand above it, for every metric that has one."""
    above, candidates = np.array([0, 1, 2, 4, 9, 19]), np.full(6, 20)
    words = ("recall@5", "adg", "adg@5", "auc", "auc(literal)", "atop", "dcg", "dcg@5", "precision@5")
    gains = {str(parse_metric(word)): parse_metric(word).gain(above, candidates).tolist() for word in words}
    return {"gains": gains, "entries": [[entry.form, entry.kind] for entry in list_metrics()]}


def formulas() -> dict[str, Any]:
    """Bounds, tests and plans: numbers in, numbers out."""
    loss, chance, assumed = np.array([1.0, 2, 0, 3]), np.array([0.5, 0.25, 1, 0.125]), np.array([0.5, 0.5, 0.5, 0.25])
    choice = {"largest_loss": 4.0, "hypotheses": 10, "eta": 0.1}
    plan = ExposurePlan(1400, 2000, 0.1, 0.05)
    return {
        "bounds": [
            tail_bound(loss, chance, 0.1),
            erm_bound(1.2, chance, **choice),
            misspecified_bound(1.2, chance, assumed, **choice),
        ],
        "ips": [ips_variance(loss, chance), ips_bias(loss, chance, assumed)],
        "tests": [normal_quantile(0.95), p_value(0.2, 0.1), student_p(0.04, 12.0)],
        "holm": holm({"a": 0.01, "b": 0.04, "c": None, "d": 0.03}),
        "plan": [
            plan.width(20),
            plan.std_error(20),
            plan.needed(0.02),
            plan.needed_to_detect(0.02),
            *plan.variances(20),
        ],
        "recall_variance": recall_variance(0.2, 4, 10),
        "width": interval_width(20, users=1400, population=2000, recall=0.1, positives=100),
        "needed": exposures_needed(0.02, users=1400, population=2000, recall=0.1, positives=100),
    }


CALLS: dict[str, Callable[[], Any]] = {
    "python-ranks": ranks_of_models,
    "python-saved-ranks": saved_ranks,
    "python-scorers": scorers,
    "python-compared": compared,
    "python-predicted": predicted,
    "python-exposed": exposed,
    "python-audit": audited,
    "python-splits": splits,
    "python-dense-part": dense_part,
    "python-top-lists": recommended,
    "python-moves": moves,
    "python-metric-words": metric_words,
    "python-formulas": formulas,
}
