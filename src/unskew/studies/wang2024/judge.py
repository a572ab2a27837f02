"""The models of tables 3 and 4, judged: on worlds by many random draws, on other data by the one random sample."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np

from unskew.arrays import Bools, Floats, Ints, offsets_of, runs_of
from unskew.data import Split
from unskew.estimators import Rows, Terms, Traditional, Ure
from unskew.evaluation.collecting.exposed import Exposed
from unskew.metrics import Recall
from unskew.ranking import Ranks, Scorer
from unskew.studies.framework.cells import Printed, ReproducedCell, absent_cells
from unskew.studies.framework.claims import Claim
from unskew.studies.framework.figures import Figure
from unskew.studies.framework.pool import run_all
from unskew.studies.framework.result import Findings
from unskew.studies.framework.study import Context, Size
from unskew.studies.framework.trials import Trials
from unskew.studies.wang2024.full_recall import RankMatrix, hits, places
from unskew.studies.wang2024.models import ENTRIES, FIRST, SHARES, Choice, Entry, choose
from unskew.studies.wang2024.printed import KUAIREC, TRADITIONAL, YAHOO
from unskew.studies.wang2024.random_tests import NAMES, YAHOO_R3, RandomTest, random_tests
from unskew.studies.wang2024.worlds import NEEDS as SMALL_MATRIX
from unskew.studies.wang2024.worlds import BiasedLog, chances_of, draw_exposed, labelled_pairs, logs

NEEDS = (*SMALL_MATRIX, *NAMES)
DRAWS = Size(200, 8, trials=True)
EXPOSED = 20
"""l. The paper does not say which l its tables have; recall@5 in the sample is near full recall@500 for about 20."""
SMALL, LARGE, LARGE_OF_FEW = 5, 500, 50
FEW = 600
"""Populations below it are too small to ask for the first 500."""
FORMS = {"URE": Ure(), "pooled URE": Ure(aggregate="pooled")}
PUBLISHED, POOLED = FORMS
Average = Literal["full", "full micro"]
"""Full recall as the mean over users, or over positive pairs."""
TARGETS: Mapping[str, Average] = {PUBLISHED: "full", POOLED: "full micro"}
"""What each form estimates."""
PAIRS = "over positive pairs"
ONE = "one sample: the spread is the standard error over users"


@dataclass(frozen=True, eq=False)
class JudgedWorld:
    """All rows of a table on one world."""

    log: BiasedLog
    choices: Mapping[Entry, Choice]  # the chosen models by entry
    numbers: Trials  # by entry and column of table 4: one value per random draw, or one of full recall
    ks: Ints  # the K at which full recall is known
    recall: Mapping[Entry, Floats]  # entry to full recall@K of each user with a positive, an array (users, ks)
    both_ks: tuple[int, int]  # those of the table: 5, and 500, or 50 where populations are small

    @property
    def name(self) -> str:
        """The name of the world."""
        return self.log.name

    @property
    def within(self) -> Bools:
        """Which of the K are steps up to half of the population; the larger K of the table may be beyond."""
        return np.asarray(self.ks <= int(self.log.population.max()) // 2)

    @property
    def steps(self) -> list[int]:
        """These K."""
        return [int(k) for k in self.ks[self.within]]

    def users(self, entry: Entry, k: int) -> Floats:
        """Full recall@K of each user with a positive."""
        return np.asarray(self.recall[entry][:, int(np.searchsorted(self.ks, k))])

    def full(self, entry: Entry, k: int, mean: Average = "full") -> float:
        """Full recall@K, the mean over users, or over positive pairs."""
        return float(self.numbers[entry, f"{mean}@{k}"][0])

    def expected(self, entry: Entry, k: int) -> float:
        """The expectation of the published mean: users weigh by their chance to have a positive in the sample."""
        chances = chances_of(self.log, EXPOSED)[self.log.relevant.any(axis=1)]
        return float(chances @ self.users(entry, k) / chances.sum())


@dataclass(frozen=True, eq=False)
class JudgedTest:
    """All rows of a table on a random test."""

    test: RandomTest
    sample: Rows  # the exposed rows
    choices: Mapping[Entry, Choice]  # the chosen models by entry
    terms: Mapping[tuple[Entry, str], Terms]  # by entry and column of table 4
    large: int  # the larger K

    @property
    def name(self) -> str:
        """The name of the data set."""
        return self.test.name


Judged = tuple[Sequence[JudgedWorld], Sequence[JudgedTest]]


def judge_all(context: Context) -> Judged:
    """Every available world and random test, judged once for all tables."""

    def make() -> Judged:
        worlds = [judge(context, log) for log in logs(context)]
        return worlds, [judge_test(context, test) for test in random_tests(context)]

    return context.once("wang2024 judged", make)


def large_k(population: Ints) -> int:
    """The larger K of table 4."""
    return LARGE if int(population.min()) >= FEW else LARGE_OF_FEW


def judge(context: Context, log: BiasedLog) -> JudgedWorld:
    """Train, choose and judge all rows on one log."""
    both = (SMALL, large_k(log.population))
    # from 1 to half of the population, each about a fifth above the one before
    steps = np.rint(np.geomspace(1, max(int(log.population.max()) // 2, 2), 40)).astype(np.int64)
    ks = np.unique([*steps, *both])
    choices = choose(context, log.parts, log.name)
    users, samples = np.repeat(np.arange(log.world.n_users), EXPOSED), []
    for drawn in draws_of(context, log):  # each a test of held items at random, with their labels
        test = labelled_pairs(log.world, users, drawn.ravel())
        samples.append(Split(log.parts.train, test, candidates="all"))
    distinct = {choice.settings: choice.fit.scorer for choice in choices.values()}  # a chosen NegS is shown twice
    tasks = (partial(_judge_model, log, scorer, samples, ks, both) for scorer in distinct.values())
    results = run_all(tasks, len(distinct), f"{log.name}: random draws", context)
    by_settings = dict(zip(distinct, results, strict=True))
    groups, recall = {}, {}
    for entry, choice in choices.items():
        columns, recall[entry] = by_settings[choice.settings]
        groups.update({(entry, column): values for column, values in columns.items()})
    return JudgedWorld(log, choices, Trials(("model", "number"), "draw", groups), ks, recall, both)


def draws_of(context: Context, log: BiasedLog) -> Iterator[Ints]:
    """The random draws of `EXPOSED` held items of each user: the same whoever asks."""
    rng = context.rng("wang2024", "draws", log.name)
    return (draw_exposed(log.held, EXPOSED, rng) for _ in range(context.size(DRAWS)))


def _judge_model(
    log: BiasedLog, scorer: Scorer, samples: Sequence[Split], ks: Ints, both: tuple[int, int]
) -> tuple[dict[str, Floats], Floats]:
    """The columns of table 4, and full recall at each K of each user with a positive; a task for another process."""
    ranks = places(scorer, log.held)
    above, relevant = hits(ranks, log.relevant, ks.tolist())
    has = relevant > 0
    recall, micro = above[has] / relevant[has, None], above.sum(axis=0) / relevant.sum()
    by_draw = (numbers_of(exposed_sample(split, ranks, log.population), both) for split in samples)
    values = (((column,), terms.value) for numbers in by_draw for column, terms in numbers.items())
    drawn = Trials.collect(("number",), "draw", values)
    columns = {TRADITIONAL: drawn[TRADITIONAL,]}
    for k in both:
        place = int(np.searchsorted(ks, k))
        columns[f"full@{k}"] = np.array([recall[:, place].mean()])
        columns[f"{PUBLISHED}@{k}"] = drawn[f"{PUBLISHED}@{k}",]
        columns[f"full micro@{k}"] = micro[[place]]
        columns[f"{POOLED}@{k}"] = drawn[f"{POOLED}@{k}",]
    return columns, recall


def judge_test(context: Context, test: RandomTest) -> JudgedTest:
    """Train, choose and judge all rows on a random test."""
    choices = choose(context, test.parts, test.name)
    population = test.held.sum(axis=1)
    split = Split(test.parts.train, test.exposed, candidates="all")
    large = large_k(population[np.unique(test.exposed.users)])
    terms = {}
    for entry, choice in choices.items():
        sample = exposed_sample(split, places(choice.fit.scorer, test.held), population)
        numbers = numbers_of(sample, (SMALL, large))
        terms.update({(entry, column): each for column, each in numbers.items()})
    return JudgedTest(test, sample.drawn, choices, terms, large)


def exposed_sample(split: Split, ranks: RankMatrix, population: Ints) -> Exposed:
    """The test of a split, as the library takes it: rows drawn at random, ranked among the population by one model.

    Rows of the test are ordered by user, and their values are labels; `population` is L by the code of a user.
    """
    test = split.test
    users, counts = runs_of(test.users)
    above = ranks[test.users, test.items]
    ranked = Ranks(test.users, test.items, above, np.zeros_like(above), population[test.users], ties="ordinal")
    return Exposed(
        split=split,
        train=split.train,
        users=users,
        offsets=offsets_of(counts),
        items=test.items,
        ranks={"model": ranked},
        known_users=np.ones(test.n_users, dtype=bool),
        dropped={"users": 0},
        values=test.values,
    )


def numbers_of(sample: Exposed, ks: Sequence[int]) -> dict[str, Terms]:
    """`TRADITIONAL`, and each form of URE at each K, as in ``URE@5``."""
    inside, (name,) = sample.inside, sample.ranks
    rows = inside.to_rows("mean", Traditional()).with_worth(inside.gains(name, Recall() @ SMALL))
    numbers = {TRADITIONAL: Traditional().terms(rows, "mean")}
    for k in ks:
        rows = sample.drawn.with_worth(sample.gains(name, Recall() @ k))
        numbers |= {f"{form}@{k}": estimator.terms(rows, "mean") for form, estimator in FORMS.items()}
    return numbers


LEFT_OUT = "not comparable: the paper leaves out sizes, epochs, λ and how settings were chosen"
"""What to know of a number on Yahoo! R3 next to the paper's."""


