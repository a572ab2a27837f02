"""`ModelAudit`: popularity and coverage of a model's recommendations, and how they grow with n*."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from unskew.arrays import Floats, dot
from unskew.audit.popularity import STRATA, Strata
from unskew.data import Interactions
from unskew.data.concentration import gini
from unskew.errors import PropensityError
from unskew.propensities.popularity_fit import GammaFit, PresentationBias, fit_gamma, presentation_bias
from unskew.ranking import TopCounts


@dataclass(frozen=True, eq=False)
class ModelAudit:
    r"""The top-k lists of one model.

    `coverage` is the share of the catalogue in at least one list, :math:`\overline{\min(1, N_i)}`: an item that only
    shares a tie for the last places counts for its share of them. `bias` is :math:`f(n^*)`, the mean number of lists
    that hold an item of this popularity.
    """

    model: str
    k: int
    users: int  # users with a training row whom the model knows
    places: float  # places filled in their lists, at most k per user
    coverage: float
    gini: float  # of how often each item of the catalogue is recommended
    popularity: float  # average recommendation popularity: mean n* over all places
    history: float  # mean over users of the mean n* of their own training items
    shares: Floats  # share of the places of head, middle and tail
    outside: float  # share of the places with items that the log does not know; with `shares` it sums to 1
    bias: PresentationBias
    gamma: GammaFit | None  # None if it is not identified, with the reason in `why`
    why: str
    recommended: Floats  # how many lists hold each item of the catalogue

    @property
    def lift(self) -> float | None:
        """Popularity of the recommended items relative to that of the users' training items."""
        return self.popularity / self.history if self.history > 0 else None

    def to_dict(self) -> dict[str, Any]:
        """As in the JSON."""
        return {
            "model": self.model,
            "k": self.k,
            "users": self.users,
            "places": self.places,
            "coverage": self.coverage,
            "gini": self.gini,
            "average_recommendation_popularity": self.popularity,
            "average_history_popularity": self.history,
            "popularity_lift": self.lift,
            "places_by_stratum": dict(zip(STRATA, self.shares.tolist(), strict=True)),
            "places_outside_log": self.outside,
            "gamma": None if self.gamma is None else self.gamma.gamma,
            "gamma_std_error": None if self.gamma is None else self.gamma.std_error,
            "gamma_levels": None if self.gamma is None else self.gamma.levels,
            "gamma_cut_items": None if self.gamma is None else self.gamma.cut_items,
            "gamma_not_identified": self.why or None,
            "levels": self.bias.levels.tolist(),
            "f": self.bias.f.tolist(),
            "items_at": self.bias.items.tolist(),
        }


def measure_lists(model: str, top: TopCounts, strata: Strata, train: Interactions) -> ModelAudit:
    """Measure what the top-k lists of a model hold; popularity is counted on the positives of `train`."""
    popularity = strata.popularity
    recommended = np.where(strata.catalogue, top.counts, 0.0)
    inside = float(recommended.sum())
    places = inside + top.outside
    gamma, why = _gamma(strata, top)
    return ModelAudit(
        model=model,
        k=top.k,
        users=top.n_users,
        places=places,
        coverage=float(np.mean(np.minimum(recommended[strata.catalogue], 1.0))),
        gini=gini(recommended[strata.catalogue]),
        popularity=dot(recommended, popularity) / places if places > 0 else 0.0,
        history=history_popularity(train),
        shares=strata.shares(recommended) * (inside / places if places > 0 else 0.0),
        outside=top.outside / places if places > 0 else 0.0,
        bias=presentation_bias(popularity, recommended),
        gamma=gamma,
        why=why,
        recommended=recommended[strata.catalogue],
    )


def history_popularity(train: Interactions) -> float:
    """The mean over users of the mean popularity of their own items."""
    sums = np.bincount(train.users, weights=train.item_counts[train.items], minlength=train.n_users)
    has = train.user_counts > 0
    return float(np.mean(sums[has] / train.user_counts[has])) if has.any() else 0.0


def _gamma(strata: Strata, top: TopCounts) -> tuple[GammaFit | None, str]:
    # the hint of the error is left out, because an audit does not need gamma
    try:
        return fit_gamma(strata.popularity, top.counts), ""
    except PropensityError as error:
        return None, str(error).removeprefix("gamma is not identified: ").partition("; ")[0]
