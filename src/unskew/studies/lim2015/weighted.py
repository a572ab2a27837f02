"""Beyond the paper: ADG estimated and trained with inverse propensities, in a world whose truth is known."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from unskew.arrays import Floats
from unskew.simulators import Marketplace
from unskew.studies.framework.cells import ReproducedCell, cell
from unskew.studies.framework.claims import Claim
from unskew.studies.framework.figures import Figure, Panel, Series
from unskew.studies.framework.result import Findings
from unskew.studies.framework.stats import Mean
from unskew.studies.framework.study import Context, Size, Table
from unskew.studies.framework.trials import Key, Trials
from unskew.studies.lim2015.weighted_world import (
    ASSUMED,
    FACTORS,
    HELD,
    KNOWN,
    NAIVE,
    PENALTIES,
    RATE,
    STEPS,
    Choice,
    Draw,
    Per,
    Way,
    run_trial,
)

LOGS, OTHER_LOGS = Size(20, 2, trials=True), 4
GAMMAS: Size[tuple[float, ...]] = Size((-0.5, 0.0, 0.5, 1.0), (0.0,))
MAIN = Size(Marketplace(holdout=HELD), Marketplace(holdout=HELD, users=1500))
WORLDS: Mapping[str, Marketplace] = {
    "all items shown equally": Marketplace(holdout=HELD, exponent=0.0, top=0.08, floor=0.08),
    "more rows per user": Marketplace(holdout=HELD, floor=0.25),
    "exposure falls all the way": Marketplace(holdout=HELD, exponent=0.5, floor=0.01),
    "steeper and fewer rows": Marketplace(holdout=HELD, exponent=0.65, floor=0.015),
}
"""Other worlds than the demo's, by what is different."""
_SEEDS = {
    "all items shown equally": "all items shown alike",  # a seed: another word would draw other logs
    "more rows per user": "more rows a user",  # a seed
}
ENOUGH = 5
"""Logs below which nothing is judged."""
_DRAWN: Mapping[Per, str] = {"user": "Users drawn (per=user)", "pair": "Pairs drawn (per=pair)"}
_PANELS: Mapping[Choice, str] = {
    "known": "chosen by SNIPS with known P",
    "own": "chosen with the weights of the training",
}
_CHOICES: Mapping[Choice, str] = {"aoa": "chosen by aoa", "own": "chosen by own weights", "known": "chosen by known P"}


def run(context: Context) -> Findings:
    """Train on many logs of the demo's world, and on a few of others."""
    main, gammas = context.size(MAIN), context.size(GAMMAS)
    trials = simulate(context, "the demo's world", main, gammas, context.size(LOGS), yardsticks=True)
    others: dict[str, Trials] = {}
    if not context.fast:
        few = min(context.trials or OTHER_LOGS, OTHER_LOGS)
        others = {name: simulate(context, name, world, (0.0,), few) for name, world in WORLDS.items()}
    cells = [*_cells(str(main), trials), *_estimators(str(main), trials)]
    for name, each in others.items():
        cells += _cells(str(WORLDS[name]), each, ("known",))
    worlds = (_other_world(f"{name[0].upper()}{name[1:]} ({WORLDS[name]})", each) for name, each in others.items())
    said = (*method(main, context), *notes(trials), *worlds)
    return Findings(tuple(cells), tuple(claims(trials)), (_figure(trials, gammas),), said, trials=trials)


def simulate(
    context: Context, name: str, world: Marketplace, gammas: tuple[float, ...], logs: int, *, yardsticks: bool = False
) -> Trials:
    """Draw logs of a world, and train on each in all ways; with yardsticks, MF-AUC and other models too."""
    weights = ("", *map(popularity, gammas), KNOWN)
    ways = (*([Way(model="mf-auc")] if yardsticks else []), *(Way(word, per) for per in _DRAWN for word in weights))
    numbers: list[tuple[Key, float]] = []
    for number in context.counted(name, range(logs)):
        draw = Draw.of(world, context.rng("lim2015", "weighted", _SEEDS.get(name, name), number))
        numbers += run_trial(draw, ways, context, context.seed + number, yardsticks=yardsticks)
    return Trials.collect(("quantity", "of", "by"), "log", numbers)


def popularity(gamma: float) -> str:
    """The word of the propensity."""
    return "popularity" if gamma == 0 else f"popularity(gamma={gamma:g})"


@dataclass(frozen=True)
class Gain:
    """A difference of two numbers per log: its mean over logs, and in how many of them it is above 0."""

    mean: Mean
    helped: int
    logs: int

    @classmethod
    def of(cls, differences: Floats) -> "Gain":
        """Of one difference per log."""
        return cls(Mean.of(differences.tolist()), int(np.count_nonzero(differences > 0)), len(differences))

    @property
    def direction(self) -> int:
        """1 or -1 when a t test at the level 0.05 finds it off 0, else 0."""
        from scipy.special import stdtrit

        error = self.mean.error
        clear = error is not None and abs(self.mean.value) > float(stdtrit(self.logs - 1, 0.975)) * error
        return int(np.sign(self.mean.value)) if clear else 0

    @property
    def holds(self) -> bool | None:
        """Whether it is above 0; None when the logs are too few."""
        return None if self.logs < ENOUGH else self.direction > 0

    @property
    def verb(self) -> str:
        """What it does to true ADG."""
        return {1: "raises true ADG", 0: "does not clearly move true ADG", -1: "lowers true ADG"}[self.direction]

    def __str__(self) -> str:
        error = "?" if self.mean.error is None else f"{self.mean.error:.4f}"
        return f"{self.mean.value:+.4f} ± {error}, up in {self.helped} of {self.logs}"


