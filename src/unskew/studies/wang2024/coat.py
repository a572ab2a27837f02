"""Data of which only a random sample is labelled: Coat, and Yahoo! R3 where the user has it."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from unskew.arrays import Bools, Floats, Ints, offsets_of
from unskew.data import Interactions, Split
from unskew.estimators.estimate import Terms
from unskew.estimators.exposed import Exposure, Worth
from unskew.studies.study import Context
from unskew.studies.wang2024.judged import FORMS, SMALL, TRADITIONAL, Choice, choose, large_k
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
    exposure : Exposure
    rows : mapping
        Entry to the name of a number, as in ``URE@5``, to its terms.
    choices : mapping
    large : int
        The larger K.
    """

    test: RandomTest
    exposure: Exposure
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
    """Every data set at hand, judged once for all tables."""
    found = []
    for name in NAMES:
        test = random_test(context, name)
        if test is not None:
            found.append(context.once(f"wang2024 judged {name}", partial(judge_test, context, test)))
    return tuple(found)


def random_test(context: Context, name: str) -> RandomTest | None:
    """A data set with a random part; None when it is not at hand."""
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
    exposure = Exposure(row, np.asarray(test.exposed.values) == 1, test.held[users].sum(axis=1))
    large = large_k(exposure.population)
    choices = choose(context, test, test.name, (*ENTRIES, *VARIANTS))
    rows = {}
    for entry, choice in choices.items():
        ranks = places(choice.fit.scorer, test.held)
        above = ranks[test.exposed.users, test.exposed.items]
        numbers = {TRADITIONAL: inside(above, exposure, SMALL)}
        for k in (SMALL, large):
            worth = worth_in(above, exposure, k)
            numbers |= {f"{form}@{k}": how.means(worth, exposure) for form, how in FORMS.items()}
        rows[entry] = numbers
    return JudgedTest(test, exposure, rows, choices, large)


def worth_in(above: npt.NDArray[np.int32], exposure: Exposure, k: int) -> Worth:
    """Recall@K's view of the exposed rows, from their ranks in the population.

    Parameters
    ----------
    above : array of int
        Ranks from 0.
    exposure : Exposure
    k : int
    """

    def up_to(numbers: Ints) -> Floats:
        return np.minimum(np.minimum(numbers[None], exposure.population[:, None]), k).astype(np.float64)

    return Worth((above < k).astype(np.float64), above.astype(np.float64), up_to, k)


def inside(above: npt.NDArray[np.int32], exposure: Exposure, k: int) -> Terms:
    """Recall@K among the exposed rows of a user alone, for users with a positive.

    Parameters
    ----------
    above : array of int
        Ranks from 0 in the population, all different within a user.
    exposure : Exposure
    k : int
    """
    order = np.lexsort((above, exposure.user))
    first = offsets_of(exposure.exposed)
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order)) - first[exposure.user[order]]
    found = exposure.positive_sums((place < k).astype(np.float64))
    has = exposure.positives > 0
    return Terms(found[has] / exposure.positives[has], np.ones(int(has.sum())))


def _labelled(part: Interactions) -> Interactions:
    return part.labelled(f"rating>={STARS}")
