"""What the debiased models share: options, what they learn from, and what they give back."""

from abc import abstractmethod
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from unskew.arrays import SeedLike
from unskew.blas import one_thread
from unskew.data import Interactions
from unskew.errors import ConfigError, Option
from unskew.models.debiased.labelled import Labelled
from unskew.models.model import Model, Progress, check_number, check_rows, check_whole, silent
from unskew.models.training.stepwise import Check, Tell
from unskew.ranking.scorers import FactorScorer

if TYPE_CHECKING:
    from unskew.models.debiased.method import Method, Setting

HINT = "pip install 'unskew[models]'"
FACTORS = {"mf": 10, "lightgcn": 64}
"""Of each backbone, where none are asked for."""


@dataclass(frozen=True, eq=False, repr=False)
class DebiasedFit:
    """The end of a training run.

    Parameters
    ----------
    scorer : FactorScorer
        As it was after the epoch with the best validation AUC, or the last one where there is no validation.
    last : FactorScorer
        As it was at the end.
    best_epoch : int
        The epoch of `scorer`, from 1.
    epochs : int
        How many were trained.
    auc : float, optional
        The best validation AUC: over all pairs of a positive and a negative row, whoever their users are.
    checks : tuple of Check
        Loss and AUC after each epoch.
    """

    scorer: FactorScorer
    last: FactorScorer
    best_epoch: int
    epochs: int
    auc: float | None
    checks: tuple[Check, ...]

    def __repr__(self) -> str:
        judged = "" if self.auc is None else f", auc {self.auc:.4f} at {self.best_epoch}"
        return f"DebiasedFit({self.scorer.name}: {self.epochs} epochs{judged})"


@dataclass(frozen=True)
class DebiasedModel(Model):
    """Factors learnt from labels that were observed selectively, with or without a small uniform sample.

    The values of the rows are labels: 1 for a positive, 0 for a negative; without values every row is a positive. A
    step looks at all items of a block of users. The same rows, options and seed give the same factors. They need torch.

    Parameters
    ----------
    backbone : {"mf", "lightgcn"}
        How scores come about: ``mf`` is matrix factorisation, u · v + b_u + b_i; ``lightgcn`` lets the factors of
        users and items flow along the positive rows of the log (He et al. 2020) and takes the dot product.
    factors : int, optional
        10 for ``mf`` and 64 for ``lightgcn`` by default.
    learning_rate : float
    regularisation : float
        λ: the loss, a sum over rows, gets λ/2 times the squared length of all factors (before they flow, biases
        excepted), once an epoch whatever the block. The code of Chen et al. (2021) adds it once for each block of
        64 x 64 pairs, so five times an epoch on Coat: its 10 there is 50 here.
    epochs : int
        Times that all users are looked at, at most.
    patience : int
        Epochs without a better validation AUC after which it stops; 0 for never.
    optimiser : {"adam", "sgd"}
        Adam as Wang et al. (2024) have it, or plain steps as in the code of Chen et al. (2021), which wants a far
        smaller learning rate.
    layers : int
        How often factors flow with ``lightgcn``; the mean over all states, the first included, is taken.
    block : int, optional
        Users a step; by default as many as make a million pairs, and at most a fifth of them.
    """

    backbone: Literal["mf", "lightgcn"] = "mf"
    factors: int | None = None
    learning_rate: float = 0.05
    regularisation: float = 10.0
    epochs: int = 100
    patience: int = 20
    optimiser: Literal["adam", "sgd"] = "adam"
    layers: int = 3
    block: int | None = None

    needs_uniform: ClassVar[bool] = False
    """Whether it learns from a uniform sample too."""
    needs_both: ClassVar[bool] = True
    """Whether the log must hold positives and negatives."""
    patient_until: ClassVar[int] = 0
    """Epochs before which it never stops."""
    cells: ClassVar[int] = 1_000_000
    """Pairs of a user and an item in a block, where none is asked for."""

    def __post_init__(self) -> None:
        for option in ("epochs", "layers"):
            check_whole(self, option)
        for option in ("factors", "block"):
            if getattr(self, option) is not None:
                check_whole(self, option)
        check_whole(self, "patience", 0)
        check_number(self, "learning_rate")
        check_number(self, "regularisation", zero=True)
        self._check_choice("backbone", ("mf", "lightgcn"))
        self._check_choice("optimiser", ("adam", "sgd"))

    def _check_choice(self, option: str, choices: tuple[str, ...]) -> None:
        if getattr(self, option) not in choices:
            raise ConfigError(f"{self.word}({option}={getattr(self, option)}): expected {' or '.join(choices)}")

    @property
    def width(self) -> int:
        """The number of factors."""
        return self.factors or FACTORS[self.backbone]

    @abstractmethod
    def method(self, setting: "Setting") -> "Method":
        """What takes the steps."""

    def learn(self, train: Interactions, rng: np.random.Generator, progress: Progress) -> FactorScorer:
        """Train to the last epoch, without uniform rows or validation."""
        return self.train(train, rng=rng, progress=progress).scorer

    def train(
        self,
        train: Interactions,
        *,
        uniform: Interactions | None = None,
        validation: Interactions | None = None,
        rng: SeedLike = 0,
        progress: Progress | None = None,
        tell: Tell | None = None,
    ) -> DebiasedFit:
        """Train, with a uniform sample, validation and early stop.

        All three parts are coded in one pair of vocabularies, as the parts of a split are. Users and items that the
        model cannot know (see `Model.fit`) are left out of the other two.

        Parameters
        ----------
        train : Interactions
        uniform : Interactions, optional
            Labelled pairs that were drawn uniformly; `needs_uniform` says who learns from them.
        validation : Interactions, optional
            Labelled pairs; the state with the best AUC on them is given back.
        rng : int or Generator
        progress : callable, optional
            Called as ``progress(done, total)`` after each epoch.
        tell : callable, optional
            Called with loss and AUC in words after each epoch.

        Raises
        ------
        ConfigError
            When torch is not installed, or a uniform sample is needed and there is none.
        DataError
            When a part has no row, lacks a label or holds other values, or the numbers grow without bound.
        """
        check_rows(self, train)
        if self.needs_uniform and uniform is None:
            raise ConfigError(
                f"{self} learns from a small uniform sample too, and there is none; give its file with "
                f"{Option('uniform').flag}, or from Python evaluate(..., uniform=...)"
            )
        if find_spec("torch") is None:
            raise ConfigError(f"{self} needs torch, which is not installed: {HINT}")
        from unskew.models.debiased.trainer import run

        rows = Labelled.of(train, str(self), both=self.needs_both)
        sample = rows.part(uniform, str(self)) if self.needs_uniform and uniform is not None else None
        judged = None if validation is None else rows.part(validation, str(self))
        with one_thread():
            return run(self, rows, sample, judged, np.random.default_rng(rng), progress or silent, tell)