def true_adg(trials: Trials, way: Way, choice: Choice, quantity: str = "true") -> Floats:
    """True ADG of what a way and a choice end with, per log; without weights its own choice is the plain one."""
    return trials[quantity, way, NAIVE if choice == "own" and not way.weights else choice]


def gain(trials: Trials, way: Way, choice: Choice, other: Way, by: Choice) -> Gain:
    """True ADG of one way and choice less that of another."""
    return Gain.of(true_adg(trials, way, choice) - true_adg(trials, other, by))


def gain_of_weights(trials: Trials, way: Way) -> Gain:
    """What weights add when both are chosen with known P, so that training alone differs."""
    return gain(trials, way, "known", way.plain, "known")


def _ways(trials: Trials, per: Per | None = None) -> list[Way]:
    """All ways, or those with weights that draw per user or per pair."""
    ways: list[Way] = list(trials.where(quantity="head").levels("of"))
    return ways if per is None else [way for way in ways if way.per == per and way.weights]


def _mean(trials: Trials, quantity: str, of: object = "") -> float:
    return float(np.mean(trials[quantity, of, ""]))


def _cells(data: str, trials: Trials, choices: Iterable[Choice] = tuple(_CHOICES)) -> Iterator[ReproducedCell]:
    """True ADG of every way and these choices, and what weights add; of all choices also where draws go."""
    note = "true ADG less that without weights, both chosen by known P, on the same logs"
    in_full = set(choices) == set(_CHOICES)
    for way in _ways(trials):
        row = str(way)
        for choice in choices:
            if choice != "own" or way.weights:
                yield cell(row, _CHOICES[choice], data, true_adg(trials, way, choice))
        if in_full:
            yield cell(row, "the same, over pairs", data, true_adg(trials, way, "known", "true over pairs"))
        if way.weights:
            gained = gain_of_weights(trials, way)
            yield cell(row, "gain of weights", data, gained.mean, note=note)
            yield cell(row, "its s.e.", data, gained.mean.error)
            yield cell(row, "logs it helps", data, float(gained.helped), note=f"of {gained.logs}")
        if in_full:
            yield cell(row, "draws on the head", data, _mean(trials, "head", way))


def _estimators(data: str, trials: Trials) -> Iterator[ReproducedCell]:
    """How far an estimate of ADG is from what it aims at, and how well it chooses among the models of a log."""
    snips = {word: f"Estimate by snips, {'known P' if word == KNOWN else word}" for word in ASSUMED}
    columns = {"bias": "bias", "rmse": "RMSE", "in order": "pairs in order", "lost": "lost by its pick"}
    for name, row in {NAIVE: "Estimate by aoa", **snips}.items():
        for quantity, column in columns.items():
            yield cell(row, column, data, trials[quantity, name, ""])


def claims(trials: Trials) -> Iterator[Claim]:
    """Two sentences of ours, written before these draws; whether weights help training is measured, not claimed."""
    nearer = Gain.of(trials["rmse", NAIVE, ""] - trials["rmse", KNOWN, ""])
    rmse = {name: _mean(trials, "rmse", name) for name in (NAIVE, *ASSUMED)}
    yield Claim(
        "SNIPS with the discount of ADG and known P is nearer to true ADG than the plain mean",
        nearer.holds,
        f"RMSE {rmse[KNOWN]:.4f} against {rmse[NAIVE]:.4f}; bias {_mean(trials, 'bias', KNOWN):+.4f} against "
        f"{_mean(trials, 'bias', NAIVE):+.4f}; with P from the counts, RMSE "
        + ", ".join(f"{rmse[word]:.4f} by {word}" for word in ASSUMED if word != KNOWN),
    )
    plain = Way()
    better = gain(trials, plain, "known", plain, NAIVE)
    yield Claim(
        "A penalty of mf-adg, trained without weights, that SNIPS with known P chooses is truly "
        "better than the one that the plain mean chooses",
        better.holds,
        f"true ADG {_true(trials, plain, 'known')} against {_true(trials, plain, NAIVE)}: {better} logs",
    )


def _true(trials: Trials, way: Way, choice: Choice) -> str:
    return f"{true_adg(trials, way, choice).mean():.4f}"


