"""`Samples`: all judged rows of a run, by kind."""

from collections.abc import Collection
from dataclasses import dataclass, replace

from unskew.arrays import Bools
from unskew.estimators import OVER_ALL_PAIRS, Estimator
from unskew.evaluation.collecting.exposed import Exposed
from unskew.evaluation.collecting.imputed import Imputed
from unskew.evaluation.collecting.predicted import Ratings
from unskew.evaluation.collecting.sample import Sample
from unskew.evaluation.collecting.sampled_ranks import CorrectionCheck
from unskew.evaluation.collecting.shown import Shown
from unskew.metrics import AnyMetric
from unskew.ranking import Contest


@dataclass(frozen=True, eq=False)
class Samples:
    """The rows that the estimates of a run are computed from."""

    judged: Sample  # the positives; the rated rows if all metrics are over ratings
    ratings: Ratings | None = None  # all rows with a rating, for metrics over all pairs
    exposed: Exposed | None = None  # all rows of a randomly exposed test, positive or not
    contest: Contest | None = None  # the ranked users and candidates; None if all ranks were saved ones
    block_size: int | None = None  # users scored at a time
    imputed: Imputed | None = None  # all candidates with their chances of relevance
    shown: Shown | None = None  # the top lists, for metrics of what is in them
    correction: tuple[CorrectionCheck, ...] | None = None  # errors of corrected numbers, compared with full ranking

    def of(self, metric: AnyMetric, estimator: Estimator) -> Sample:
        """The rows that an estimator of a metric uses."""
        if metric.kind == "content":
            assert self.shown is not None
            return self.shown
        if self.imputed is not None and estimator.sees == "candidates":
            return self.imputed
        if self.exposed is not None and estimator.sees != "observed":
            return self.exposed if estimator.sees == "exposed" else self.exposed.inside
        return self.observed(metric)

    def observed(self, metric: AnyMetric) -> Sample:
        """The rows of a metric in an observed log: rated rows, or positives."""
        return self.judged if self.ratings is None or metric.kind not in OVER_ALL_PAIRS else self.ratings

    @property
    def whole(self) -> Sample:
        """All rows that were ranked, positive or not."""
        return self.judged if self.exposed is None else self.exposed

    def of_users(self, known: Bools, models: Collection[str]) -> "Samples":
        """The rows of some users, and of some models; `known` is by code."""
        judged = self.judged.of_users(known, models)
        if isinstance(judged, Ratings):
            return replace(self, judged=judged, ratings=judged)
        ratings = None if self.ratings is None else self.ratings.of_users(known, models)
        shown = None if self.shown is None else self.shown.of_users(known, models)
        return replace(self, judged=judged, ratings=ratings, shown=shown)
