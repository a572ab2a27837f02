"""Words of metrics, estimators, propensities, models, intervals and worlds, mutated from their grammar."""

import dataclasses
import math
import random
import typing
from pathlib import Path
from typing import Any

import numpy as np

from families.family import Family, Recipe, Silent
from families.mutations import NUMBERS, TEXTS, change_text, pick
from unskew import Interactions, Split, evaluate
from unskew.data.candidates import Candidates
from unskew.data.frames import parse_condition
from unskew.estimators import Estimator, Interval
from unskew.evaluation import resolve
from unskew.evaluation.settings.rating_scale import Scale
from unskew.metrics import parse_metric
from unskew.metrics.metric import MetricWord
from unskew.models import Model
from unskew.propensities import GammaRange, PropensityModel
from unskew.simulators import ProfileSizes, WorldModel

_FAMILIES: dict[str, Any] = {
    "metric": MetricWord,
    "estimator": Estimator,
    "propensity": PropensityModel,
    "model": Model,
    "interval": Interval,
    "candidates": Candidates,
    "world": WorldModel,
    "sizes": ProfileSizes,
}
_OTHERS = {
    "condition": ("rating>=4", "timestamp < 100", "propensity==0.5", "rating != -1e3"),
    "scale": ("1-5", "0.5-5/0.5", "-3-3", "1-5/4"),
    "gamma": ("gamma=-0.5..1.5", "gamma=1", "gamma=0..2", "gamma=-3..3"),
    "until": ("decided", "width<0.005", "width < 1"),
    "on": ("recall@2:aoa", "recall@2:snips", "recall@2"),
}
_FITTING: dict[Any, tuple[str, ...]] = {
    bool: ("true", "false"),
    int: ("1", "2", "3", "10", "0", "-1", "100"),
    float: ("0", "0.5", "1", "2", "1e-9", "0.1", "-1", "1e6"),
    str: ("a", "popularity", "pareto(scale=1, shape=2, upper=9)", "'x y'", "popular"),
}
"""Values of options by their type."""
_TOKENS = (
    *NUMBERS,
    *TEXTS,
    "(",
    ")",
    ",",
    "=",
    "@",
    "@10",
    "@0",
    ":",
    "..",
    "()",
    "((",
    "os:system",
    "a=b",
    "per=pair",
    "<",
    ">=",
)
_USERS, _ITEMS = 4, 6


