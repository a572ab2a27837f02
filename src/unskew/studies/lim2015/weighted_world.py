"""`Draw`, `run_trial`: the demo's marketplace with validation rows, and training with and without weights.

A log whose propensities are known, everything it hides, the ways to train on it, and what is true of the models that
validation chooses.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias

import numpy as np

from unskew.arrays import Bools, Floats
from unskew.data import Split
from unskew.evaluation import Report, evaluate
from unskew.evaluation.fitting.propensities import training_propensity
from unskew.models import MfAdg, MfAuc, Model, PairwiseModel
from unskew.propensities import PropensityModel
from unskew.ranking import Scorer
from unskew.ranking.engines.threads import Threads
from unskew.simulators import Marketplace, World
from unskew.studies.framework.study import Context, Size

HELD, VALIDATION = 0.4, 0.5
"""Share of the log that is held out, and share of that which is for validation; the rest is the test."""
HEAD = 0.05
"""Share of the catalogue that counts as its head."""
KNOWN = "column"
"""The word for the world's own propensities."""
FACTORS, STEPS, RATE = Size(16), Size(1_000_000), 0.1
PENALTIES: Size[tuple[float, ...]] = Size((0.05, 0.1, 0.2, 0.3, 0.5), (0.1, 0.3))
METRIC = "adg"
ASSUMED = ("popularity", "popularity(gamma=1)", KNOWN)
"""Propensities that ADG is estimated with on the test rows."""
YARDSTICKS = ("random", "popular", "als(factors=8)")

Per: TypeAlias = Literal["user", "pair"]
Choice: TypeAlias = Literal["aoa", "own", "known"]
NAIVE: Literal["aoa"] = "aoa"


@dataclass(frozen=True, eq=False)
class Draw:
    """A log of a marketplace in three parts, with its truth.

    Validation rows are candidates and count for the truth: what is relevant outside train is the target of either part.

    Held-out rows have P(in this part | candidate), and `exposure` is the chance of a relevant pair to be in the log.
    """

    world: World
    split: Split
    exposure: Floats

    @classmethod
    def of(cls, model: Marketplace, rng: np.random.Generator) -> "Draw":
        """Draw a world and split what it holds out by lot."""
        world = model.draw(rng)
        held, share = world.test, model.holdout
        assert held.propensity is not None
        # h P / (1 - (1 - h) P), turned around
        seen = held.propensity / (share + (1 - share) * held.propensity)
        exposure = np.full(world.n_items, seen.min())  # an item without a held-out row is shown as little as any
        exposure[held.items] = seen
        chosen = rng.random(len(held)) < VALIDATION
        test, validation = (
            held.take(rows).with_propensity(held.propensity[rows] * of_held)
            for rows, of_held in ((~chosen, 1 - VALIDATION), (chosen, VALIDATION))
        )
        return cls(world, Split(world.train, test, validation, origin=world.origin), exposure)

    def training(self, word: str) -> Floats:
        """Propensities of the training rows: by the world, or by a model of them fitted on these rows."""
        if word == KNOWN:
            return np.asarray(self.exposure[self.split.train.items])
        return training_propensity(PropensityModel.from_word(word), self.split.train, scaled=False)

    @cached_property
    def head(self) -> Bools:
        """Which items are the 5 % that are shown most; among equals, those that come first."""
        order = np.argsort(-self.exposure, kind="stable")
        chosen = np.zeros(len(order), dtype=bool)
        chosen[order[: int(np.ceil(HEAD * len(order)))]] = True
        return chosen

    @property
    def true_head_share(self) -> float:
        """Share of the head among all relevant pairs, in train or not."""
        items = np.concatenate([self.world.items, self.split.train.items])
        return float(self.head[items].mean())


@dataclass(frozen=True)
class Way:
    """A way to train; its weights are the word of a propensity model, or empty.

    Per ``user`` all users have the same chance, and an item of the user in proportion to 1/P, as published. Per
    ``pair`` a pair of a user and an item is drawn in proportion to 1/P over the whole log.
    """

    weights: str = ""
    per: Per = "user"
    model: str = "mf-adg"

    def __str__(self) -> str:
        weights = {"": "no weights", KNOWN: "known P"}.get(self.weights, self.weights)
        return f"{self.model.upper()}, {weights}, {'users' if self.per == 'user' else 'pairs'} drawn"

    @property
    def plain(self) -> "Way":
        """The same without weights."""
        return Way(per=self.per, model=self.model)

    def learner(self, penalty: float, context: Context) -> PairwiseModel:
        """The model, judged at the end only."""
        kind = MfAuc if self.model == "mf-auc" else MfAdg
        return kind(
            factors=context.size(FACTORS),
            iterations=context.size(STEPS),
            every=context.size(STEPS),
            learning_rate=RATE,
            regularisation=penalty,
            propensity=self.weights,
            per=self.per,
        )


def head_share(draw: Draw, way: Way) -> float:
    """How many of a way's draws of a positive fall on the head, on average."""
    train = draw.split.train
    weights = 1 / draw.training(way.weights) if way.weights else np.ones(len(train))
    if way.per == "user":
        totals = np.bincount(train.users, weights, minlength=train.n_users)
        weights = weights / totals[train.users]
    return float(weights[draw.head[train.items]].sum() / weights.sum())


