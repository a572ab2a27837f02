"""Metrics linear in the rank: AUC in its forms, and ATOP."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unskew.arrays import Floats, Ints
from unskew.metrics.exact.user_lists import UserLists, divide
from unskew.metrics.metric import ListMetric, Metric, TakesCutoff
from unskew.ranking.all_candidates.recipes import LinearGains, Recipe

_ROWS = 2**16  # at a time, so that what is made on the way stays in the cache


@dataclass(frozen=True)
class LinearMetric(Metric):
    """A gain linear in ``above``: its mean over a tie group is the gain at the middle of the group."""

    takes_cutoff: ClassVar[TakesCutoff] = "never"
    uses_candidates: ClassVar[bool] = True

    def expected(self, above: Ints, tied: Ints, candidates: Ints) -> Floats:
        """Return the gain at the middle of each tie group."""
        spread, worth = bool(tied.any()), np.empty(len(above))
        for start in range(0, len(above), _ROWS):
            part = slice(start, start + _ROWS)
            middle = above[part] + 0.5 * tied[part] if spread else above[part].astype(np.float64)
            worth[part] = self._at(middle, candidates[part])
        return worth

    def gain(self, above: Ints | Floats, candidates: Ints) -> Floats:
        """Return the gain at a place, which may be fractional."""
        return self._at(np.asarray(above, dtype=np.float64), candidates)

    def recipe(self, size: int) -> Recipe:
        """Return the gain as a line."""
        return LinearGains(self._at)

    @abstractmethod
    def _at(self, place: Floats, candidates: Ints) -> Floats:
        """Return the gain at a place, which may be a half."""


@dataclass(frozen=True)
class AUC(LinearMetric, word="auc"):
    r"""Share of candidates not above the item, :math:`1 - r_0 / n` [yang2018].

    n counts all candidates, including the user's other positives, so a constant scorer gets 1/2 + 1/(2n).

    Parameters
    ----------
    literal : bool
        Use the 1-based rank, 1 - rank/n, as printed in the paper; the code of the paper uses the default.
    """

    literal: bool = False

    def describe(self, cutoff: int | str | None) -> str:
        """Return the definition."""
        return f"1 - {'rank' if self.literal else '(rank - 1)'} / candidates"

    def _at(self, place: Floats, candidates: Ints) -> Floats:
        return 1 - (place + 1 if self.literal else place) / candidates


@dataclass(frozen=True)
class ATOP(LinearMetric, word="atop"):
    r"""Area under the top-N recall curve, :math:`1 - r_0 / (n - 1)` [steck2010].

    It is 1 if there is only one candidate.
    """

    def describe(self, cutoff: int | str | None) -> str:
        """Return the definition."""
        return "1 - (rank - 1) / (candidates - 1)"

    def _at(self, place: Floats, candidates: Ints) -> Floats:
        return 1 - place / np.maximum(candidates - 1, 1)


@dataclass(frozen=True)
class AUCOfNegatives(ListMetric, word="auc", variant="of=negatives"):
    r"""Chance that a positive ranks above a negative, ties counting half: scikit-learn's ``roc_auc_score``.

    With k positives among n candidates and :math:`\bar r` the mean place of a positive in its tie group,

    .. math:: 1 - \frac{\sum \bar r - k (k - 1) / 2}{k (n - k)}.

    NaN when all candidates are positives.
    """

    takes_cutoff: ClassVar[TakesCutoff] = "never"

    def describe(self, cutoff: int | str | None) -> str:
        """Return the definition."""
        return "share of (relevant, other) pairs in the right order, ties half"

    def values(self, lists: UserLists) -> Floats:
        """Return the AUC per user."""
        relevant = lists.relevant
        places = lists.sums(lists.above + 0.5 * lists.tied)
        wrong = places - relevant * (relevant - 1) / 2
        return 1 - divide(wrong, relevant * (lists.user_candidates - relevant))

    def expected_values(self, lists: UserLists, sizes: Ints) -> Floats:
        r"""Return the AUC expected of s of the positives.

        The mean place, and with it ATOP, does not change; the number of negatives does,

        .. math:: AUC_s = \frac{(n - 1) ATOP - (s - 1) / 2}{n - s}.
        """
        places = divide(lists.sums(lists.above + 0.5 * lists.tied), lists.relevant)
        return 1 - divide(places - (sizes - 1) / 2, lists.user_candidates - sizes)
