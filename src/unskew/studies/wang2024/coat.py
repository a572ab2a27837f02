"""Data of which only a random sample is labelled: Coat, and Yahoo! R3 where the user has it."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np

from unskew.arrays import Bools
from unskew.data import Interactions, Split
from unskew.estimators import Rows, Terms
from unskew.studies.framework.study import Context
from unskew.studies.wang2024.judged import SMALL, Choice, choose, large_k, numbers_of
from unskew.studies.wang2024.rankings import places
from unskew.studies.wang2024.settings import ENTRIES, VARIANTS, Entry

COAT, YAHOO_R3 = "coat", "yahoo-r3"
NAMES = (COAT, YAHOO_R3)
STARS = 4
PART = 0.05
"""The share of the random rows that is for training on them, and once more that for validation."""


@dataclass(frozen=True, eq=False)
class RandomTest:
    """A log, and random rows in three parts. All parts have the same codes, and values are labels.

    Parameters
    ----------
    name : str
    train, uniform, validation : Interactions
    exposed : Interactions
        The random rows that models are judged on, ordered by user.
    held : array of bool, users by items
        The population they were drawn from.
    """

    name: str
    train: Interactions
    uniform: Interactions
    validation: Interactions
    exposed: Interactions
    held: Bools


@dataclass(frozen=True, eq=False)
class JudgedTest:
    """All rows of a table on a random test.

    Parameters
    ----------
    test : RandomTest
    sample : Rows
        The exposed rows.
    rows : mapping
        Entry to the name of a number, as in ``URE@5``, to its terms.
    choices : mapping
    large : int
        The larger K.
    """

    test: RandomTest
    sample: Rows
    rows: Mapping[Entry, Mapping[str, Terms]]
    choices: Mapping[Entry, Choice]
    large: int

    @property
    def name(self) -> str:
        """Of the data set."""
        return self.test.name

    @property
    def ks(self) -> tuple[int, int]:
        """Both K of the table."""
        return SMALL, self.large


def judged_tests(context: Context) -> tuple[JudgedTest, ...]:
    """Every available data set, judged once for all tables."""
    found = []
    for name in NAMES:
        test = random_test(context, name)
        if test is not None:
            found.append(context.once(f"wang2024 judged {name}", partial(judge_test, context, test)))
    return tuple(found)


def random_test(context: Context, name: str) -> RandomTest | None:
    """A data set with a random part; None when it is not available."""
    source = context.find(name)
    if source is None:
        return None
    return context.once(
        f"wang2024 test {name}",
        lambda: split_test(name, source.read_split(context.place(name)), context.rng("wang2024", "parts", name)),
    )


def split_test(name: str, split: Split, rng: np.random.Generator) -> RandomTest:
    """Deal the random rows into uniform training, validation and test.

    The population is that of the data, all items or those not in training, without the user's rows that went to
    training and validation: given these, the rest is a uniform sample of what remains.
    """
    train, rows = _labelled(split.train), _labelled(split.test)
    size = max(1, round(PART * len(rows)))
    order = rng.permutation(len(rows))
    uniform, validation = rows.take(np.sort(order[:size])), rows.take(np.sort(order[size : 2 * size]))
    held = np.ones((train.n_users, train.n_items), dtype=bool)
    for part in (uniform, validation, *([] if str(split.rule) == "all" else [train])):
        held[part.users, part.items] = False
    rest = order[2 * size :]
    rest = rest[held[rows.users[rest], rows.items[rest]]]
    exposed = rows.take(rest[np.lexsort((rows.items[rest], rows.users[rest]))])
    return RandomTest(name, train, uniform, validation, exposed, held)


def judge_test(context: Context, test: RandomTest) -> JudgedTest:
    """Train, choose and judge all rows."""
    users, row = np.unique(test.exposed.users, return_inverse=True)
    population = test.held[users].sum(axis=1)
    labels = np.asarray(test.exposed.values) == 1
    sample = Rows(np.zeros(len(row)), row, total=population.astype(float), positive=labels)
    large = large_k(population)
    choices = choose(context, test, test.name, (*ENTRIES, *VARIANTS))
    rows = {}
    for entry, choice in choices.items():
        ranks = places(choice.fit.scorer, test.held)
        rows[entry] = numbers_of(sample, ranks[test.exposed.users, test.exposed.items], (SMALL, large))
    return JudgedTest(test, sample, rows, choices, large)


def _labelled(part: Interactions) -> Interactions:
    return part.labelled(f"rating>={STARS}")
