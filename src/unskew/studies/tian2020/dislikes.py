"""Beyond the paper: users who consume what they dislike, or by how much they like it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise, product
from typing import Any, Literal

import numpy as np

from unskew.feedback import METRICS
from unskew.simulators import Ibp, Lda, PreferenceWorld
from unskew.studies.framework.cells import ReproducedCell, cell, cells
from unskew.studies.framework.claims import Claim, Verdict, claim
from unskew.studies.framework.figures import Figure, Panel, Series
from unskew.studies.framework.result import Findings
from unskew.studies.framework.stats import Gap, Mean
from unskew.studies.framework.study import Context, Size, Table
from unskew.studies.framework.trials import Key, Trials
from unskew.studies.tian2020.runs import COLUMNS, KNOWN, KNOWN_RATIO, METHODS, NAIVE, POPULARITY_RATIO, TRUTH, per_run
from unskew.trials import run_trials

RECALL, ADG = METRICS[:2]
SIZES = "pareto(scale=10, shape=1, upper=60)"
WORLDS: Mapping[str, PreferenceWorld] = {
    "lda": Lda(users=1000, items=800, topics=10, likes=100, sizes=SIZES),
    "ibp": Ibp(users=1000, alpha=80, c=2, sigma=0.4, sizes=SIZES),
}
USERS = Size(1000, 150)
RUNS = Size(30, 3, trials=True)
SHARES = (0.0, 0.05, 0.1, 0.2, 0.4)
ORACLE, POPULAR, FIRST = "oracle", "popular", "oracle first"
DRAWN = (NAIVE, KNOWN, KNOWN_RATIO, POPULARITY_RATIO)
"""Methods in the figures."""
ERRORS, LIMIT = 3.0, 4.0
"""Standard errors that make a difference clear, and that no estimate without bias should reach."""


@dataclass(frozen=True)
class Setting:
    """How a world is consumed: by popularity with a share of dislikes, uniformly, or by how much an item is liked."""

    dislikes: float = 0.0
    observe: Literal["popular", "uniform", "preferred"] = "popular"

    def __str__(self) -> str:
        if self.observe == "popular":
            return f"dislikes {self.dislikes:g}"
        return {"uniform": "all likes equally likely", "preferred": "by how much it is liked"}[self.observe]

    def of(self, world: PreferenceWorld) -> PreferenceWorld:
        """The world, consumed in this way."""
        return replace(world, dislikes=self.dislikes, observe=self.observe, graded=self.observe == "preferred")


NONE, FEW, *_, MANY = WITH_DISLIKES = tuple(map(Setting, SHARES))
UNIFORM, PREFERRED = Setting(observe="uniform"), Setting(observe="preferred")
SETTINGS = (*WITH_DISLIKES, UNIFORM, PREFERRED)
SEED_WORDS = {UNIFORM: "all likes a-like".replace("-", "")}
"""The former name of a setting: its worlds are drawn by it, so another word would change the numbers."""


def run(context: Context) -> Findings:
    """Judge oracle and popular on many logs of each world and setting."""
    return findings(simulate(context), {name: world_of(context, name) for name in WORLDS})


def world_of(context: Context, name: str, setting: Setting = NONE) -> PreferenceWorld:
    """A world of the size of this run."""
    return setting.of(replace(WORLDS[name], users=context.size(USERS)))


def simulate(context: Context) -> Trials:
    """One value per run by world, setting, metric, recommender and column.

    A column is the truth or the error of a method. Of the third recommender, `FIRST`, it is 1 where the method puts the
    oracle first, or level, and else 0.
    """
    groups: dict[Key, Any] = {}
    for name, setting in context.counted("worlds", list(product(WORLDS, SETTINGS))):
        seed = int(context.rng("tian2020", "dislikes", name, SEED_WORDS.get(setting, str(setting))).integers(2**31))
        world, runs = world_of(context, name, setting), context.size(RUNS)
        trials = run_trials(world, runs, (ORACLE, POPULAR), metrics=METRICS, methods=METHODS, seed=seed)
        groups |= {(name, setting, *key): values for key, values in per_run(trials).items()}
        for m, c in np.argwhere(trials.design.applies()):
            key = (name, setting, METRICS[m], FIRST, trials.design.labels[c])
            groups[key] = (trials.difference[:, 0, m, c] >= 0).astype(float)
    return Trials(("world", "setting", "metric", "recommender", "column"), "run", groups)


def findings(values: Trials, worlds: Mapping[str, PreferenceWorld]) -> Findings:
    """The table of these runs."""
    figures, said = tuple(_figures(values)), tuple(notes(values, worlds))
    return Findings(tuple(_cells(values)), tuple(claims(values)), figures, said, trials=values)


def _cells(values: Trials) -> Iterator[ReproducedCell]:
    for name, setting, metric in product(WORLDS, SETTINGS, METRICS):
        data = f"{name}, {setting}"  # the full word of the world is in the notes
        ours = values.at(world=name, setting=setting, metric=metric)
        for who in (ORACLE, POPULAR):
            row = f"error of {metric} of {who}"
            yield from cells(ours.at(recommender=who), row, lambda *, column: COLUMNS[column], data)
        for (method,), first in ours.at(recommender=FIRST).groups.items():
            yield cell(f"share with the oracle first by {metric}", COLUMNS[method], data, float(first.mean()))


def _figures(values: Trials) -> Iterator[Figure]:
    """Errors of recall over the share of dislikes, and how often the oracle is put first."""
    panels, x_label = [], "share of the rows that are disliked"
    for name, who in product(WORLDS, (ORACLE, POPULAR)):
        lines = {
            COLUMNS[each]: [values[name, setting, RECALL, who, each] for setting in WITH_DISLIKES] for each in DRAWN
        }
        panels.append(Panel.over(f"{name}: {who}", SHARES, lines, COLUMNS[NAIVE]))
    note = f"Means over {runs_of(values)} worlds; bands are 1.96 standard errors to both sides."
    yield Figure(f"Error of {RECALL}", x_label, tuple(panels), note=note)
    panels = []
    for name in WORLDS:
        series = []
        for method in DRAWN:
            shares = [chosen(values, name, setting, method) for setting in WITH_DISLIKES]
            errors = [np.sqrt(p * (1 - p) / runs_of(values)) for p in shares]
            series.append(Series.of(COLUMNS[method], SHARES, shares, errors, naive=method == NAIVE))
        panels.append(Panel(name, tuple(series)))
    truly = f"The oracle is truly better in {better(values):.0%} of all worlds."
    note = f"{truly} Bands are 1.96 binomial standard errors to both sides."
    title = f"Share of worlds in which the oracle is put before popular by {ADG}"
    yield Figure(title, x_label, tuple(panels), note=note)


def runs_of(values: Trials) -> int:
    """The number of runs of each world and setting."""
    return len(next(iter(values.groups.values())))


def chosen(values: Trials, name: str, setting: Setting, method: str) -> float:
    """Share of runs in which the oracle's estimate of `ADG` is at least that of popular."""
    return float(values[name, setting, ADG, FIRST, method].mean())


