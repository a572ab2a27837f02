"""What the experiment with weights says, worked out from its numbers."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from unskew.arrays import Floats
from unskew.simulators import Marketplace
from unskew.studies.framework.claims import Claim
from unskew.studies.framework.stats import Mean
from unskew.studies.lim2015.weighted_fits import ASSUMED, FACTORS, NAIVE, RATE, STEPS, Choice, Per, Trial, Way
from unskew.studies.lim2015.weighted_world import KNOWN

WEIGHTS = (
    "Weights are 1/P, with P from the counts of the log, popularity(gamma), or the world's own, known P. With users "
    "drawn (per=user, as published), a step draws a user uniformly and then an item of the user in proportion to "
    "its weight. With pairs drawn (per=pair), it draws a pair of the whole log in proportion to its weight."
)
ENOUGH = 5
"""Logs below which nothing is judged."""


def method(world: Marketplace, penalties: Sequence[float]) -> Iterator[str]:
    """How it was done."""
    yield (
        "Beyond the paper, so there is no printed number. The demo's marketplace is drawn anew for each log: "
        f"{world.users:,} users, {world.items} items, tastes that have nothing to do with how much an item is shown, "
        "and a relevant pair is in the log with chance P. 60 % of the log are for training, 20 % for validation, 20 % "
        "for the test. True ADG is that over everything relevant outside train, the mean over users."
    )
    yield (
        f"All models have {FACTORS} factors, {STEPS:,} steps, learning rate {RATE:g}, the same first numbers, and a "
        f"penalty of {', '.join(f'{each:g}' for each in penalties)}, whichever is best on validation: by the plain "
        "mean over users (aoa), by SNIPS with the weights of the training (own weights), or by SNIPS with the world's "
        "own P (known P). SNIPS with the discount of ADG is the popularity-weighted ADG. Learning rate, factors and "
        "penalties were fixed on other draws."
    )
    yield WEIGHTS


@dataclass(frozen=True)
class Gain:
    """A difference of true ADG on the same logs.

    Parameters
    ----------
    mean : Mean
        Over logs; they are the units of its standard error.
    helped, logs : int
        In how many it is above 0, and of how many.
    """

    mean: Mean
    helped: int
    logs: int

    @classmethod
    def of(cls, differences: Floats) -> "Gain":
        """Of one difference a log."""
        return cls(Mean.of(differences.tolist()), int(np.count_nonzero(differences > 0)), len(differences))

    @property
    def direction(self) -> int:
        """1 or -1 when a t test at the level 0.05 tells it from 0, else 0."""
        from scipy.special import stdtrit

        error = self.mean.error
        clear = error is not None and abs(self.mean.value) > float(stdtrit(self.logs - 1, 0.975)) * error
        return int(np.sign(self.mean.value)) if clear else 0

    @property
    def holds(self) -> bool | None:
        """Whether it is above 0; None when the logs are too few to tell."""
        return None if self.logs < ENOUGH else self.direction > 0

    @property
    def verb(self) -> str:
        """What it does to true ADG."""
        return {1: "raises true ADG", 0: "does not clearly move true ADG", -1: "lowers true ADG"}[self.direction]

    def __str__(self) -> str:
        error = "?" if self.mean.error is None else f"{self.mean.error:.4f}"
        return f"{self.mean.value:+.4f} ± {error}, up in {self.helped} of {self.logs}"


@dataclass(frozen=True, eq=False)
class Tally:
    """The trials of one world.

    Parameters
    ----------
    trials : sequence of Trial
        One a log.
    ways : tuple of Way
    """

    trials: Sequence[Trial]
    ways: tuple[Way, ...]

    def true(self, way: Way, choice: Choice, over: str = "users") -> Floats:
        """True ADG of what a way and a choice end with, one a log; without weights its own choice is the plain one."""
        by: Choice = NAIVE if choice == "own" and not way.weights else choice
        return np.array([getattr(trial.truth[way, by], over) for trial in self.trials])

    def gain(self, way: Way, choice: Choice, other: Way, by: Choice) -> Gain:
        """One way and choice less another."""
        return Gain.of(self.true(way, choice) - self.true(other, by))

    def of_weights(self, way: Way) -> Gain:
        """What weights add when both are chosen with known P, so that training alone differs."""
        return self.gain(way, "known", way.plain, "known")

    def head(self, way: Way) -> float:
        """Share of draws on the head."""
        return float(np.mean([trial.heads[way] for trial in self.trials]))

    def errors(self, name: str) -> list[Floats]:
        """Estimates less what they aim at, one array a log."""
        return [trial.estimates[name] - trial.targets[name] for trial in self.trials]

    def bias(self, name: str) -> Floats:
        """The mean error of an estimate over the models, one a log."""
        return np.array([each.mean() for each in self.errors(name)])

    def rmse(self, name: str) -> Floats:
        """The root of the mean squared error over the models, one a log."""
        return np.array([np.sqrt((each**2).mean()) for each in self.errors(name)])

    def in_order(self, name: str) -> Floats:
        """Share of the pairs of models that an estimate puts in their true order, one a log."""
        return np.array([_in_order(trial.estimates[name], trial.targets[name]) for trial in self.trials])

    def lost(self, name: str) -> Floats:
        """True ADG of the best model less that of the one an estimate puts first, one a log."""
        pairs = [(trial.estimates[name], trial.targets[name]) for trial in self.trials]
        return np.array([true.max() - true[np.argmax(seen)] for seen, true in pairs])

    def ways_of(self, per: Per) -> list[Way]:
        """Those with weights."""
        return [way for way in self.ways if way.per == per and way.weights]


def _in_order(seen: Floats, true: Floats) -> float:
    above = np.triu_indices(len(true), 1)
    agree = np.sign(np.subtract.outer(seen, seen)) == np.sign(np.subtract.outer(true, true))
    return float(agree[above].mean()) if len(above[0]) else float("nan")


def claims(tally: Tally) -> Iterator[Claim]:
    """Two sentences of ours, written before these draws; whether weights help training is measured, not claimed."""
    nearer = Gain.of(tally.rmse(NAIVE) - tally.rmse(KNOWN))
    yield Claim(
        "Ours, not the paper's: SNIPS with the discount of ADG and known P is nearer to true ADG than the plain mean",
        nearer.holds,
        f"RMSE {tally.rmse(KNOWN).mean():.4f} against {tally.rmse(NAIVE).mean():.4f}; bias "
        f"{tally.bias(KNOWN).mean():+.4f} against {tally.bias(NAIVE).mean():+.4f}; with P from the counts, RMSE "
        + ", ".join(f"{tally.rmse(word).mean():.4f} by {word}" for word in ASSUMED if word != KNOWN),
    )
    plain = Way()
    better = tally.gain(plain, "known", plain, NAIVE)
    yield Claim(
        "Ours, not the paper's: a penalty of mf-adg, trained without weights, that SNIPS with known P chooses is truly "
        "better than the one that the plain mean chooses",
        better.holds,
        f"true ADG {_mean(tally, plain, 'known')} against {_mean(tally, plain, NAIVE)}: {better} logs",
    )


def notes(tally: Tally) -> Iterator[str]:
    """The measured answers, in sentences."""
    yield f"Measured. {' '.join(_answers(tally))}"
    yield _why(tally)
    yield _choices(tally)
    first = tally.trials[0].yardsticks
    if first:
        means = {word: np.mean([trial.yardsticks[word].users for trial in tally.trials]) for word in first}
        yield "To compare with, true ADG of other models: " + ", ".join(f"{k} {v:.4f}" for k, v in means.items()) + "."


def _answers(tally: Tally) -> Iterator[str]:
    """Whether weighted training raises true ADG, by the way it draws and by the weights."""
    for per, what in _DRAWN.items():
        told = "; ".join(
            f"{'known P' if way.weights == KNOWN else way.weights} {gain.verb} ({gain} logs)"
            for way, gain in ((way, tally.of_weights(way)) for way in tally.ways_of(per))
        )
        yield f"{what}, true ADG {_mean(tally, Way(per=per), 'known')} without weights: training with {told}."


def _why(tally: Tally) -> str:
    """Where the draws go."""
    true = np.mean([trial.true_head for trial in tally.trials])
    rows = np.mean([trial.rows for trial in tally.trials])
    pairs, users = tally.head(Way(KNOWN, "pair")), tally.head(Way(KNOWN))
    return (
        f"Why. The 5 % of items that are shown most are {true:.1%} of all that is relevant, and "
        f"{tally.head(Way()):.1%} of what training draws without weights. With known P they are {pairs:.1%} where "
        f"pairs are drawn, but {users:.1%} where users are drawn first: a user's chances add up to 1 whatever the "
        f"weights, and with {rows:.1f} training rows a user there is little else to draw. It is the same with SNIPS, "
        "whose form over pairs corrects and whose form per user hardly does."
    )


def _choices(tally: Tally) -> str:
    """How much comes from training and how much from choosing."""
    steps = []
    for per in _DRAWN:
        plain, known = Way(per=per), Way(KNOWN, per)
        steps.append(
            f"with {per}s drawn, nowhere {_mean(tally, plain, NAIVE)}, in training only {_mean(tally, known, NAIVE)}, "
            f"in choosing only {_mean(tally, plain, 'known')}, in both {_mean(tally, known, 'known')}"
        )
    counted = Way("popularity")
    return (
        f"Training and choosing. True ADG by where known P is used: {'; '.join(steps)}. Where P has to be estimated, "
        f"{counted.weights} in both, users drawn, less no weights at all: {tally.gain(counted, 'own', Way(), NAIVE)} "
        "logs."
    )


def _mean(tally: Tally, way: Way, choice: Choice) -> str:
    return f"{tally.true(way, choice).mean():.4f}"


_DRAWN: Mapping[Per, str] = {"user": "Users drawn (per=user)", "pair": "Pairs drawn (per=pair)"}


def other_worlds(tallies: Mapping[str, Tally]) -> Iterator[str]:
    """The gain in worlds of another skew, or with more rows a user."""
    for world, tally in tallies.items():
        gains = "; ".join(f"{way}: {tally.of_weights(way)}" for way in tally.ways if way.weights)
        rows = np.mean([trial.rows for trial in tally.trials])
        yield (
            f"{world}, {rows:.1f} training rows a user, {tally.head(Way()):.1%} of draws without weights on the 5 % of "
            f"items that are shown most. What weights add to true ADG: {gains} logs."
        )
