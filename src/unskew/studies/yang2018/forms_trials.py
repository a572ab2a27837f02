"""Estimates of each form over many draws of what is observed in a world."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from unskew.arrays import Floats, Ints
from unskew.estimators import Aoa, Estimator, Rows, Snips
from unskew.studies.yang2018.forms_world import World

FORMS: Mapping[str, Estimator] = {
    "aoa": Aoa(),
    "snips(per=user)": Snips(per="user"),
    "snips(per=balanced)": Snips(per="balanced"),
    "snips": Snips(),
}


@dataclass(frozen=True)
class Assumption:
    """What is taken for the propensity.

    Parameters
    ----------
    off : float or None
        Assumed minus true gamma; None for the true propensities.
    smoothing : float
        Added to the training counts.
    """

    off: float | None = 0.0
    smoothing: float = 1.0

    def __str__(self) -> str:
        if self.off is None:
            return "P known"
        added = "" if self.smoothing == 1 else f", smoothing {self.smoothing:g}"
        return (f"gamma off by {self.off:+g}" if self.off else "gamma right") + added


@dataclass(frozen=True)
class Score:
    """How a form did for a metric, over draws.

    Parameters
    ----------
    bias : float
        |mean estimate - truth| / truth, mean over models.
    rmse : float
        Root mean square of (estimate - truth) / truth, mean over models.
    right : float
        Share of draws in which the model that is best is put first.
    right_error : float
        Standard error of that share.
    """

    bias: float
    rmse: float
    right: float
    right_error: float

    @classmethod
    def of(cls, estimates: Floats, truth: Floats) -> "Score":
        """Of estimates (draws, models)."""
        off = estimates / truth - 1
        right = float((estimates.argmax(axis=1) == truth.argmax()).mean())
        draws = len(estimates)
        return cls(
            bias=float(np.abs(off.mean(axis=0)).mean()),
            rmse=float(np.sqrt((off**2).mean(axis=0)).mean()),
            right=right,
            right_error=(right * (1 - right) / draws) ** 0.5,
        )


def run_trials(
    world: World,
    positives: float,
    assumptions: tuple[Assumption, ...],
    draws: int,
    rng: np.random.Generator,
) -> dict[tuple[Assumption, str, str], Score]:
    """Score every form under every assumption.

    Parameters
    ----------
    world : World
    positives : float
        Expected positives a user in the test; a user with none is left out, as an evaluation does.
    assumptions : tuple of Assumption
    draws : int
    rng : Generator

    Returns
    -------
    dict
        By assumption, form and metric.
    """
    P = world.propensity(positives)
    taken = {
        each: P if each.off is None else world.assumed(world.gamma + each.off, each.smoothing) for each in assumptions
    }
    keys = [(each, form, metric) for each in assumptions for form in FORMS for metric in world.gains]
    found: dict[tuple[Assumption, str, str], list[list[float | None]]] = {key: [] for key in keys}
    for _ in range(draws):
        seen = np.flatnonzero(rng.random(len(P)) < P)
        for form, estimator in FORMS.items():
            for each, believed in taken.items():
                # without a propensity a row is dropped, unless the form does not ask for one
                rows = seen[np.isfinite(believed[seen])] if estimator.uses_propensity else seen
                sample = Rows(np.empty(0), _numbered(world.users[rows]), believed[rows])
                for metric, gains in world.gains.items():
                    values = [estimator.terms(sample.with_worth(worth[rows]), "mean").value for worth in gains]
                    found[each, form, metric].append(values)
    return {key: Score.of(np.array(values, dtype=float), world.truth(key[2])) for key, values in found.items()}


def _numbered(users: Ints) -> Ints:
    """Users 0, 1, ... in the order in which they occur; they are sorted."""
    return np.cumsum(np.diff(users, prepend=users[:1]) != 0)
