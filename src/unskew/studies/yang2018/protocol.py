"""The published protocol: data, splits, models, and how the models are trained and chosen."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

from unskew.data import Split
from unskew.data.splitters import split_fractions
from unskew.evaluation import choose, get_preset
from unskew.evaluation.fitting.selection import Chosen
from unskew.models import Bpr, Cml, CmlRank, GradientModel, Pmf
from unskew.models.training.gradient_model import PENALTIES
from unskew.propensities.popularity_fit import GammaFit, PresentationBias, fit_gamma, presentation_bias
from unskew.ranking import FactorScorer, count_top
from unskew.studies.framework.study import Context, Size
from unskew.studies.yang2018.printed import METRICS, MODELS

DATA = ("citeulike-a", "tradesy", "amazon-book")
STAND_INS = ("steam-200k", "amazon-video-games")
"""Sets the paper does not have, for what it says across data sets."""
FRACTIONS = (70, 15, 15)
FEWEST = {"tradesy": 5}
"""Users with fewer interactions are excluded, as in other work with this set since He and McAuley (2016)."""
TOP = 50
TRAINING: Size[dict[str, Any]] = Size({}, {"factors": 16, "iterations": 600, "every": 200, "batch": 4000})
"""Options of the models that differ from those of their recipe."""
PRESET = get_preset("yang2018")
NOT_OURS = "the authors' split, draws and first factors are not published, so ours are drawn again from the seed"


@dataclass(frozen=True)
class Recipe:
    """How the models of a data set are trained (Yang et al. 2018, section 4.1 and the published scripts).

    The penalties are the regularisation of each model that the scripts settled on.
    """

    factors: int
    iterations: int
    every: int
    penalties: Mapping[str, float]

    def model(self, name: str, context: Context) -> GradientModel:
        """The settings of one of the four models."""
        sizes: dict[str, Any] = {"factors": self.factors, "iterations": self.iterations, "every": self.every}
        penalty = self.penalties[name]
        return replace(_STARTS[name], regularisation=penalty, patience=0, **sizes | context.size(TRAINING))


_STARTS: Mapping[str, GradientModel] = {"bpr": Bpr(), "cml": Cml(), "cml-rank": CmlRank(), "pmf": Pmf(form="openrec")}
_CITEULIKE = {"bpr": 0.01, "cml": 0.1, "cml-rank": 0.1, "pmf": 0.0}
RECIPES: Mapping[str, Recipe] = {
    "citeulike-a": Recipe(50, 50_000, 5000, _CITEULIKE),
    "tradesy": Recipe(100, 120_000, 5000, {"bpr": 0.001, "cml": 0.1, "cml-rank": 0.001, "pmf": 0.01}),
    "amazon-book": Recipe(100, 200_000, 5000, {"bpr": 0.001, "cml": 0.1, "cml-rank": 0.001, "pmf": 0.001}),
    **{name: Recipe(50, 10_000, 2500, _CITEULIKE) for name in STAND_INS},
}


class Learnt(NamedTuple):
    """A model with the states that validation chose, one per metric."""

    name: str
    chosen: Mapping[str, Chosen]

    @property
    def scorer(self) -> FactorScorer:
        """The state to use where one serves all metrics: the one chosen by DCG."""
        return self.chosen["adg"].scorer


class Presented(NamedTuple):
    """How often a model presents items of each popularity, and gamma."""

    bias: PresentationBias
    fit: GammaFit


def split_of(context: Context, data: str) -> Split | None:
    """The data set in three parts at random over interactions; None when it is not available."""
    source = context.find(data)
    if source is None:
        return None

    def make() -> Split:
        log = source.read(context.place(data))
        log = log.take(log.user_counts[log.users] >= FEWEST.get(data, 1))
        return split_fractions(log, FRACTIONS, rng=context.rng("yang2018", "split", data))

    return context.once(f"yang2018 split {data}", make)


def judged_split(split: Split, candidates: str = PRESET["candidates"]) -> Split:
    """The split without held-out rows of items that have no training row: the paper drops them."""
    test, validation = (
        None if part is None else part.take(split.train.item_counts[part.items] > 0)
        for part in (split.test, split.validation)
    )
    assert test is not None
    return Split(split.train, test, validation, candidates=candidates, origin=split.origin)


def learnt_models(context: Context, data: str) -> dict[str, Learnt] | None:
    """The four models, trained once for all tables; None when the data is not available.

    Steps are chosen for each model and metric by the metric on the validation part, under the published protocol; with
    `tune` the regularisation too.
    """
    if split_of(context, data) is None:
        return None
    models = {name: RECIPES[data].model(name, context) for name in MODELS}
    learn = partial(_learn, context, data)
    return {name: context.once(f"yang2018 {data} {name}", partial(learn, name, models[name])) for name in MODELS}


def paper_form_pmf(context: Context, data: str) -> Learnt:
    """PMF with the paper's weights instead of its code's, for fewer steps: it settles early."""
    model = replace(RECIPES[data].model("pmf", context), form="paper")  # type: ignore[call-arg]
    model = replace(model, iterations=min(model.iterations, 20_000))
    return context.once(f"yang2018 {data} paper pmf", partial(_learn, context, data, "pmf-paper", model))


def _learn(context: Context, data: str, name: str, model: GradientModel) -> Learnt:
    split = split_of(context, data)
    assert split is not None
    size = "fast" if context.fast else "full"
    chosen = choose(
        model,
        judged_split(split),
        tuple(METRICS),
        penalties=PENALTIES if context.tune else None,
        rng=context.seed,
        checkpoints=context.cached("yang2018", data, f"{size}-seed{context.seed}"),
        name=name,
        progress=context.progress,
    )
    return Learnt(name, chosen)


def presented_by(context: Context, data: str, learnt: Learnt) -> Presented:
    """f(n*) and gamma of a model, from the top 50 of every user over the full catalogue."""
    split = split_of(context, data)
    assert split is not None

    def make() -> Presented:
        counts = count_top(learnt.scorer, split.train, TOP, name=learnt.name).counts
        popularity = split.train.item_counts
        return Presented(presentation_bias(popularity, counts), fit_gamma(popularity, counts))

    return context.once(f"yang2018 presented {data} {learnt.name}", make)