def run_trial(
    draw: Draw, ways: Sequence[Way], context: Context, seed: int, *, yardsticks: bool
) -> Iterator[tuple[tuple[str, object, str], float]]:
    """Train all ways with all penalties on one log, choose by validation, and look at the truth.

    Yields numbers with their keys: (quantity, of, by). ``true`` and ``true over pairs`` are of a way and by a choice;
    ``head`` is of a way; ``bias``, ``rmse``, ``in order`` and ``lost`` are of an estimate over the chosen models.
    """
    penalties = context.size(PENALTIES)
    tried = [(way, penalty) for way in ways for penalty in penalties]
    rows = {
        word: draw.split.train.with_propensity(draw.training(word)) for word in {way.weights for way in ways} if word
    }

    def fit(place: int) -> Scorer:
        way, penalty = tried[place]
        return way.learner(penalty, context).fit(rows.get(way.weights, draw.split.train), rng=seed)

    scorers = dict(zip(tried, Threads().map(fit, range(len(tried))), strict=True))
    ends: dict[tuple[Way, Choice], tuple[Way, float]] = {}
    for way in ways:
        ends |= {(way, by): (way, best) for by, best in _choose(draw, way, scorers, penalties).items()}
    pool = {f"{way} {penalty:g}": scorers[way, penalty] for way, penalty in dict.fromkeys(ends.values())}
    true = true_values(draw, pool)
    for (way, by), (_, penalty) in ends.items():
        users, pairs = true[f"{way} {penalty:g}"]
        yield ("true", way, by), users
        yield ("true over pairs", way, by), pairs
    for name, estimates in _estimate(draw.split, pool).items():
        targets = np.array([true[model][0 if name == NAIVE else 1] for model in pool])
        yield from errors_of(name, estimates, targets)
    for way in ways:
        yield ("head", way, ""), head_share(draw, way)
    yield ("true head", "", ""), draw.true_head_share
    yield ("rows", "", ""), len(draw.split.train) / draw.world.n_users
    if yardsticks:
        others = {word: Model.from_word(word).fit(draw.split.train, rng=seed) for word in YARDSTICKS}
        for word, (users, _) in true_values(draw, others).items():
            yield ("yardstick", word, ""), users


def errors_of(name: str, estimates: Floats, targets: Floats) -> Iterator[tuple[tuple[str, str, str], float]]:
    """How far an estimate is from what it aims at, and how well it chooses, over the models of a log.

    The bias, the root mean squared error, the share of pairs of models in their true order, and what is lost by
    taking the model that the estimate puts first.
    """
    off = estimates - targets
    above = np.triu_indices(len(targets), 1)
    agree = np.sign(np.subtract.outer(estimates, estimates)) == np.sign(np.subtract.outer(targets, targets))
    yield ("bias", name, ""), float(off.mean())
    yield ("rmse", name, ""), float(np.sqrt((off**2).mean()))
    yield ("in order", name, ""), float(agree[above].mean()) if len(above[0]) else float("nan")
    yield ("lost", name, ""), float(targets.max() - targets[np.argmax(estimates)])


def true_values(draw: Draw, models: Mapping[str, Scorer]) -> dict[str, tuple[float, float]]:
    """ADG over everything relevant outside train: the mean over users of their means, and the mean over pairs."""
    truth = Split(draw.split.train, draw.world.truth)
    report = evaluate(dict(models), truth, metrics=[METRIC], estimators=[NAIVE, "aoa(per=pair)"])
    return {name: (_value(report, name, NAIVE), _value(report, name, "aoa(per=pair)")) for name in models}


def _choose(
    draw: Draw, way: Way, scorers: Mapping[tuple[Way, float], Scorer], penalties: Iterable[float]
) -> dict[Choice, float]:
    """The penalty that is best on validation: by the plain mean, by the way's own weights, by the known ones."""
    models = {f"{penalty:g}": scorers[way, penalty] for penalty in penalties}
    assert draw.split.validation is not None
    validation = Split(draw.split.train, draw.split.validation)
    words: dict[Choice, str] = {"known": KNOWN}
    if way.weights:
        words["own"] = way.weights
    chosen: dict[Choice, float] = {}
    for choice, word in words.items():
        report = evaluate(models, validation, metrics=[METRIC], estimators=[NAIVE, "snips"], propensity=word)
        form: dict[Choice, str] = {choice: "snips", "aoa": NAIVE}
        for by, estimator in form.items():
            values = {name: _value(report, name, estimator) for name in models}
            chosen[by] = float(max(values, key=values.__getitem__))
    return chosen


def _estimate(split: Split, models: Mapping[str, Scorer]) -> dict[str, Floats]:
    """ADG on the test rows: the plain mean over users, and SNIPS with several propensities."""
    estimates: dict[str, Floats] = {}
    for word in ASSUMED:
        report = evaluate(dict(models), split, metrics=[METRIC], estimators=[NAIVE, "snips"], propensity=word)
        for key, estimator in ((NAIVE, NAIVE), (word, "snips")):
            estimates[key] = np.array([_value(report, name, estimator) for name in models])
    return estimates


def _value(report: Report, model: str, estimator: str) -> float:
    value = report.value(model, METRIC, estimator)
    return np.nan if value is None else value
