"""The base classes of metrics: the gain of one held-out item, or a value of all ranks of a user."""

import copy
import inspect
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import ClassVar, Literal, Self, TypeAlias

import numpy as np

from unskew.arrays import Floats, Ints
from unskew.errors import ConfigError
from unskew.metrics.exact.positions import mean_gain, positions_used
from unskew.metrics.exact.user_lists import UserLists
from unskew.notation import MOST, Named
from unskew.ranking.all_candidates.recipes import DEEPEST, PlaceGains, Recipe

Kind: TypeAlias = Literal["mean", "sum", "list", "loss", "graded", "content", "scored"]
TakesCutoff: TypeAlias = Literal["never", "optional", "required"]


@dataclass(frozen=True)
class MetricWord(Named, ABC, family="metric"):
    """What all metrics share: a word, a kind, a definition and an optional cut-off.

    The kind decides what an estimator can do: a ``mean`` over a user's relevant items, a ``sum`` over them,
    or a value of the whole ``list``; and, where rows have ratings, a ``loss`` of predictions or a ``graded`` sum,
    both over all candidates. A ``content`` metric describes the top lists, whatever is relevant, and a
    ``scored`` one weights hits by a fixed function of training counts.
    """

    kind: ClassVar[Kind]
    takes_cutoff: ClassVar[TakesCutoff] = "optional"
    bases: ClassVar[str] = "Metric, ListMetric, RatingLoss or ContentMetric"
    lower_is_better: ClassVar[bool] = False

    @property
    def cutoff(self) -> int | None:
        """The last rank that counts, or None."""
        return None

    @property
    def unbiased_to_missing(self) -> bool:
        """Whether a random part of each user's relevant items has, on average, the same value as all of them.

        That is: for every user, the mean over all parts of one size is the value on all relevant items, whatever the
        size, while the scores do not change and a missing item stays a candidate. This is true of means over relevant
        items (Lim et al. 2015, theorem 1); a sum grows with the part, and NDCG and similar metrics shrink with it
        (theorem 2). A subclass may override it.
        """
        return self.kind == "mean"

    @property
    def definition(self) -> str:
        """The exact definition in one line."""
        return self.describe(self.cutoff)

    def describe(self, cutoff: int | str | None) -> str:
        """Return the definition at this cut-off; by default the first line of the class's docstring."""
        return inspect.cleandoc(type(self).__doc__ or "").split("\n", 1)[0]

    def recipe(self, size: int) -> Recipe:
        """Return what sums over all candidates need, for a catalogue of this size; see `sum_candidates`.

        Raises
        ------
        ConfigError
            If the metric has no such sum.
        """
        raise ConfigError(f"{self} has no sum over all candidates; use a mean such as adg, or ndcg@10")

    def _check_cutoff(self, k: int) -> None:
        if self.cutoff is not None:
            raise ConfigError(f"{self} already has a cut-off; leave out @{k}")
        if self.takes_cutoff == "never":
            raise ConfigError(f"{self} has no cut-off; leave out @{k}")
        if isinstance(k, bool) or not isinstance(k, (int, np.integer)) or k < 1:
            raise ConfigError(f"cut-off {k} of {self} must be a whole number of at least 1")
        if k > MOST["cut-off"]:
            raise ConfigError(f"cut-off {k:.3e} of {self} is too large; {MOST['cut-off']:,} is the most")


@dataclass(frozen=True)
class Metric(MetricWord):
    """A mean or a sum of gains, each computed from how many candidates are above a held-out item.

    A new metric is a frozen dataclass with :meth:`gain`; this class handles ties and cut-offs.
    """

    kind: ClassVar[Kind] = "mean"
    uses_candidates: ClassVar[bool] = False

    @abstractmethod
    def gain(self, above: Ints, candidates: Ints) -> Floats:
        """Return the gain of items with ``above`` better candidates among ``candidates``."""

    def expected(self, above: Ints, tied: Ints, candidates: Ints) -> Floats:
        r"""Return the mean gain over all orders of each tie group.

        An item tied with t others is equally likely at each of the places ``above``, ..., ``above + t``, so

        .. math:: \frac{1}{t + 1} \sum_{r = a}^{a + t} gain(r).

        Parameters
        ----------
        above, tied, candidates : Ints
            Per row: candidates with a greater score, other candidates with the same score, all candidates.
        """
        return _expected(self, above, tied, candidates, None)

    def row_gains(self, above: Ints, tied: Ints, candidates: Ints, listed: Ints | None = None) -> Floats:
        """Return the expected gain per row; with a cut-off, items that were not listed gain nothing.

        Parameters
        ----------
        above, tied, candidates : Ints
            As in :meth:`expected`.
        listed : Ints, optional
            How many candidates the model listed for the row's user; None if it scored all.
        """
        del listed  # without a cut-off, unlisted items are tied below the list, as the ranks already have them
        return self.expected(above, tied, candidates)

    def recipe(self, size: int) -> Recipe:
        """Return the gains of all places."""
        return PlaceGains(_gains_of_places(self, size, size), cut=False, divisor=lambda _: 1.0)

    def divisor(self, cutoff: int, length: Ints) -> Floats | float:
        """Return the divisor of each gain at a cut-off, given the ``length`` of the user's list."""
        return 1.0

    def __matmul__(self, k: int) -> "AtK":
        """Cut off after rank k, as in ``ADG() @ 10``."""
        self._check_cutoff(k)
        return AtK(self, int(k))


