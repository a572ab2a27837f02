"""`Dm`: the direct method, a mean over all candidates weighted by their chance of being relevant."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unskew.arrays import Floats
from unskew.estimators.estimate import Terms
from unskew.estimators.estimator import Estimator
from unskew.estimators.rows import Kind, Rows


@dataclass(frozen=True)
class Imputing(Estimator):
    """The base of estimators that sum over all candidates.

    Parameters
    ----------
    q : str
        Where the chances of relevance come from: ``labels``, ``scores(FILE)`` or ``slice``.
    """

    sees: ClassVar[str] = "candidates"
    kinds: ClassVar[frozenset[str]] = frozenset({"mean", "sum", "list"})
    uses_propensity: ClassVar[bool] = False
    uses_exposure: ClassVar[bool] = False
    """Whether it also weights held-out rows by the exposure model."""

    q: str = "labels"

    @property
    def corrects(self) -> bool:
        """True: it is about all relevant pairs, not only those observed."""
        return True

    @property
    def target(self) -> str:
        """What the number estimates."""
        return "relevant pairs"

    def target_of(self, kind: str) -> str:
        """What the number estimates for a metric of this kind."""
        return self.target if kind == "mean" else "relevant items, mean over users"

    def weights(self, rows: Rows, kind: Kind) -> Floats:
        """Sum of the chances of each user's candidates."""
        return np.ones(len(rows)) if rows.size is None else rows.size


@dataclass(frozen=True)
class Dm(Imputing, word="dm"):
    r"""Direct method: every candidate counts with its chance of being relevant.

    .. math:: \frac{\sum_{u,i} q_{ui} c_{ui}}{\sum_{u,i} q_{ui}}

    The sums are over all candidates of all users. A sum metric is divided by the number of users instead, and a list
    metric is the expectation of its value if every candidate is relevant with chance q, independently, given that one
    is. It is as good as q: no held-out row corrects it.
    """

    def terms(self, rows: Rows, kind: Kind) -> Terms:
        """Sums of q c and of q of each user."""
        if kind not in self.kinds:
            raise self.refuse(kind)
        size = np.ones(len(rows)) if rows.size is None else rows.size
        return Terms(rows.worth, size)
