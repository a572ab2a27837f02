"""Data with labels in a random sample alone: Coat, and Yahoo! R3 where the user has it."""

from dataclasses import dataclass

import numpy as np

from unskew.arrays import Bools
from unskew.data import Interactions, Split
from unskew.studies.framework.study import Context
from unskew.studies.wang2024.worlds import PART, POSITIVE_STARS, Parts

COAT, YAHOO_R3 = NAMES = ("coat", "yahoo-r3")


@dataclass(frozen=True, eq=False)
class RandomTest:
    """A log, and random rows in three parts. All parts have the same codes, and values are labels."""

    name: str
    parts: Parts  # the log, and two of the three parts
    exposed: Interactions  # the random rows that models are judged on, ordered by user
    held: Bools  # users by items: the population they were drawn from


def random_tests(context: Context) -> list[RandomTest]:
    """The available data sets with a random part."""
    sources = {name: context.find(name) for name in NAMES}
    return [
        split_test(name, source.read_split(context.place(name)), context.rng("wang2024", "parts", name))
        for name, source in sources.items()
        if source is not None
    ]


def split_test(name: str, split: Split, rng: np.random.Generator) -> RandomTest:
    """Deal the random rows into uniform training and validation, a share of `PART` each, and test.

    The population is that of the data, all items or those not in training, without the user's rows that went to
    training and validation: given these, the rest is a uniform sample of what remains.
    """
    train, rows = (part.labelled(f"rating>={POSITIVE_STARS}") for part in (split.train, split.test))
    size = max(1, round(PART * len(rows)))
    order = rng.permutation(len(rows))
    uniform, validation = rows.take(np.sort(order[:size])), rows.take(np.sort(order[size : 2 * size]))
    held = np.ones((train.n_users, train.n_items), dtype=bool)
    for part in (uniform, validation, *([] if str(split.rule) == "all" else [train])):
        held[part.users, part.items] = False
    rest = order[2 * size :]
    rest = rest[held[rows.users[rest], rows.items[rest]]]
    exposed = rows.take(rest[np.lexsort((rows.items[rest], rows.users[rest]))])
    return RandomTest(name, Parts(train, uniform, validation), exposed, held)
