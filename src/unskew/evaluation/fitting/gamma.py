"""`choose_gamma`: fit gamma to what models recommend, for ``gamma=auto`` and ``gamma=from(FILE)``."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from unskew.data import Interactions
from unskew.data.reading import note_content
from unskew.errors import ConfigError, Option, PropensityError
from unskew.evaluation.run import Run
from unskew.models import Bpr, Cml, CmlRank, GradientModel, Pmf
from unskew.propensities import From, GammaFit, GammaRange, Popularity, fit_gamma
from unskew.ranking import Scorer, TopCounts, count_top, read_factors, read_scores

# Models trained for gamma=auto: those of Yang et al. (2018). Their learning rate is larger than the paper's, so that a
# thousand steps come close to the gammas of fifty thousand.
STEPS, RATE = 1000, 0.005
REFERENCES: tuple[GradientModel, ...] = (
    Bpr(iterations=STEPS, learning_rate=RATE),
    Cml(iterations=STEPS, learning_rate=RATE),
    CmlRank(iterations=STEPS, learning_rate=RATE),
    Pmf(iterations=STEPS, learning_rate=RATE, form="openrec"),
)
BATCHES = 18  # batches per pass over the log, unless a batch would be larger than the paper's
LEAST_BATCH = 256
TOP = 50  # recommendations per user, as in Yang et al. 2018
NEARLY = 0.95  # share of the places that could be filled, from which on lists count as full
ERRORS = 2  # standard errors to each side of the gamma of a single model
SHORT_LISTS = (
    "its lists fill {filled:.1f} of {room:.3g} places per user (shorter lists, or items the users already have)"
)


@dataclass(frozen=True)
class ModelGamma:
    """The gamma of one model's recommendations."""

    model: str  # its word, or its file
    fit: GammaFit | None  # None when its recommendations do not identify gamma
    problem: str = ""  # why they do not
    share: float = 0.0  # part of the catalogue that a user is recommended, on average
    settings: str = ""  # the model with its options, where it was trained here
    short: str = ""  # a note if its lists leave many places empty, else ""

    def to_dict(self) -> dict[str, Any]:
        """As in the JSON, null where there is no number."""
        names = ("gamma", "std_error", "levels", "never", "cut_items", "recommended_items")
        settings = {"settings": self.settings} if self.settings else {}
        return {"model": self.model, **settings, **{name: getattr(self.fit, name, None) for name in names}}


@dataclass(frozen=True)
class GammaChoice:
    """The gamma of a run, and what it was chosen from."""

    asked: Popularity  # the propensity as it was asked for
    models: tuple[ModelGamma, ...]

    @property
    def fits(self) -> list[GammaFit]:
        """The fits of the models whose recommendations identify gamma."""
        return [model.fit for model in self.models if model.fit is not None]

    @property
    def used(self) -> float:
        """The gamma that is used: the mean over the models."""
        return fmean(fit.gamma for fit in self.fits)

    @property
    def low(self) -> float:
        """The smallest of several models' gammas, or that of one model minus two standard errors."""
        return min(fit.gamma for fit in self.fits) - self._margin

    @property
    def high(self) -> float:
        """The largest of several models' gammas, or that of one model plus two standard errors."""
        return max(fit.gamma for fit in self.fits) + self._margin

    @property
    def _margin(self) -> float:
        return ERRORS * self.fits[0].std_error if len(self.fits) == 1 else 0.0

    def at(self, gamma: float) -> Popularity:
        """The propensity that was asked for, with this gamma."""
        return replace(self.asked, gamma=gamma)

    def check_within(self, assumed: GammaRange | None) -> None:
        """Refuse an assumed range of gammas that does not contain the fitted one."""
        if assumed is not None and self.used not in assumed:
            raise ConfigError(
                f"{Option('assume', str(assumed))} does not contain the gamma that {self.asked} found, "
                f"{self.used:.2f}; widen it, or leave it out"
            )

    def describe(self) -> str:
        """The gammas that were found, in one line."""
        shown = ", ".join(f"{model.model} {_with_error(model.fit)}" for model in self.models)
        return f"gamma {self.used:.2f}, between {self.low:.2f} and {self.high:.2f} ({shown})"

    def to_dict(self) -> dict[str, Any]:
        """As in the JSON."""
        return {
            "used": self.used,
            "models": [model.to_dict() for model in self.models],
            "min": self.low,
            "mean": self.used,
            "max": self.high,
        }


def choose_gamma(run: Run) -> GammaChoice | None:
    """Fit the gamma that the propensity of a run asks for; None if it does not ask for one.

    For ``auto`` the reference models are trained on the training positives and the mean of their gammas is used; for
    ``from(FILE)`` it is that of the model in the file. Each comes from the top 50 of every training user, whose own
    training items are left out. Recommendations that do not identify gamma are refused.
    """
    propensity, split, train = run.settings.propensity, run.split, run.positives
    if not isinstance(propensity, Popularity) or propensity.source is None:
        return None
    # refuses a log that does not identify gamma before models are trained
    fit_gamma(train.item_counts, np.ones(train.n_items))
    gammas = []
    for name, settings, scorer in _sources(propensity, run):
        top = count_top(
            scorer,
            split,
            TOP,
            name=name,
            engine=run.engine,
            block_size=run.settings.block_size,
            progress=run.doing(f"counting the top {TOP} of", name),
        )
        share = float(top.counts.sum()) / (top.n_users * len(top.catalogue))
        short = describe_short_lists(top, split.train)
        try:
            gammas.append(ModelGamma(name, fit_gamma(train.item_counts, top.counts), "", share, settings, short))
        except PropensityError as error:
            gammas.append(ModelGamma(name, None, str(error), share, settings))
    if not any(model.fit for model in gammas):
        raise PropensityError(gammas[0].problem)
    return GammaChoice(propensity, tuple(gammas))


def _sources(propensity: Popularity, run: Run) -> Iterator[tuple[str, str, Scorer]]:
    """Yield name, settings and scorer of each model whose recommendations show gamma."""
    source = propensity.source
    if isinstance(source, From):
        read = read_factors if Path(source.file).suffix == ".npz" else read_scores
        yield source.file, "", read(source.file, content=note_content(Path(source.file)))
        return
    for model in references(run.positives):
        step = run.doing("training", f"{model.word} for gamma")
        trained = model.train(run.positives, rng=run.settings.seed, threads=run.threads, progress=step)
        yield model.word, str(model), trained.last


def references(train: Interactions) -> list[GradientModel]:
    """The models of ``gamma=auto`` for a log; a small log has smaller batches, for the same number of passes."""
    batch = int(np.clip(len(train) // BATCHES, LEAST_BATCH, REFERENCES[0].batch))
    return [replace(model, batch=batch) for model in REFERENCES]


def describe_short_lists(top: TopCounts, train: Interactions) -> str:
    """Return a note if the lists are shorter than they could be, else ""."""
    had = train.seen_counts[train.seen_counts > 0]
    room = float(np.mean(np.clip(len(top.catalogue) - had, 0, top.k)))
    filled = (float(top.counts.sum()) + top.outside) / top.n_users
    if filled >= NEARLY * room:
        return ""
    return SHORT_LISTS.format(filled=filled, room=room)


def _with_error(fit: GammaFit | None) -> str:
    return "not identified" if fit is None else f"{fit.gamma:.2f} ± {fit.std_error:.2f}"
