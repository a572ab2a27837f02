"""Unbiased recall evaluation: metrics over all candidates from items that were drawn at random."""

from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np

from unskew.arrays import Floats, Ints
from unskew.errors import ConfigError
from unskew.estimators.estimate import Terms
from unskew.estimators.estimator import Estimator, check_choice
from unskew.estimators.exposed.beta_binomial import chance_of_any
from unskew.estimators.exposed.draw_error import with_draw_errors
from unskew.estimators.exposed.reduction import control, fall, rows_below
from unskew.estimators.rows import Kind, Rows


@dataclass(frozen=True)
class Ure(Estimator, word="ure"):
    r"""Unbiased recall evaluation, from items drawn at random and ranked among all candidates [wang2024].

    With L candidates of a user, l of them exposed, n positives among these and :math:`g_i` the gain of an item at its
    rank among all L, the mean :math:`\bar g_u = \frac{1}{n}\sum g_i` over the positives in the sample is unbiased for
    the mean over all of the user's positives, given :math:`n \ge 1` (theorem 3 for recall; it holds for any g). The
    means of users are combined in one of three ways:

    ========= ============================================= ================================================
    aggregate value                                         target
    ========= ============================================= ================================================
    mean      mean of :math:`\bar g_u` over users, n >= 1   as published; biased to users with many positives
    pooled    :math:`\sum \frac{L}{l} n \bar g / \sum       all positive pairs, without bias as users grow
              \frac{L}{l} n`
    ipw       :math:`\sum w \bar g / \sum w`,               mean over users; less biased than ``mean``
              :math:`w = 1 / P(n \ge 1)`
    ========= ============================================= ================================================

    A sum over a user's positives, such as precision@K or dcg@K, is estimated by :math:`\frac{L}{l} \sum g_i`, users
    without a positive counting as 0, whatever the aggregate; it is unbiased (Horvitz and Thompson 1952). NDCG is a
    ratio of two estimates: ``pooled`` divides the summed DCG of users by their summed ideal DCG, expected given n,
    which is near its target if a beta-binomial fits the users. The others average the ratios of users, with :math:`\hat
    N^+ = \frac{L}{l} n` positives. That is too many for users with one positive in a small sample, whose ideal list is
    full anyway, so these are much too high in small samples.

    Parameters
    ----------
    aggregate : {"mean", "pooled", "ipw"}
    counts : {"beta-binomial", "plug-in"}
        Where ``ipw`` gets the number of positives: from their distribution given n, with a and b of a beta-binomial
        fitted to all users, or as :math:`\frac{L}{l} n`.
    reduce : {"none", "control", "monotone"}
        Reduce the variance, for ``pooled`` and for sums. ``control``: the number of sampled items at ranks that gain,
        and its expectation, are known without labels; the deviation is subtracted, which is unbiased as users grow.
        ``monotone``: assumes that the share of positives falls with the rank, for even less variance. The estimate is
        wrong if the share rises; if it falls, it is slightly too high at the top, less so with more positives there.
    literal : bool
        Recall as published: items whose score equals that of rank K + 1 count as missed.
    """

    sees: ClassVar[str] = "exposed"
    kinds: ClassVar[frozenset[str]] = frozenset({"mean", "sum", "list"})
    uses_propensity: ClassVar[bool] = False
    aggregate: Literal["mean", "pooled", "ipw"] = "mean"
    counts: Literal["beta-binomial", "plug-in"] = "beta-binomial"
    reduce: Literal["none", "control", "monotone"] = "none"
    literal: bool = False

    def __post_init__(self) -> None:
        check_choice("aggregate", self.aggregate, ("mean", "pooled", "ipw"))
        check_choice("counts", self.counts, ("beta-binomial", "plug-in"))
        check_choice("reduce", self.reduce, ("none", "control", "monotone"))
        if self.reduce != "none" and (self.aggregate != "pooled" or self.literal):
            raise ConfigError(f"{self}: variance is reduced in the pooled form only; write ure(aggregate=pooled, ...)")

    @property
    def corrects(self) -> bool:
        """Whether it corrects: yes, for items that were not drawn."""
        return True

    @property
    def target(self) -> str:
        """What the number estimates."""
        return {
            "mean": "relevant items, mean over users with one in the sample",
            "pooled": "relevant pairs",
            "ipw": "relevant items, mean over users",
        }[self.aggregate]

    def target_of(self, kind: str) -> str:
        """What the number estimates for a metric of this kind."""
        if kind == "sum":
            return "relevant items, sum, mean over users"
        if kind == "list" and self.aggregate == "pooled":
            return "all users, gain over ideal gain"
        return self.target

    def knows_draw_error(self, kind: str) -> bool:
        """Whether the error is known if users are fixed and only the draw of their items is random."""
        return kind == "sum" or (kind == "mean" and self.aggregate == "pooled")

    @property
    def misses_ties(self) -> bool:
        """Whether ties across the cut-off count as missed: only in the published form."""
        return self.literal

    def terms(self, rows: Rows, kind: Kind) -> Terms:
        """Terms of a mean, of a sum (the Horvitz-Thompson estimate), or of a sum as a share of its ideal."""
        if kind not in self.kinds:
            raise self.refuse(kind)
        gains = rows.positive_sums(rows.worth)
        if kind == "sum":
            return self._reduced(Terms(rows.scale * gains, np.ones(rows.n_users)), rows)
        if kind == "list":
            return self._shares(rows.scale * gains, rows)
        if self.aggregate == "pooled":
            return self._reduced(Terms(rows.scale * gains, rows.scale * rows.positives), rows)
        return self._averaged(_ratio(gains, rows.positives), rows)

    def weights(self, rows: Rows, kind: Kind) -> Floats:
        """Weight of each row in the estimate, up to scale; 0 for rows that are not positive."""
        if kind == "sum" or self.aggregate == "pooled":
            return np.where(rows.labels, rows.scale[rows.user], 0.0)
        return np.where(rows.labels, (self._user_weights(rows) / np.maximum(rows.positives, 1))[rows.user], 0.0)

    def _shares(self, gains: Floats, rows: Rows) -> Terms:
        """Terms of a sum over a user's positives as a share of its ideal, as in NDCG."""
        if rows.places is None or rows.places.ideal is None:
            raise ConfigError(f"{self} cannot estimate list metrics other than ndcg; use ndcg")
        ideal = rows.places.ideal
        if self.aggregate == "pooled":
            ideals = rows.prior.expect(
                lambda numbers, *_: ideal(numbers.astype(np.int64)), rows.positives, rows.counts, rows.population
            )
            # the variation of the ideal with the draw has no simple form, so the error of the draw has none
            return replace(self._reduced(Terms(gains, ideals), rows), rows=None)
        numbers = np.rint(rows.scale * rows.positives).astype(np.int64)
        return self._averaged(_ratio(gains, ideal(numbers)), rows)

    def _averaged(self, values: Floats, rows: Rows) -> Terms:
        """The mean over users with a positive in the sample, weighted or not; other users are excluded."""
        weights = np.where(rows.positives > 0, self._user_weights(rows), 0.0)
        return Terms(weights * values, weights, idle=int(np.sum(rows.positives == 0)))

    def _user_weights(self, rows: Rows) -> Floats:
        if self.aggregate == "mean":
            return np.ones(rows.n_users)
        if self.counts == "beta-binomial":
            return rows.prior.expect(
                lambda numbers, size, among: 1 / chance_of_any(np.maximum(numbers, 1), size, among),
                np.maximum(rows.positives, 1),
                rows.counts,
                rows.population,
            )
        numbers = rows.scale * np.maximum(rows.positives, 1)
        triples = zip(numbers, rows.counts, rows.population, strict=True)
        return np.array([1 / float(chance_of_any(n, int(size), int(among))) for n, size, among in triples])

    def _reduced(self, terms: Terms, rows: Rows) -> Terms:
        if self.reduce == "control":
            return control(terms, rows)
        if self.reduce == "monotone":
            return fall(terms, rows)
        above = rows.scale[rows.user] * rows.labels * rows.worth
        return with_draw_errors(terms, above, rows_below(terms, rows), rows)


def _ratio(above: Floats, below: Floats | Ints) -> Floats:
    return np.asarray(np.divide(above, below, out=np.zeros(len(above)), where=np.asarray(below) > 0))
