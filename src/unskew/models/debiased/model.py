"""The base of the debiased models: their options, their training, and its result."""

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
from unskew.models.training.stepwise import Check, Say
from unskew.ranking.scorers import FactorScorer

if TYPE_CHECKING:
    from unskew.models.debiased.method import Method, Setting

HINT = "pip install 'unskew[models]'"
FACTORS = {"mf": 10, "lightgcn": 64}
"""The default number of factors of each backbone."""


@dataclass(frozen=True, eq=False, repr=False)
class DebiasedFit:
    """The result of a training run.

    Parameters
    ----------
    scorer : FactorScorer
        The model after the epoch with the best validation AUC, or after the last one without validation.
    last : FactorScorer
        The model at the end.
    best_epoch : int
        The epoch of `scorer`, from 1.
    epochs : int
        Number of epochs trained.
    auc : float, optional
        The best validation AUC, over all pairs of a positive and a negative row, across users; of a model with
        `judged_per_user` the mean over users of their own.
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
    step uses all items of a block of users. The same rows, options and seed give the same factors. They need torch.

    Parameters
    ----------
    backbone : {"mf", "lightgcn"}
        The form of the scores: ``mf`` is matrix factorisation, u · v + b_u + b_i; ``lightgcn`` is the dot product of
        factors that were propagated along the positive rows of the log (He et al. 2020).
    factors : int, optional
        10 for ``mf`` and 64 for ``lightgcn`` by default.
    learning_rate : float
    regularisation : float
        λ: the loss, a sum over rows, gets λ/2 times the squared length of all factors (before propagation, without
        biases), once per epoch whatever the block. The code of Chen et al. (2021) adds it once for each block of 64 x
        64 pairs, so five times per epoch on Coat: its 10 is 50 here.
    epochs : int
        Largest number of passes over all users.
    patience : int
        Epochs without a better validation AUC after which training stops; 0 for never.
    optimiser : {"adam", "sgd"}
        Adam as in Wang et al. (2024), or plain steps as in the code of Chen et al. (2021), which need a much smaller
        learning rate.
    layers : int
        Number of propagation steps of ``lightgcn``; the mean over all states, including the first, is used.
    block : int, optional
        Number of users per step; by default those with a million pairs in all, and at most a fifth of the users.
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
    """Whether it also learns from a uniform sample."""
    needs_both: ClassVar[bool] = True
    """Whether the log must have positives and negatives."""
    judged_per_user: ClassVar[bool] = False
    """Whether the AUC of validation is the mean over users of their own, instead of that over all pairs of rows."""
    patient_until: ClassVar[int] = 0
    """Number of epochs before which training never stops."""
    cells: ClassVar[int] = 1_000_000
    """Number of pairs of a user and an item in a block, by default."""

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
        """The method that takes the steps."""

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
        say: Say | None = None,
    ) -> DebiasedFit:
        """Train with an optional uniform sample, validation and early stopping.

        All three parts must have the same vocabularies, as the parts of a split do. Users and items that the model does
        not know (see `Model.fit`) are left out of the other two.

        Parameters
        ----------
        train : Interactions
        uniform : Interactions, optional
            Labelled pairs that were drawn uniformly, for models with `needs_uniform`.
        validation : Interactions, optional
            Labelled pairs; the state with the best AUC on them is returned.
        rng : int or Generator
        progress : callable, optional
            Called as ``progress(done, total)`` after each epoch.
        say : callable, optional
            Called with loss and AUC in words after each epoch.

        Raises
        ------
        ConfigError
            If torch is not installed, or a uniform sample is needed and there is none.
        DataError
            If a part has no rows, lacks a label or has other values, or the numbers grow without bound.
        """
        check_rows(self, train)
        if self.needs_uniform and uniform is None:
            raise ConfigError(
                f"{self} also needs a small uniform sample; give its file with "
                f"{Option('uniform').flag}, or in Python evaluate(..., uniform=...)"
            )
        if find_spec("torch") is None:
            raise ConfigError(f"{self} needs torch, which is not installed: {HINT}")
        from unskew.models.debiased.trainer import run

        rows = Labelled.of(train, str(self), both=self.needs_both)
        sample = rows.part(uniform, str(self)) if self.needs_uniform and uniform is not None else None
        judged = None if validation is None else rows.part(validation, str(self))
        with one_thread():
            return run(self, rows, sample, judged, np.random.default_rng(rng), progress or silent, say)
