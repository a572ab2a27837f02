"""Metrics over the held-out rows of each popularity stratum, with intervals."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from unskew.audit.popularity import STRATA, Strata
from unskew.errors import ConfigError
from unskew.estimators import Estimate
from unskew.evaluation.collecting.samples import Samples
from unskew.evaluation.estimating.estimation import Estimation
from unskew.evaluation.fitting.propensities import Propensities
from unskew.evaluation.settings.settings import Settings
from unskew.metrics import AnyMetric, parse_metric

ALL = "all"
ESTIMATOR = "aoa(per=pair)"  # so that the strata, weighted by their rows, add up to the whole


@dataclass(frozen=True)
class StratumEstimate:
    """A metric of a model over the held-out rows of one stratum, or of all."""

    stratum: str
    rows: int
    estimate: Estimate

    def to_dict(self) -> dict[str, Any]:
        """As in the JSON."""
        row = self.estimate
        return {
            "stratum": self.stratum,
            "model": row.model,
            "metric": row.metric,
            "definition": row.definition,
            "estimator": row.estimator,
            "target": row.target,
            "value": row.value,
            "std_error": row.std_error,
            "low": row.low,
            "high": row.high,
            "level": row.level,
            "users": row.users,
            "rows": self.rows,
        }


def check_metrics(metrics: Sequence[str | AnyMetric] | None) -> None:
    """Refuse metrics that are not means over held-out items, which cannot be split by stratum."""
    for metric in map(parse_metric, [metrics] if isinstance(metrics, str) else metrics or ()):
        if metric.kind != "mean":
            raise ConfigError(
                f"{metric} is not a mean over held-out items, so it cannot be split by popularity; use auc, "
                "recall@K or adg@K"
            )


def estimate_strata(
    samples: Samples, strata: Strata, settings: Settings, propensities: Propensities, threads: int | None = None
) -> Iterator[StratumEstimate]:
    """Yield each metric of each model over all held-out rows, and over those of each stratum that has any.

    The mean is over rows; the user is the unit of its standard error, as in every estimate. So the strata's values,
    weighted by their rows, add up to the value over all.
    """
    sample = samples.judged
    of_row = strata.of_item[sample.items]
    for name, keep in ((ALL, np.ones(sample.rows, dtype=bool)), *((s, of_row == k) for k, s in enumerate(STRATA))):
        if not keep.any():
            continue
        part = replace(samples, judged=sample.where(keep))
        _, estimates, _ = Estimation(part, settings, propensities, threads).run()
        yield from (StratumEstimate(name, part.judged.rows, estimate) for estimate in estimates)
