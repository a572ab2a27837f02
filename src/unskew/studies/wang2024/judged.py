"""The models of tables 3 and 4 on worlds whose labels are all known: full recall, and many random draws."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from unskew.arrays import Floats, Ints
from unskew.estimators import Rows, Terms, Ure
from unskew.models.debiased import DebiasedModel, NegS
from unskew.studies.framework.study import Context
from unskew.studies.wang2024.biased import BiasedLog, logs
from unskew.studies.wang2024.draws import chances_of, draw_exposed, drawn_rows, recall_inside, with_recall
from unskew.studies.wang2024.fits import Fit, Parts, fits_of
from unskew.studies.wang2024.rankings import hits, places
from unskew.studies.wang2024.settings import ENTRIES, VARIANTS, Entry, grid_of

DRAWS, FAST_DRAWS = 200, 8
EXPOSED = 20
"""l. The paper does not say which l its tables have; recall@5 in the sample is near full recall@500 for about 20."""
SMALL, LARGE, LARGE_OF_FEW = 5, 500, 50
FEW = 600
"""Populations below it are too small to ask for the first 500."""
FORMS = {"URE": Ure(), "pooled URE": Ure(aggregate="pooled")}
PUBLISHED, POOLED = FORMS
TRADITIONAL = "traditional@5"


@dataclass(frozen=True, eq=False)
class Choice:
    """A model that validation chose.

    Parameters
    ----------
    settings : str
        The word of the model.
    fit : Fit
    tried : int
        Out of how many.
    """

    settings: str
    fit: Fit
    tried: int


@dataclass(frozen=True, eq=False)
class Judged:
    """A row of a table on one world.

    Parameters
    ----------
    entry : Entry
    choice : Choice
    ks : array of int
        The K at which full recall is known.
    recall : array (users with a positive, len(ks))
        Full recall@K of each user.
    micro : array (len(ks),)
        Full recall@K over all positive pairs.
    draws : mapping
        `TRADITIONAL`, or a form of URE and K as in ``URE@5``, to its value in each random draw.
    expected : mapping
        K to what the published mean is expected to be: users weigh by their chance to have a positive in the sample.
    """

    entry: Entry
    choice: Choice
    ks: Ints
    recall: Floats
    micro: Floats
    draws: Mapping[str, Floats]
    expected: Mapping[int, float]

    def users(self, k: int) -> Floats:
        """Full recall@K of each user."""
        return np.asarray(self.recall[:, self._place(k)])

    def full(self, k: int) -> float:
        """Full recall@K, mean over users."""
        return float(self.users(k).mean())

    def full_micro(self, k: int) -> float:
        """Full recall@K over positive pairs."""
        return float(self.micro[self._place(k)])

    def _place(self, k: int) -> int:
        return int(np.searchsorted(self.ks, k))


@dataclass(frozen=True, eq=False)
class JudgedWorld:
    """All rows on one world.

    Parameters
    ----------
    log : BiasedLog
    rows : mapping
        Of the paper's ten entries, and of every H of NegS.
    large : int
        The larger K: 500, or 50 where populations are small.
    """

    log: BiasedLog
    rows: Mapping[Entry, Judged]
    large: int

    @property
    def name(self) -> str:
        """Of the world."""
        return self.log.world.name

    @property
    def ks(self) -> tuple[int, int]:
        """Both K of the table."""
        return SMALL, self.large

    @property
    def ten(self) -> tuple[Judged, ...]:
        """The paper's rows."""
        return tuple(self.rows[entry] for entry in ENTRIES)


def judged_worlds(context: Context) -> tuple[JudgedWorld, ...]:
    """Every available world, judged once for all tables."""
    return tuple(
        context.once(f"wang2024 judged {log.world.name}", partial(judge, context, log)) for log in logs(context)
    )


def large_k(population: Ints) -> int:
    """The larger K of table 4."""
    return LARGE if int(population.min()) >= FEW else LARGE_OF_FEW