def better(values: Trials) -> float:
    """Share of all worlds in which the oracle is truly better by `ADG`."""
    gaps = [
        values[name, setting, ADG, ORACLE, TRUTH] - values[name, setting, ADG, POPULAR, TRUTH]
        for name, setting in product(WORLDS, SETTINGS)
    ]
    return float(np.mean(np.concatenate(gaps) > 0))


def recall(values: Trials, name: str, setting: Setting, recommender: str, column: str) -> float:
    """The mean truth of recall, or the mean error of a method."""
    return float(values[name, setting, RECALL, recommender, column].mean())


def notes(values: Trials, worlds: Mapping[str, PreferenceWorld]) -> Iterator[str]:
    """How it was done, and the numbers in sentences."""
    yield (
        f"Beyond the paper, so there is no printed number. {runs_of(values)} worlds of each kind and setting; oracle "
        "and popular are judged as in the paper. With dislikes, that share of each user's rows, in train and test, are "
        "items that the user does not like, drawn in proportion to popularity; they are not in the truth. Known P is "
        f"the world's own propensity, also of such rows. By {ADG}, the oracle is truly better in "
        f"{better(values):.0%} of the worlds. Ties are in expectation. Without dislikes or strengths the worlds are "
        f"{' and '.join(map(str, worlds.values()))}."
    )
    for name in WORLDS:
        yield _with_dislikes(values, name)
    yield (
        "Why known P does not help against dislikes: a given disliked item was very unlikely to be observed, so its "
        "row gets a very large weight, as if it were a large number of liked items. It is in no list of the oracle and "
        "gains nothing there, so ips stays right for the oracle; snips divides by the sum of weights and falls for "
        "all. Inverse propensities correct for what was not observed, not for what should not be there."
    )
    parts = [
        f"{name}, {setting}: naive {recall(values, name, setting, POPULAR, NAIVE):+.3f}, known P "
        f"{recall(values, name, setting, POPULAR, KNOWN):+.3f}, by popularity "
        f"{recall(values, name, setting, POPULAR, POPULARITY_RATIO):+.3f}"
        for name, setting in product(WORLDS, (UNIFORM, PREFERRED))
    ]
    yield (
        f"Where consumption does not follow popularity, propensities by popularity are wrong. Error of popular's "
        f"{RECALL}: {'; '.join(parts)}."
    )


