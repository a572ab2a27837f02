"""Training with weights and without, settings chosen with weights and without, and what is true of the chosen."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from unskew.arrays import Floats
from unskew.data import Split
from unskew.evaluation import evaluate
from unskew.models import MfAdg, MfAuc, Model, PairwiseModel
from unskew.ranking import Scorer
from unskew.ranking.engines.threads import Threads
from unskew.studies.lim2015.weighted_world import KNOWN, Draw

FACTORS, STEPS, RATE = 16, 1_000_000, 0.1
PENALTIES, FAST_PENALTIES = (0.05, 0.1, 0.2, 0.3, 0.5), (0.1, 0.3)
METRIC = "adg"
ASSUMED = ("popularity", "popularity(gamma=1)", KNOWN)
"""Propensities that ADG is estimated with on the test rows."""
YARDSTICKS = ("random", "popular", "als(factors=8)")

Per: TypeAlias = Literal["user", "pair"]
Choice: TypeAlias = Literal["aoa", "own", "known"]
NAIVE: Literal["aoa"] = "aoa"


@dataclass(frozen=True)
class Way:
    """A way to train.

    Parameters
    ----------
    weights : str
        The word of a propensity model; none when empty.
    per : str
        ``user``: all users are drawn alike, and an item of the user in proportion to 1/P, as published. ``pair``: a
        pair of a user and an item is drawn in proportion to 1/P over the whole log.
    model : str
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

    def learner(self, penalty: float) -> PairwiseModel:
        """The model, judged at the end only."""
        kind = MfAuc if self.model == "mf-auc" else MfAdg
        return kind(
            factors=FACTORS,
            iterations=STEPS,
            every=STEPS,
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


@dataclass(frozen=True)
class Truth:
    """True ADG: the mean over users of the mean over what is relevant to them, and the mean over relevant pairs."""

    users: float
    pairs: float


@dataclass(frozen=True, eq=False)
class Trial:
    """What came out of one log.

    Parameters
    ----------
    truth : mapping
        Of the setting that each way and choice ends with.
    estimates : mapping
        ``aoa`` or a propensity's word to the estimates on the test rows, one a model that was chosen.
    targets : mapping
        The same keys to what these estimates aim at.
    heads : mapping
        Share of draws that fall on the head, by way.
    true_head : float
        Share of the head among all that is relevant.
    yardsticks : mapping
        Words of other models to their true ADG.
    rows : float
        Training rows a user.
    """

    truth: Mapping[tuple[Way, Choice], Truth]
    estimates: Mapping[str, Floats]
    targets: Mapping[str, Floats]
    heads: Mapping[Way, float]
    true_head: float
    yardsticks: Mapping[str, Truth]
    rows: float


def run_trial(draw: Draw, ways: Sequence[Way], penalties: Sequence[float], seed: int, *, yardsticks: bool) -> Trial:
    """Train all ways with all penalties on one log, choose by validation, and look at the truth.

    Parameters
    ----------
    draw : Draw
    ways : sequence of Way
    penalties : sequence of float
        What the regularisation is chosen from.
    seed : int
        All begin with the same numbers.
    yardsticks : bool
        Whether to train other models to compare with.
    """
    tried = [(way, penalty) for way in ways for penalty in penalties]
    rows = {
        word: draw.split.train.with_propensity(draw.training(word)) for word in {way.weights for way in ways} if word
    }

    def fit(place: int) -> Scorer:
        way, penalty = tried[place]
        return way.learner(penalty).fit(rows.get(way.weights, draw.split.train), rng=seed)

    scorers = dict(zip(tried, Threads().map(fit, range(len(tried))), strict=True))
    ends: dict[tuple[Way, Choice], tuple[Way, float]] = {}
    for way in ways:
        ends |= {(way, by): (way, best) for by, best in _choose(draw, way, scorers, penalties).items()}
    pool = {f"{way} {penalty:g}": scorers[way, penalty] for way, penalty in dict.fromkeys(ends.values())}
    true = true_values(draw, pool)
    others = {word: Model.from_word(word).fit(draw.split.train, rng=seed) for word in YARDSTICKS if yardsticks}
    estimates = _estimate(draw.split, pool)
    targets = {
        name: np.array([true[model].users if name == NAIVE else true[model].pairs for model in pool])
        for name in estimates
    }
    return Trial(
        truth={key: true[f"{way} {penalty:g}"] for key, (way, penalty) in ends.items()},
        estimates=estimates,
        targets=targets,
        heads={way: head_share(draw, way) for way in ways},
        true_head=draw.true_head_share,
        yardsticks=true_values(draw, others) if others else {},
        rows=len(draw.split.train) / draw.world.n_users,
    )


def true_values(draw: Draw, models: Mapping[str, Scorer]) -> dict[str, Truth]:
    """The metric over everything relevant outside train."""
    report = evaluate(dict(models), draw.truth, metrics=[METRIC], estimators=[NAIVE, "aoa(per=pair)"])
    return {
        name: Truth(*(_number(report.value(name, METRIC, form)) for form in (NAIVE, "aoa(per=pair)")))
        for name in models
    }


def _choose(
    draw: Draw, way: Way, scorers: Mapping[tuple[Way, float], Scorer], penalties: Iterable[float]
) -> dict[Choice, float]:
    """The penalty that is best on validation: by the plain mean, by the way's own weights, by the known ones."""
    models = {f"{penalty:g}": scorers[way, penalty] for penalty in penalties}
    value = {float(name): name for name in models}
    words: dict[Choice, str] = {"known": KNOWN}
    if way.weights:
        words["own"] = way.weights
    found: dict[Choice, float] = {}
    for choice, word in words.items():
        report = evaluate(models, draw.validation, metrics=[METRIC], estimators=[NAIVE, "snips"], propensity=word)
        form: dict[Choice, str] = {choice: "snips", "aoa": NAIVE}
        for by, name in form.items():
            found[by] = max(value, key=lambda penalty: _number(report.value(value[penalty], METRIC, name)))
    return found


def _estimate(split: Split, models: Mapping[str, Scorer]) -> dict[str, Floats]:
    """ADG on the test rows: the plain mean over users, and SNIPS with several propensities."""
    found: dict[str, Floats] = {}
    for word in ASSUMED:
        report = evaluate(dict(models), split, metrics=[METRIC], estimators=[NAIVE, "snips"], propensity=word)
        for key, form in ((NAIVE, NAIVE), (word, "snips")):
            found[key] = np.array([_number(report.value(name, METRIC, form)) for name in models])
    return found


def _number(value: float | None) -> float:
    return np.nan if value is None else value
