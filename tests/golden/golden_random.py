"""Random evaluations through the public names, for comparing two checkouts where the cases do not reach.

Each seed gives a small world, a few models of any kind and random settings, many of which are refused. Scores are whole
numbers, so that nothing depends on the last bit of a product.
"""

import json
import warnings
from contextlib import nullcontext
from typing import Any

import numpy as np
import polars as pl

import unskew
from unskew import Interactions, Split, errors, evaluate
from unskew.ranking import MatrixScorer

MEANS = ["recall@1", "recall@3", "recall@10", "adg", "adg@5", "auc", "auc(literal)", "atop"]
SUMS_AND_LISTS = ["dcg", "dcg@3", "precision@2", "precision(of=list)@3", "ndcg@3", "ndcg", "map", "map@3", "mrr"]
LISTS = ["hit@2", "recall(of=min)@2", "auc(of=negatives)"]
RATED = ["mae", "mse", "rmse", "accuracy", "cg@3", "dcg(gain=value)@3"]
OBSERVED = ["aoa", "aoa(per=pair)", "aoa(per=user)", "aoa(per=item)", "snips", "snips(per=user)", "snips(per=balanced)"]
OBSERVED += ["snips(clip=0.3)", "snips(per=item)", "ips", "ips(clip=0.2)"]
EXPOSED = ["traditional", "ure", "ure(literal)", "ure(aggregate=ipw)", "ure(aggregate=ipw, counts=plug-in)"]
EXPOSED += [f"ure(aggregate=pooled{more})" for more in ("", ", reduce=control", ", reduce=monotone")] + ["snips", "aoa"]
RULES = ["unseen", "all", "trained", "listed", "sampled(5)"]
RULES += ["sampled(8, correction=unbiased)", "sampled(8, correction=bias-variance)"]
PROPENSITIES = ["popularity", "popularity(gamma=1)", "popularity(smoothing=0)", "uniform", "column"]


def outcome(seed: int) -> str:
    """JSON, text and for some seeds the page of an evaluation, or the words of its refusal."""
    as_flags = getattr(errors, "spelled_as_flags", nullcontext)  # older checkouts name flags everywhere
    with warnings.catch_warnings(), as_flags():
        warnings.simplefilter("ignore")
        try:
            report = evaluate(**_asked(np.random.default_rng(seed)), seed=seed, threads=1, baselines=False)
        except unskew.UnskewError as error:
            return f"{type(error).__name__}: {error}\n"
        data = json.loads(report.to_json())
        del data["run"]["versions"]
        page = report.to_html() if seed % 7 == 0 else ""
        return "\n".join([json.dumps(data, indent=1), str(report), page])


def _asked(rng: np.random.Generator) -> dict[str, Any]:
    """Models, a split and settings."""
    users, items = int(rng.integers(6, 30)), int(rng.integers(6, 25))
    rated, exposed, declared = rng.random(3) < (0.7, 0.25, 0.5)
    shape = {"n_users": users, "n_items": items} if declared else {}
    seen = rng.random((users, items))
    known, held = seen < rng.uniform(0.2, 0.4), seen > rng.uniform(0.6, 0.85)
    if rng.random() < 0.3:
        known |= held & (rng.random(held.shape) < 0.2)  # rows that are in both parts

    def rows(chosen: np.ndarray, *, chances: bool = False) -> Interactions:
        where = np.nonzero(chosen)
        columns: dict[str, Any] = {"values": rng.integers(1, 6, len(where[0])).astype(float)} if rated else {}
        if chances:
            columns["propensity"] = rng.uniform(0.05, 1, len(where[0]))
        return Interactions.from_arrays(*where, **columns, **shape)

    if exposed:
        drawn = [rng.choice(items, int(rng.integers(1, min(items, 8) + 1)), replace=False) for _ in range(users)]
        owners = np.repeat(np.arange(users), [len(each) for each in drawn])
        labels = (rng.random(len(owners)) < 0.4).astype(float)
        test = Interactions.from_arrays(owners, np.concatenate(drawn), values=labels, **shape)
        split = Split(rows(known), test, candidates="all", exposed=True)
    else:
        rule = str(rng.choice(RULES, p=[0.4, 0.15, 0.1, 0.1, 0.1, 0.08, 0.07]))
        split = Split(rows(known), rows(held, chances=rng.random() < 0.4), candidates=rule)
    models = {f"m{k}": _model(rng, held, rated=bool(rated and not exposed)) for k in range(int(rng.integers(1, 4)))}
    return {"models": models, "split": split, **_settings(rng, users, rated=bool(rated), exposed=bool(exposed))}


def _model(rng: np.random.Generator, held: np.ndarray, *, rated: bool) -> Any:
    users, items = held.shape
    scores = rng.integers(0, int(rng.choice([3, 50])), held.shape).astype(float)
    kind = rng.choice(["matrix", "part", "lists", "popular", "predictions"])
    if kind == "popular":
        return "popular"
    if kind == "predictions" and rated:
        owner, item = np.nonzero(held & (rng.random(held.shape) < rng.choice([0.9, 1.1])))
        return pl.DataFrame({"user": owner, "item": item, "prediction": rng.integers(1, 6, len(item)).astype(float)})
    if kind == "lists":
        length = int(rng.integers(1, items))
        owner = np.repeat(np.arange(users), length)
        item = np.concatenate([rng.choice(items, length, replace=False) for _ in range(users)])
        return pl.DataFrame({"user": owner, "item": item, "score": scores[owner, item]})
    some = [np.sort(rng.choice(n, max(2, int(0.85 * n)), replace=False)) for n in held.shape]
    ids = some if kind == "part" else [np.arange(n) for n in held.shape]
    predicts = rated and bool(rng.random() < 0.4)
    return MatrixScorer(scores[np.ix_(*ids)], user_ids=ids[0], item_ids=ids[1], ratings=predicts)


def _settings(rng: np.random.Generator, users: int, *, rated: bool, exposed: bool) -> dict[str, Any]:
    families = [MEANS, MEANS, [*MEANS, *SUMS_AND_LISTS, *LISTS], *([RATED, [*MEANS, *RATED]] if rated else [])]
    family = families[int(rng.integers(len(families)))]
    choices: dict[str, tuple[float, Any]] = {
        "metrics": (0.9, lambda: [str(word) for word in rng.choice(family, int(rng.integers(1, 5)), replace=False)]),
        "estimators": (0.5, lambda: [str(word) for word in rng.choice(EXPOSED if exposed else OBSERVED, 2)]),
        "propensity": (0.4, lambda: str(rng.choice(PROPENSITIES))),
        "positive": (0.4 * rated, lambda: "rating>=3"),
        "ties": (0.3, lambda: str(rng.choice(["optimistic", "pessimistic", "random", "ordinal"]))),
        "users": (0.4, lambda: str(rng.choice(["common", "served"]))),
        "interval": (0.3, lambda: str(rng.choice(["bootstrap(20)", "observation"]))),
        "unlisted": (0.2, lambda: "tied"),
        "allow_missing": (0.3, lambda: True),
        "assume": (0.2, lambda: "gamma=-0.5..1.5"),
        "relevant": (0.25, lambda: {user: int(rng.integers(20, 30)) for user in range(users)}),
        "level": (0.3, lambda: 0.8),
    }
    return {name: make() for name, (share, make) in choices.items() if rng.random() < share}