class Words(Family):
    name = "words"
    share = 30

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        pairs = [(user, item) for user in range(_USERS) for item in range(_ITEMS) if (user * 5 + item * 3) % 4]
        users, items = np.array(pairs).T
        values = np.array([1.0 + (user + item) % 5 for user, item in pairs])
        log = Interactions.from_arrays(users, items, values, n_users=_USERS, n_items=_ITEMS)
        held = np.arange(len(log)) % 3 == 0
        self.split = Split(log.take(~held), log.take(held))

    def make(self, rng: random.Random) -> Recipe:
        kind = pick(rng, ("metric", "metric", "estimator", "propensity", "model", "world", *_FAMILIES, *_OTHERS))
        if kind in _OTHERS:
            word = pick(rng, _OTHERS[kind])
        else:
            word = printed(rng, _FAMILIES[kind], wild=rng.random() < 0.5)
            if kind == "metric" and rng.random() < 0.7:
                word += f"@{pick(rng, (1, 2, 3, 10, 2147483648, *NUMBERS)) if rng.random() < 0.3 else 2}"
        if rng.random() < 0.3:
            word = change_text(rng, word, _TOKENS)
        if rng.random() < 0.01:
            word = pick(
                rng, ("(" * 3000 + ")" * 3000, "a(" * 2000, "x" * 20_000, "ips(" * 900 + ")" * 900, f"{word}," * 400)
            )
        return {"kind": kind, "word": word, "use": rng.random() < 0.12}

    def attempt(self, recipe: Recipe, folder: Path) -> None:
        kind, word = recipe["kind"], recipe["word"]
        if kind in _OTHERS:
            self._attempt_other(kind, word)
            return
        read = parse_metric if kind == "metric" else _FAMILIES[kind].from_word
        piece: Any = read(word)
        again = read(str(piece))
        same = repr(again) == repr(piece) if "nan" in repr(piece) else again == piece
        if not same or str(again) != str(piece):
            raise Silent(f"{word!r} is {piece!r:.300}, but its word {str(piece)!r:.200} is {again!r:.300}")
        if kind == "metric":
            piece.describe(None)
            resolve(metrics=[piece])
        if recipe["use"]:
            self._use(kind, piece)

    def _attempt_other(self, kind: str, word: str) -> None:
        if kind == "condition":
            self.split.train.holds(word)
            parse_condition(word)
        elif kind == "scale":
            if Scale.parse(str(Scale.parse(word))) != Scale.parse(word):
                raise Silent(f"{word!r} prints as {Scale.parse(word)}")
        elif kind == "gamma":
            if GammaRange.parse(str(GammaRange.parse(word))) != GammaRange.parse(word):
                raise Silent(f"{word!r} prints as {GammaRange.parse(word)}")
        else:
            asked = {"until": "decided", kind: word}
            evaluate(
                {"popular": "popular"},
                self.split,
                metrics=["recall@2"],
                estimators=["aoa", "snips"],
                baselines=False,
                threads=1,
                **asked,
            )

    def _use(self, kind: str, piece: Any) -> None:
        if kind == "world":
            if getattr(piece, "users", 0) <= 2000 and getattr(piece, "items", 0) <= 2000:
                piece.draw(0)
            return
        if kind in {"model", "sizes"}:
            return
        asked: dict[str, Any] = {"metrics": ["recall@2"], "estimators": ["aoa"]}
        if kind == "metric":
            asked |= {"metrics": [piece], "estimators": None}
        elif kind == "estimator":
            asked |= {"estimators": [piece], "metrics": ["auc", "recall@2"]}
        elif kind == "propensity":
            asked |= {"estimators": ["snips"], "propensity": piece}
        elif kind == "interval":
            if getattr(piece, "draws", 0) > 2000:
                return
            asked |= {"interval": piece}
        split = Split(self.split.train, self.split.test, candidates=piece) if kind == "candidates" else self.split
        report = evaluate({"popular": "popular"}, split, baselines=False, threads=1, **asked)
        for row in report.estimates:
            check_estimate(row)
        report.to_json()


def check_estimate(row: Any) -> None:
    """Every number is finite or None, and those of metrics that are shares are between 0 and 1."""
    for name in ("value", "standard_error", "low", "high"):
        number = getattr(row, name, None)
        if number is not None and not math.isfinite(number):
            raise Silent(f"{name} of {row.metric} by {row.estimator} is {number}")
    shares = ("auc", "recall", "ndcg", "mrr", "hit", "precision", "ap", "adg")
    bounded = row.metric.split("@")[0].split("(")[0] in shares and row.estimator.split("(")[0] in {"aoa", "snips"}
    if bounded and row.value is not None and "gain" not in row.metric and not -1e-9 <= row.value <= 1 + 1e-9:
        raise Silent(f"{row.metric} by {row.estimator} is {row.value}")


def printed(rng: random.Random, family: Any, *, wild: bool) -> str:
    """A word of the family with some of its options, of values that fit their types or, when wild, of any."""
    member = pick(rng, family.members())
    hints = typing.get_type_hints(member)
    parts = [f"{key}={value}" for key, value in member.variant]
    for field in dataclasses.fields(member):
        required = field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
        if not field.init or not (required or rng.random() < (0.5 if wild else 0.3)):
            continue
        value = _value(rng, hints[field.name], wild=wild)
        name = field.name.rstrip("_").replace("_", "-")
        parts.append(value if field.name in member.positional and rng.random() < 0.7 else f"{name}={value}")
    return f"{member.word}({', '.join(parts)})" if parts else member.word


def _value(rng: random.Random, hint: Any, *, wild: bool) -> str:
    if wild and rng.random() < 0.4:
        text = pick(rng, (*NUMBERS, *TEXTS, "popularity", "sampled(3)", "from(x.json)", "uniform(items=3)"))
        return f'"{text}"' if rng.random() < 0.3 else text
    kinds = [kind for kind in typing.get_args(hint) if kind is not type(None)] or [hint]
    if typing.get_origin(hint) is typing.Literal:
        return str(pick(rng, kinds))
    if typing.get_origin(kinds[0]) is typing.Literal:
        return str(pick(rng, typing.get_args(kinds[0])))
    return pick(rng, _FITTING.get(kinds[0], _FITTING[str]))
