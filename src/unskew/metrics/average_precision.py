"""Average precision in its forms."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from unskew.arrays import Floats
from unskew.metrics.lists import UserLists, divide
from unskew.metrics.metric import ListMetric
from unskew.metrics.positions import harmonic_numbers, positions_used


@dataclass(frozen=True)
class MAP(ListMetric, word="map"):
    """Average precision: the precision at each hit, summed and divided by the number of relevant items.

    Parameters
    ----------
    of : {"all", "min"}
        Divide by all relevant items, as trec_eval's ``map_cut`` and ranx do, or by min(K, relevant), as
        RecBole and Kaggle do; the same without a cut-off.
    """

    of: Literal["all", "min"] = "all"

    def describe(self, cutoff: int | str | None) -> str:
        """Return the definition."""
        hits = "each relevant item" if cutoff is None else f"each hit in the top {cutoff}"
        by = "all relevant" if cutoff is None or self.of == "all" else f"min({cutoff}, relevant)"
        return f"sum of the precision at {hits} / {by}"

    def values(self, lists: UserLists) -> Floats:
        """Return the average precision per user."""
        from unskew.metrics.tie_groups import precision_sums

        harmonic = harmonic_numbers(positions_used(lists.above, lists.tied, self.k))
        sums = precision_sums(lists.offsets, lists.above, lists.tied, lists.limits(self.k), harmonic)
        if self.k is None or self.of == "all":
            return divide(sums, lists.relevant)
        return divide(sums, np.minimum(lists.relevant, self.k))