@dataclass(frozen=True)
class AtK(Metric):
    """A metric whose gain is zero past rank k; made by ``metric @ k`` and printed as ``metric@k``."""

    takes_cutoff: ClassVar[TakesCutoff] = "never"

    metric: Metric
    k: int

    def __str__(self) -> str:
        """Print the word with its cut-off."""
        return f"{self.metric}@{self.k}"

    @property
    def kind(self) -> Kind:  # type: ignore[override]
        """The kind of the metric inside."""
        return self.metric.kind

    @property
    def lower_is_better(self) -> bool:  # type: ignore[override]
        """Whether smaller values are better."""
        return self.metric.lower_is_better

    @property
    def unbiased_to_missing(self) -> bool:
        """Whether the metric inside has the same value on average when items are missing."""
        return self.metric.unbiased_to_missing

    @property
    def uses_candidates(self) -> bool:  # type: ignore[override]
        """Whether the gain depends on the number of candidates."""
        return self.metric.uses_candidates

    @property
    def cutoff(self) -> int:
        """The last rank that counts."""
        return self.k

    def describe(self, cutoff: int | str | None) -> str:
        """Return the definition of the metric inside at this cut-off."""
        return self.metric.describe(cutoff)

    def gain(self, above: Ints, candidates: Ints) -> Floats:
        """Return the gain inside, zero from place k on."""
        gain = np.where(above < self.k, self.metric.gain(above, candidates), 0.0)
        return gain / self.metric.divisor(self.k, candidates)

    def expected(self, above: Ints, tied: Ints, candidates: Ints) -> Floats:
        """Return the mean gain over all orders of each tie group."""
        return self.row_gains(above, tied, candidates)

    def row_gains(self, above: Ints, tied: Ints, candidates: Ints, listed: Ints | None = None) -> Floats:
        """Return the expected gain per row, zero where the item was not listed."""
        gains = _expected(self.metric, above, tied, candidates, self.k)
        if listed is not None:
            gains = np.where(above < listed, gains, 0.0)
        divisor = self.metric.divisor(self.k, candidates if listed is None else listed)
        return gains if isinstance(divisor, float) and divisor == 1.0 else gains / divisor

    def recipe(self, size: int) -> Recipe:
        """Return the gains of the places up to the cut-off."""
        table = _gains_of_places(self.metric, min(self.k, size), size)
        return PlaceGains(table, cut=True, divisor=lambda lengths: self.metric.divisor(self.k, lengths))


@dataclass(frozen=True)
class ListMetric(MetricWord):
    """A value per user from all of the user's ranks that is not a mean or sum over items."""

    kind: ClassVar[Kind] = "list"

    k: int | None = field(default=None, init=False)

    @property
    def cutoff(self) -> int | None:
        """The last rank that counts, or None."""
        return self.k

    @abstractmethod
    def values(self, lists: UserLists) -> Floats:
        """Return one value per user, its mean over all orders of each tie group; NaN where undefined."""

    def expected_values(self, lists: UserLists, sizes: Ints) -> Floats:
        """Return one value per user, its mean over all choices of ``sizes`` of the user's positives.

        The positives left out stay candidates, so the others keep their ranks. With a size larger than the user's
        number of positives, it is an unbiased estimate of the value on that many. NaN if undefined.

        Parameters
        ----------
        lists : UserLists
        sizes : Ints
            How many positives each user keeps, at least 1.

        Raises
        ------
        ConfigError
            If the metric has no exact form for this.
        """
        if self.unbiased_to_missing:
            return self.values(lists)
        raise ConfigError(
            f"{self} is not defined on a part of the positives; give {type(self).__name__} a method "
            "expected_values(lists, sizes), or use a mean such as adg"
        )

    def _checked_depth(self) -> int:
        """Return the cut-off, which sums over all candidates need."""
        if self.k is None or self.k > DEEPEST:
            word = str(self).split("@", maxsplit=1)[0]
            raise ConfigError(f"{self} over all candidates needs a cut-off of at most {DEEPEST}, as in {word}@10")
        return self.k

    def __matmul__(self, k: int) -> Self:
        """Cut off after rank k, as in ``NDCG() @ 10``."""
        self._check_cutoff(k)
        cut = copy.copy(self)
        object.__setattr__(cut, "k", int(k))
        return cut

    def __str__(self) -> str:
        """Print the word with its cut-off."""
        return super().__str__() if self.k is None else f"{super().__str__()}@{self.k}"


def _expected(metric: Metric, above: Ints, tied: Ints, candidates: Ints, cutoff: int | None) -> Floats:
    if not metric.uses_candidates:
        # One table over places is far cheaper than one logarithm per row.
        places = np.arange(positions_used(above, tied, cutoff))
        return mean_gain(metric.gain(places, np.full(places.size, places.size)), above, tied)
    values = np.array(metric.gain(above, candidates), dtype=np.float64)
    if cutoff is not None:
        values[above >= cutoff] = 0.0
    rows = np.flatnonzero(tied)
    rows = rows[np.argsort(candidates[rows], kind="stable")]
    numbers, starts = np.unique(candidates[rows], return_index=True)
    for number, part in zip(numbers, np.split(rows, starts[1:]), strict=False):
        places = np.arange(positions_used(above[part], tied[part], cutoff))
        table = metric.gain(places, np.full(places.size, number))
        values[part] = mean_gain(table, above[part], tied[part])
    return values


def _gains_of_places(metric: Metric, places: int, size: int) -> Floats:
    """Return the gains of the first places, which must be the same for every number of candidates."""
    if metric.kind == "graded":  # the chance that an item is relevant is not a rating
        raise ConfigError(f"{metric} has no sum over all candidates without their ratings; use dcg or precision")
    if metric.uses_candidates:
        raise ConfigError(f"{metric} has another gain for each number of candidates; use a metric such as adg or auc")
    return metric.gain(np.arange(places), np.full(places, size))
