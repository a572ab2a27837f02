"""Where MF-ADG is not clearly ahead: both models once more, with a finer grid and other first parameters.

Not in the paper, which gives neither learning rate nor start. The number of steps stays.
"""

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from unskew.arrays import Floats
from unskew.studies.framework.study import Context
from unskew.studies.lim2015.fits import (
    CHOICE,
    STEPS,
    held_ranks,
    label_of,
    learner,
    search,
    user_values,
    written,
)
from unskew.studies.lim2015.longer import listed
from unskew.studies.lim2015.printed import METRICS, MODELS
from unskew.studies.lim2015.protocol import folds_of, split_of
from unskew.studies.lim2015.tally import Gain

RATES, PENALTIES, STARTS = (0.005, 0.01, 0.02, 0.05, 0.1), (0.02, 0.05, 0.1, 0.2, 0.3), (0.1, 0.01)
"""Learning rates, penalties and standard deviations of the first factors."""


@dataclass(frozen=True, eq=False)
class Wider:
    """Both models with the settings of the finer grid.

    Parameters
    ----------
    values : mapping
        By model and metric, one number for each fold and user, NaN of users without a test row.
    settings : mapping
        Model to what was chosen in each fold, in words.
    """

    values: Mapping[tuple[str, str], Floats]
    settings: Mapping[str, list[str]]

    def gain(self, metric: str) -> Gain:
        """MF-ADG less MF-AUC."""
        return Gain(self.values["mf-adg", metric] - self.values["mf-auc", metric])


def train_wider(context: Context, data: str) -> Wider | None:
    """Tune both models in every fold; None in the small version, or when the data is not at hand."""
    splits = [] if context.fast else [split_of(context, data, number) for number in range(folds_of(context))]
    found: dict[tuple[str, str], list[Floats]] = {(name, metric): [] for name in MODELS for metric in METRICS}
    settings: dict[str, list[str]] = {name: [] for name in MODELS}
    for number, split in enumerate(splits):
        if split is None:
            return None
        for name in MODELS:
            tried = [learner(name, STEPS, *each) for each in itertools.product(RATES, PENALTIES, STARTS)]
            chosen = search(context, split, number, tried, f"{name} tuned on {data}, fold {number + 1}")[CHOICE]
            settings[name].append(written(chosen, start=True))
            ranks, in_test = held_ranks(chosen.scorer, split)
            test = ranks.take(in_test)
            for metric in METRICS:
                found[name, metric].append(user_values(test, metric, split.train.n_users))
    return Wider({key: np.array(values) for key, values in found.items()}, settings) if splits else None


def told_wider(data: str, wider: Wider) -> Iterator[str]:
    """What tuning changes."""
    gains = {metric: wider.gain(metric) for metric in METRICS}
    told = ", ".join(f"{metric} {gain}" for metric, gain in gains.items())
    ahead = [metric for metric in METRICS if metric != "atop" and gains[metric].above]
    verdict = f"it is then above MF-AUC by {', '.join(ahead)}" if ahead else "it is then above MF-AUC by none of them"
    picks = "; ".join(f"{label_of(name)} {', '.join(wider.settings[name])}" for name in MODELS)
    yield (
        f"{data}: MF-ADG is not beyond two standard errors above MF-AUC by all of MAP, NDCG, Recall@10 and ADG, so "
        f"both were tuned further, in all folds and for the same number of steps: learning rate {listed(RATES)}, "
        f"penalty {listed(PENALTIES)}, standard deviation of the first factors {listed(STARTS)}. MF-ADG less MF-AUC: "
        f"{told}; {verdict}. Chosen: {picks}."
    )