def _with_dislikes(values: Trials, name: str) -> str:
    """Errors and choices of a world as the share of dislikes grows."""
    titles = {
        NAIVE: "naive",
        KNOWN: "ips with known P",
        KNOWN_RATIO: "snips(per=balanced) with known P",
        POPULARITY_RATIO: "the same by popularity",
    }
    parts = []
    for method, title in titles.items():
        oracle, popular = (
            ", ".join(f"{recall(values, name, setting, who, method):+.3f}" for setting in WITH_DISLIKES)
            for who in (ORACLE, POPULAR)
        )
        first = ", ".join(f"{chosen(values, name, setting, method):.0%}" for setting in WITH_DISLIKES)
        parts.append(f"{title}: oracle {oracle}; popular {popular}; oracle first by {ADG} in {first}")
    shares = ", ".join(f"{share:g}" for share in SHARES)
    truths = " and ".join(f"{recall(values, name, NONE, who, TRUTH):.3f}" for who in (ORACLE, POPULAR))
    return (
        f"{name}, with a share of {shares} disliked. True {RECALL} of oracle and popular without dislikes: {truths}. "
        f"Errors of {RECALL}. {'. '.join(parts)}."
    )


def claims(values: Trials) -> Iterator[Claim]:
    """Ours, not the paper's."""
    for text, verdict in (*_of_naive(values), *_of_corrections(values)):
        yield claim(f"{text[0].upper()}{text[1:]}", verdict)


def _of_naive(values: Trials) -> Iterator[tuple[str, Verdict]]:
    places = product(WORLDS, (ORACLE, POPULAR), (RECALL, ADG))
    scores = [Mean.of(values[name, UNIFORM, metric, who, NAIVE]).z for name, who, metric in places]
    worst = max(scores, key=abs)
    text = f"where all likes are equally likely to be observed, naive {RECALL} and {ADG} are right (within {LIMIT:g} "
    yield f"{text}s.e.)", (abs(worst) < LIMIT, f"the farthest of {len(scores)} is {worst:+.1f} s.e. off")

    steps = [
        Gap.independent(*(values[name, setting, RECALL, ORACLE, NAIVE] for setting in pair)).z
        for name, pair in product(WORLDS, pairwise(WITH_DISLIKES))
    ]
    text = f"the naive {RECALL} of the oracle falls with each step of dislikes, in both worlds"
    yield text, (min(steps) > ERRORS, f"the smallest of {len(steps)} steps is {min(steps):.1f} s.e.")

    before, after = (chosen(values, "ibp", setting, NAIVE) for setting in (NONE, MANY))
    error = np.sqrt((before * (1 - before) + after * (1 - after)) / runs_of(values))
    text = f"in the ibp world dislikes reverse the naive verdict by {ADG}: the oracle is put first less often"
    evidence = f"{before:.0%} without, {after:.0%} with a share of {MANY.dislikes:g}"
    yield text, (bool(before - after > ERRORS * error), evidence)


def _of_corrections(values: Trials) -> Iterator[tuple[str, Verdict]]:
    known = {name: Mean.of(values[name, FEW, RECALL, POPULAR, KNOWN]).z for name in WORLDS}
    text = f"with a share of {FEW.dislikes:g} disliked, ips with known P is too high for popular's {RECALL}"
    evidence = "; ".join(
        f"{name}: popular {recall(values, name, FEW, POPULAR, KNOWN):+.3f} ({score:.0f} s.e.), oracle "
        f"{recall(values, name, FEW, ORACLE, KNOWN):+.3f}"
        for name, score in known.items()
    )
    yield text, (min(known.values()) > ERRORS, evidence)

    left = {
        (name, who): 1 + recall(values, name, FEW, who, KNOWN_RATIO) / recall(values, name, FEW, who, TRUTH)
        for name, who in product(WORLDS, (ORACLE, POPULAR))
    }
    text = (
        f"with a share of {FEW.dislikes:g} disliked, snips(per=balanced) with known P shows less than half of the "
        f"oracle's true {RECALL}"
    )
    evidence = "; ".join(f"{name}, {who}: {share:.0%}" for (name, who), share in left.items())
    yield text, (max(left[name, ORACLE] for name in WORLDS) < 0.5, evidence)

    places = list(product(WORLDS, (UNIFORM, PREFERRED)))
    scores = [Mean.of(values[*place, RECALL, POPULAR, POPULARITY_RATIO]).z for place in places]
    text = (
        f"where consumption does not follow popularity, propensities by popularity correct too much: popular's "
        f"{RECALL} comes out too low"
    )
    evidence = "; ".join(
        f"{name}, {setting}: {recall(values, name, setting, POPULAR, POPULARITY_RATIO):+.3f}, naive "
        f"{recall(values, name, setting, POPULAR, NAIVE):+.3f}"
        for name, setting in places
    )
    yield text, (max(scores) < -ERRORS, evidence)


TABLE = Table("dislikes", "Beyond the paper: users who consume what they dislike, or by how much they like it", run)