def method(world: Marketplace, context: Context) -> Iterator[str]:
    """How it was done."""
    yield (
        "Beyond the paper, so there is no printed number. The demo's marketplace is drawn again for each log: "
        f"{world.users:,} users, {world.items} items, tastes that have nothing to do with how much an item is shown, "
        "and a relevant pair is in the log with chance P. 60 % of the log are for training, 20 % for validation, 20 % "
        "for the test. True ADG is that over everything relevant outside train, the mean over users."
    )
    yield (
        f"All models have {context.size(FACTORS)} factors, {context.size(STEPS):,} steps, learning rate {RATE:g}, the "
        f"same first numbers, and a penalty of {', '.join(f'{each:g}' for each in context.size(PENALTIES))}, whichever "
        "is best on validation: by the plain mean over users (aoa), by SNIPS with the weights of the training (own "
        "weights), or by SNIPS with the world's own P (known P). SNIPS with the discount of ADG is the "
        "popularity-weighted ADG. Learning rate, factors and penalties were fixed on other draws."
    )
    yield (
        "Weights are 1/P, with P from the counts of the log, popularity(gamma), or the world's own, known P. With "
        "users drawn (per=user, as published), a step draws a user uniformly and then an item of the user in "
        "proportion to its weight. With pairs drawn (per=pair), a pair of the whole log is drawn in proportion to its "
        "weight."
    )


def notes(trials: Trials) -> Iterator[str]:
    """The measured answers, in sentences."""
    answers = []
    for per, what in _DRAWN.items():
        gains = {way: gain_of_weights(trials, way) for way in _ways(trials, per)}
        shown = "; ".join(
            f"{'known P' if way.weights == KNOWN else way.weights} {each.verb} ({each} logs)"
            for way, each in gains.items()
        )
        plain = _true(trials, Way(per=per), "known")
        answers.append(f"{what}, true ADG {plain} without weights: training with {shown}.")
    yield f"Measured. {' '.join(answers)}"
    pairs, users = _mean(trials, "head", Way(KNOWN, "pair")), _mean(trials, "head", Way(KNOWN))
    yield (
        f"Why. The 5 % of items that are shown most are {_mean(trials, 'true head'):.1%} of all that is relevant, and "
        f"{_mean(trials, 'head', Way()):.1%} of what training draws without weights. With known P they are {pairs:.1%} "
        f"where pairs are drawn, but {users:.1%} where users are drawn first: a user's chances add up to 1 whatever "
        f"the weights, and with {_mean(trials, 'rows'):.1f} training rows per user there is little else to draw. It is "
        "the same with SNIPS, whose form over pairs corrects and whose form per user hardly does."
    )
    yield _choices(trials)
    words = trials.where(quantity="yardstick").levels("of")
    if words:
        means = ", ".join(f"{word} {_mean(trials, 'yardstick', word):.4f}" for word in words)
        yield f"To compare with, true ADG of other models: {means}."


def _choices(trials: Trials) -> str:
    """How much comes from training and how much from choosing."""
    steps = []
    for per in _DRAWN:
        plain, known = Way(per=per), Way(KNOWN, per)
        steps.append(
            f"with {per}s drawn, nowhere {_true(trials, plain, NAIVE)}, in training only "
            f"{_true(trials, known, NAIVE)}, in choosing only {_true(trials, plain, 'known')}, in both "
            f"{_true(trials, known, 'known')}"
        )
    counted = Way("popularity")
    return (
        f"Training and choosing. True ADG by where known P is used: {'; '.join(steps)}. Where P has to be estimated, "
        f"{counted.weights} in both, users drawn, less no weights at all: "
        f"{gain(trials, counted, 'own', Way(), NAIVE)} logs."
    )


def _other_world(world: str, trials: Trials) -> str:
    """The gain in a world of another skew, or with more rows per user."""
    gains = "; ".join(f"{way}: {gain_of_weights(trials, way)}" for way in _ways(trials) if way.weights)
    return (
        f"{world}, {_mean(trials, 'rows'):.1f} training rows per user, {_mean(trials, 'head', Way()):.1%} of draws "
        f"without weights on the 5 % of items that are shown most. What weights add to true ADG: {gains} logs."
    )


def _figure(trials: Trials, gammas: tuple[float, ...]) -> Figure:
    """True ADG over the strength of the weights, for both ways to draw and both ways to choose."""
    panels = []
    for choice, title in _PANELS.items():
        lines = []
        for per in _DRAWN:
            ways = [Way(per=per), *(Way(popularity(gamma), per) for gamma in gammas)]
            values = [true_adg(trials, way, choice) for way in ways]
            lines.append(Series.over(f"{per}s drawn, popularity(gamma)", (-1.0, *gammas), values))
        for per in _DRAWN:
            known = true_adg(trials, Way(KNOWN, per), choice)
            lines.append(Series.over(f"{per}s drawn, known P", (-1.0, gammas[-1]), [known, known]))
        panels.append(Panel(f"True ADG, {title}", tuple(lines)))
    logs = len(trials["rows", "", ""])
    return Figure(
        "True ADG of mf-adg by the strength of its weights",
        "gamma; -1: without weights, 1: weights in proportion to 1/count",
        tuple(panels),
        note=f"Means over {logs} logs; bands are 1.96 standard errors to both sides. Without weights, "
        "'the weights of the training' are those of the plain mean.",
    )


TABLE = Table("weighted", "Beyond the paper: ADG with inverse propensities, estimated and trained", run)
