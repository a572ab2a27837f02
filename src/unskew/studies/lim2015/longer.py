"""What more steps and another start do: the first fold again, with five times the steps and smaller first parameters.

Not in the paper. One million steps are few for the larger data sets, so who is ahead may be a matter of who learns
faster.
"""

import itertools
from collections.abc import Mapping
from dataclasses import dataclass

from unskew.arrays import Floats
from unskew.studies.framework.study import Context
from unskew.studies.lim2015.fits import CHOICE, STEPS, Fold, fold_of, held_ranks, label_of, learner, search, written
from unskew.studies.lim2015.printed import METRICS, MODELS
from unskew.studies.lim2015.protocol import split_of
from unskew.studies.lim2015.tally import Gain

TIMES = 5
RATES, PENALTIES, STARTS = (0.005, 0.02, 0.05), (0.05, 0.1, 0.2), (0.1, 0.01)
"""Learning rates, penalties and standard deviations of the first factors."""


@dataclass(frozen=True, eq=False)
class Longer:
    """Both models after more steps, in the first fold.

    Parameters
    ----------
    values : mapping
        By model and metric, one number a user, NaN of users without a test row.
    before : mapping
        The same of all models of the first fold as the table has them.
    settings : mapping
        Model to the settings that were chosen, in words.
    """

    values: Mapping[tuple[str, str], Floats]
    before: Mapping[tuple[str, str], Floats]
    settings: Mapping[str, str]

    def gain(self, model: str, other: str, metric: str) -> Gain:
        """One model after more steps less another, as it is after more steps, or as the table has it."""
        against = self.values.get((other, metric))
        if against is None:
            against = self.before[other, metric]
        return Gain((self.values[model, metric] - against)[None])


def train_longer(context: Context, data: str) -> Longer | None:
    """Train both models for five million steps; None in the small version, or when the data is not at hand."""
    split, fold = (None, None) if context.fast else (split_of(context, data, 0), fold_of(context, data, 0))
    if split is None or fold is None:
        return None
    values, settings, ranks = {}, {}, {}
    for name in MODELS:
        tried = [learner(name, TIMES * STEPS, *each) for each in itertools.product(RATES, PENALTIES, STARTS)]
        chosen = search(context, split, 0, tried, f"{name} for longer on {data}")[CHOICE]
        settings[name] = written(chosen, start=True)
        ranks[name] = held_ranks(chosen.scorer, split)[0]
    more = Fold(fold.train, fold.validation, fold.test, ranks, fold.in_test, settings, fold.train_only)
    values = {(name, metric): more.values(name, metric) for name in MODELS for metric in METRICS}
    before = {(name, metric): fold.values(name, metric) for name in fold.ranks for metric in METRICS}
    return Longer(values, before, settings)


def told_longer(data: str, longer: Longer) -> str:
    """The paper's claims once more, after more steps."""
    gains = ", ".join(f"{metric} {longer.gain('mf-adg', 'mf-auc', metric)}" for metric in METRICS)
    svds = dict.fromkeys(name for name, _ in longer.before if name.startswith("svd"))
    margins = ", ".join(f"{label_of(name)} {longer.gain('mf-adg', name, 'adg')}" for name in svds)
    picks = ", ".join(f"{label_of(name)} {longer.settings[name]}" for name in MODELS)
    return (
        f"{data}, first fold, five million steps, learning rate {listed(RATES)}, penalty {listed(PENALTIES)} and "
        f"standard deviation of the first factors {listed(STARTS)} (chosen: {picks}): MF-ADG less MF-AUC: {gains}. "
        f"MF-ADG less SVD, by adg: {margins}."
    )


def listed(numbers: tuple[float, ...]) -> str:
    """Numbers with commas between."""
    return ", ".join(f"{number:g}" for number in numbers)
