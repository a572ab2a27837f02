"""`SeedMeans`: means over entries that differ in their seed only, such as ``als/seed0`` and ``als/seed1``."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cached_property

import numpy as np

from unskew.arrays import Floats
from unskew.estimators import Comparison, Interval, Mean, Terms, difference_of_means, holm, mean_of_replicates
from unskew.evaluation.settings.seed_names import base_of


def seed_groups(names: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """The entries of each model: those called ``MODEL/seedN``, or an entry alone, which keeps its name.

    Examples
    --------
    >>> seed_groups(["als/seed0", "popular", "als/seed1", "bpr/seed0"])
    {'als': ('als/seed0', 'als/seed1'), 'popular': ('popular',), 'bpr/seed0': ('bpr/seed0',)}
    """
    given = list(names)
    groups: dict[str, list[str]] = {}
    for name in given:
        base = base_of(name)
        groups.setdefault(name if base is None or base in given else base, []).append(name)
    return {model if len(members) > 1 else members[0]: tuple(members) for model, members in groups.items()}


class SeedMeans:
    """Means over the seeds of models, and their differences, by one metric and estimator.

    Entries are on the same users, so what each user adds to the error of each seed is known for all. A model with one
    entry has the error of its users only.

    Parameters
    ----------
    terms : mapping
        Entry to its terms.
    members : mapping
        Model to its entries; those without terms are left out.
    interval : Interval
        Whose units the error is about: users or rows.
    """

    def __init__(self, terms: Mapping[str, Terms], members: Mapping[str, tuple[str, ...]], interval: Interval) -> None:
        self.terms = terms
        judged = {model: tuple(name for name in names if name in terms) for model, names in members.items()}
        self.members = {model: names for model, names in judged.items() if names}
        self.interval = interval

    def values(self, model: str) -> tuple[float | None, ...]:
        """The value of each seed."""
        return tuple(self.terms[name].value for name in self.members[model])

    def mean(self, model: str) -> Mean:
        """The mean over the seeds of a model."""
        return self._means[model]

    def gap(self, a: str, b: str) -> Mean:
        """The difference of two models."""
        return difference_of_means(self._means[a], self._means[b], (self._influences[a], self._influences[b]))

    def compare(self, pairs: Iterable[tuple[str, str]], words: tuple[str, str], level: float) -> list[Comparison]:
        """The differences of some pairs, with Holm's correction over them; `words` are metric and estimator."""
        rows = []
        for a, b in pairs:
            gap = self.gap(a, b)
            rows.append(Comparison(*words, a, b, gap.value, *gap.bounds(level), gap.p_value, None))
        return corrected(rows)

    @cached_property
    def _influences(self) -> dict[str, list[Floats]]:
        """Of each model; empty if one of its seeds has none, which is so for one user."""
        of_entries = {
            model: [self.interval.influence(self.terms[name]) for name in self.members[model]] for model in self.members
        }
        return {
            model: [each for each in some if each is not None] if all(each is not None for each in some) else []
            for model, some in of_entries.items()
        }

    @cached_property
    def _means(self) -> dict[str, Mean]:
        return {model: self._mean(self.values(model), self._influences[model]) for model in self.members}

    @staticmethod
    def _mean(values: tuple[float | None, ...], influences: list[Floats]) -> Mean:
        if influences:
            return mean_of_replicates(values, influences)
        known = [value for value in values if value is not None]
        return Mean(float(np.mean(known)) if len(known) == len(values) else None)


def corrected(rows: Iterable[Comparison]) -> list[Comparison]:
    """The comparisons with Holm's correction over all of them."""
    given = list(rows)
    adjusted = holm({(row.a, row.b): row.p_value for row in given})
    return [replace(row, p_value_holm=adjusted[row.a, row.b]) for row in given]
