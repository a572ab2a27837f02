"""Negative sampling: positives compared with the hardest of some drawn items."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from unskew.errors import ConfigError
from unskew.models.debiased.model import DebiasedModel
from unskew.models.model import check_whole

if TYPE_CHECKING:
    from unskew.models.debiased.method import Method, Setting


@dataclass(frozen=True)
class NegS(DebiasedModel, word="negs"):
    r"""Positives only, each against the H highest scored of U items drawn for it: DNS(H, U) with the log loss.

    .. math:: \min \sum_{(u, i) \in O^+} \bigl[-\ln \sigma(\hat y_{ui})
       - \frac{1}{H} \sum_{j \in N_{ui}} \ln(1 - \sigma(\hat y_{uj}))\bigr] + \frac{\lambda}{2} \lVert \Theta \rVert^2

    The U items are drawn uniformly, with replacement, from the whole catalogue, including the user's positives. With a
    smaller share H/U only items near the top of the user's list matter; if it is below the user's share of positives,
    these mostly compete with one another, and scores shrink to 0. Wang et al. (2024), section 4; the sampler is that of
    Shi et al. (2023). Observed negatives are not used. Other options are those of `DebiasedModel`.

    Parameters
    ----------
    hardest : int
        H.
    drawn : int
        U.
    """

    learning_rate: float = 0.02
    regularisation: float = 0.1
    hardest: int = 10
    drawn: int = 100

    needs_both: ClassVar[bool] = False
    judged_per_user: ClassVar[bool] = True  # the loss compares items of one user, so scores of two users differ freely
    cells: ClassVar[int] = 300_000  # small, because draws of different steps are independent

    def __post_init__(self) -> None:
        super().__post_init__()
        check_whole(self, "hardest")
        check_whole(self, "drawn")
        if self.hardest > self.drawn:
            raise ConfigError(f"{self}: hardest must be at most drawn ({self.drawn})")

    def method(self, setting: "Setting") -> "Method":
        """The steps of negative sampling."""
        from unskew.models.debiased.negs_steps import Sampled

        return Sampled(self, setting)