def k_grid(largest: int, *more: int) -> Ints:
    """Some K from 1 to half of the population, each about a fifth above the one before, and those asked for."""
    steps = np.rint(np.geomspace(1, max(largest // 2, 2), 40)).astype(np.int64)
    return np.unique(np.concatenate([steps, np.array(more, dtype=np.int64)]))


def choose(context: Context, log: Parts, name: str, entries: Sequence[Entry]) -> dict[Entry, Choice]:
    """For each entry the setting with the best validation AUC.

    Parameters
    ----------
    context : Context
    log : Parts
    name : str
        What the log is called.
    entries : sequence of Entry
    """
    grids = {entry: {_name(entry, model): model for model in grid_of(context, entry)} for entry in entries}
    models = {each: model for grid in grids.values() for each, model in grid.items()}
    fits = fits_of(context, log, models, stage=f"{name}: debiased models")
    chosen = {entry: max(grid, key=lambda each: fits[each].auc) for entry, grid in grids.items()}
    return {entry: Choice(str(models[best]), fits[best], len(grids[entry])) for entry, best in chosen.items()}


def _name(entry: Entry, model: DebiasedModel) -> str:
    """What tells a setting from the others of its row; a variant of NegS is also one of the settings of NegS."""
    hardest = f" {model.hardest}" if isinstance(model, NegS) else ""
    return f"{entry.backbone} {entry.method} {model.learning_rate:g} {model.regularisation:g}{hardest}"


def judge(context: Context, log: BiasedLog) -> JudgedWorld:
    """Train, choose and judge all rows on one log."""
    name, large = log.world.name, large_k(log.population)
    choices = choose(context, log, name, (*ENTRIES, *VARIANTS))
    rng = context.rng("wang2024", "draws", name)
    total = context.n_trials(DRAWS, FAST_DRAWS)
    drawn = [draw_exposed(log.held, EXPOSED, rng).astype(np.int32) for _ in range(total)]
    samples = [drawn_rows(log, each) for each in drawn]
    chances = chances_of(log, EXPOSED)
    found: dict[str, Judged] = {}
    rows = {}
    for entry, choice in context.counted(f"{name}: random draws", choices.items()):
        if choice.settings not in found:  # a NegS is shown twice when it is the chosen one
            ranks = places(choice.fit.scorer, log.held)
            found[choice.settings] = _judged(entry, choice, ranks, log, chances, drawn, samples)
        rows[entry] = _renamed(found[choice.settings], entry, choice)
    return JudgedWorld(log, rows, large)


def numbers_of(rows: Rows, above: Ints, ks: Sequence[int]) -> dict[str, Terms]:
    """`TRADITIONAL`, and each form of URE at each K, as in ``URE@5``, from the ranks of the rows in the population."""
    numbers = {TRADITIONAL: recall_inside(rows, above, SMALL)}
    for k in ks:
        worth = with_recall(rows, above, k)
        numbers |= {f"{form}@{k}": how.terms(worth, "mean") for form, how in FORMS.items()}
    return numbers


def _renamed(found: Judged, entry: Entry, choice: Choice) -> Judged:
    return Judged(entry, choice, found.ks, found.recall, found.micro, found.draws, found.expected)


def _judged(
    entry: Entry,
    choice: Choice,
    ranks: npt.NDArray[np.int32],
    log: BiasedLog,
    chances: Floats,
    drawn: Sequence[Ints],
    samples: Sequence[Rows],
) -> Judged:
    large = large_k(log.population)
    ks = k_grid(int(log.population.max()), SMALL, large)
    counts, relevant = hits(ranks, log, ks.tolist())
    has = relevant > 0
    recall = counts[has] / relevant[has, None]
    expected = {
        k: float(chances[has] @ recall[:, int(np.searchsorted(ks, k))] / chances[has].sum()) for k in (SMALL, large)
    }
    values: dict[str, list[float | None]] = {}
    for each, sample in zip(drawn, samples, strict=True):
        above = np.take_along_axis(ranks, each, axis=1).ravel()
        for name, terms in numbers_of(sample, above, (SMALL, large)).items():
            values.setdefault(name, []).append(terms.value)
    draws = {name: np.array(column, dtype=float) for name, column in values.items()}
    return Judged(entry, choice, ks, recall, counts.sum(axis=0) / relevant.sum(), draws, expected)