def findings(
    context: Context,
    judged: Judged,
    printed: Mapping[str, Printed],
    cells: Iterable[ReproducedCell],
    claims: Iterable[Claim],
    figures: Iterable[Figure] = (),
    notes: Iterable[str] = (),
) -> Findings:
    """The findings of a table, with the printed numbers of absent data, the notes of both tables, and all trials."""
    worlds, tests = judged
    absent = [
        each
        for names, paper in ((SMALL_MATRIX, KUAIREC), ((YAHOO_R3,), YAHOO))
        if all(context.find(name) is None for name in names)
        for each in absent_cells(printed[paper], names[0], context.absence(names[0]))
    ]
    used = tuple(name for name in NEEDS if context.find(name) is not None)
    groups = {(world.name, *key): values for world in worlds for key, values in world.numbers.groups.items()}
    trials = Trials(("data", "model", "number"), "draw", groups)
    described = (*notes, *describe(worlds, tests))
    return Findings((*cells, *absent), tuple(claims), tuple(figures), described, used, trials)


def describe(worlds: Sequence[JudgedWorld], tests: Sequence[JudgedTest]) -> Iterator[str]:
    """How the numbers of both tables came about, and which settings were chosen."""
    for world in worlds:
        log, parts, draws = world.log, world.log.parts, len(world.numbers[ENTRIES[0], TRADITIONAL])
        relevant = log.relevant.sum(axis=1)
        yield (
            f"{log.world.description} The log has {len(parts.train):,} pairs; {len(parts.uniform):,} uniform "
            f"pairs are to learn from and {len(parts.validation):,} to choose by. The population has "
            f"{log.population.min():,} to {log.population.max():,} items per user, "
            f"{log.relevant.sum() / log.held.sum():.1%} of them positive; {int((relevant == 0).sum())} of "
            f"{len(relevant):,} users have no positive there and are left out. {draws} random draws of {EXPOSED} items "
            "per user, the same for all models."
        )
    for each in tests:
        test, parts, sample = each.test, each.test.parts, each.sample
        none = int((sample.positives == 0).sum())
        yield (
            f"{each.name}: {len(parts.train):,} chosen ratings are to learn from; four stars and more are positive. Of "
            f"the random ratings {len(parts.uniform):,} are to learn from, {len(parts.validation):,} to choose by, and "
            f"{len(test.exposed):,} of {sample.n_users:,} users, {sample.labels.mean():.1%} positive, to be judged on. "
            f"The population has {sample.population.min()} to {sample.population.max()} items per user; the larger K "
            f"is {each.large}. {none} users have no positive in the sample."
        )
    yield (
        "Settings are chosen by the AUC of the uniform validation rows, as is the epoch; the paper does not say how it "
        "chose. For NegS it is the mean over users of their own AUC, because NegS compares only items of one user. Its "
        "learning rate and λ are chosen first, with H/U = "
        f"{FIRST[0]:g} and U = {FIRST[1]}, then H/U of {', '.join(map(str, SHARES))} and U of 50, 100 or 200."
    )
    choices = {each.name: each.choices for each in worlds} | {each.name: each.choices for each in tests}
    for name, chosen in choices.items():
        yield f"{name}, chosen: {'; '.join(str(chosen[entry]) for entry in ENTRIES)}."
