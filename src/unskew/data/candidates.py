"""The candidate rules: which items a held-out item is ranked among."""

from dataclasses import dataclass
from typing import Literal

from unskew.errors import ConfigError, did_you_mean
from unskew.notation import Named

CORRECTIONS = ("none", "unbiased", "bias-variance")


class Candidates(Named, family="candidate rule"):
    """Which items a held-out item is ranked among."""


@dataclass(frozen=True)
class Unseen(Candidates, word="unseen"):
    """The catalogue minus the user's training items; validation items stay."""


@dataclass(frozen=True)
class All(Candidates, word="all"):
    """The whole catalogue, training items included."""


@dataclass(frozen=True)
class Trained(Candidates, word="trained"):
    """The items that occur in training, minus the user's own training items."""


@dataclass(frozen=True)
class Listed(Candidates, word="listed"):
    """Only the rows given for the user in the test, positive or not."""


@dataclass(frozen=True)
class Sampled(Candidates, word="sampled"):
    """The user's positives and n items drawn without replacement from outside the user's train, validation and test.

    If there are fewer than n such items, all of them are candidates.

    Parameters
    ----------
    n : int
    correction : {"none", "unbiased", "bias-variance"}
        Correct the gains towards those among all items outside the user's train and validation [krichene2020].
    """

    n: int
    correction: Literal["none", "unbiased", "bias-variance"] = "none"
    positional = ("n",)

    def __post_init__(self) -> None:
        if self.n < 1:
            raise ConfigError(f"sampled({self.n}): n must be at least 1")
        if self.correction not in CORRECTIONS:
            raise ConfigError(
                f"unknown correction={self.correction} in 'sampled'{did_you_mean(self.correction, CORRECTIONS)}"
            )

    @property
    def corrected(self) -> bool:
        """Whether the gains are corrected towards full ranking."""
        return self.correction != "none"
