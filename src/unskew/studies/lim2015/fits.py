"""Models trained and chosen in each fold, and the rank of each held-out item."""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from unskew.arrays import Bools, Floats
from unskew.data import Interactions, Split, count_train_only
from unskew.data.pairs import is_among
from unskew.evaluation import choose
from unskew.evaluation.fitting.selection import Chosen
from unskew.metrics.exact.size_shift import expected_move
from unskew.models import MfAdg, MfAuc, PairwiseModel, Popular, Svd
from unskew.models.training import pair_model
from unskew.ranking import Ranks, Scorer, prepare_contest, rank
from unskew.studies.framework.stats import Gap
from unskew.studies.framework.study import Context, Size
from unskew.studies.framework.trials import Trials
from unskew.studies.lim2015.printed import MODELS
from unskew.studies.lim2015.protocol import FOLDS, split_of

FACTORS, GAMMA = 50, 100
STEPS = Size(1_000_000, 100_000)
START = 0.1
"""Standard deviation of the first factors; the paper does not give it."""
RATES: Size[tuple[float, ...]] = Size(pair_model.LEARNING_RATES, (0.1,))
PENALTIES: Size[tuple[float, ...]] = Size(pair_model.PENALTIES, (0.01, 0.1))
SVD_RANKS: Size[tuple[int, ...]] = Size((5, 10, 20, 50, 100), (10, 50))
CHOICE, OWN_CHOICE = "adg", "atop"
"""The metric that chooses the settings of both models; and what MF-AUC comes close to optimising."""
OWN = "mf-auc by atop"
"""MF-AUC with the settings that are best by its own aim."""
POPULAR = "popular"
"""Items by their number of training rows, the same for everybody."""
AUC = "auc(of=negatives)"
DIMS = ("data", "model", "metric")
NAMES = {"atop": "ATOP", "map": "MAP", "ndcg": "NDCG", "recall@10": "Recall@10", "adg": "ADG", AUC: "AUC"}
"""Metrics as the tables name them."""
TWO = 2.0
"""Standard errors beyond which a difference counts; chance alone goes further 4.6 times in 100, to one side 2.3."""
LABELS = {"mf-auc": "MF-AUC", "mf-adg": "MF-ADG", OWN: "MF-AUC chosen by ATOP", POPULAR: "most popular"}


@dataclass(frozen=True, eq=False)
class Fold:
    """One split with all models trained on it.

    `ranks` are of all held-out rows, of validation and test together, among the items that the user has not had in
    training, and `in_test` says which are of the test; `settings` are what validation chose, in words. `among_all` has
    the ranks of the test rows among all items, those of training included, of the first fold alone.
    """

    train: Interactions
    validation: Interactions
    test: Interactions
    ranks: Mapping[str, Ranks]
    in_test: Bools
    settings: Mapping[str, str]
    train_only: int
    among_all: Mapping[str, Ranks] = field(default_factory=dict)

    def part(self, model: str, name: str) -> Ranks:
        """Ranks of the rows of a part: ``test``, ``validation``, ``pool`` for both, or the test ``among all`` items."""
        if name in {"pool", "among all"}:
            return (self.ranks if name == "pool" else self.among_all)[model]
        return self.ranks[model].take(self.in_test if name == "test" else ~self.in_test)

    def values(self, model: str, metric: str, part: str = "test") -> Floats:
        """The metric of each user by code; NaN of users without a row in the part."""
        return per_user(self.part(model, part), metric, self.train.n_users)


def per_user(ranks: Ranks, metric: str, n_users: int) -> Floats:
    """The metric of each user by code; NaN of users without a row."""
    values = np.full(n_users, np.nan)
    values[np.unique(ranks.users)] = expected_move(metric, ranks, share=1.0).per_user_before
    return values


def gained(trials: Trials, data: str, metric: str, other: str = "mf-auc", model: str = "mf-adg") -> Gap:
    """One model less another on the test rows, paired by user; both are trained again in each fold."""
    return Gap.by_user(trials[data, model, metric] - trials[data, other, metric], trained_per_fold=True)


def names_of(context: Context) -> tuple[str, ...]:
    """The models: the two of the paper, MF-AUC by its own aim, SVD at every rank, and no model at all."""
    return (*MODELS, OWN, POPULAR, *(f"svd({rank})" for rank in context.size(SVD_RANKS)))


def label_of(name: str) -> str:
    """What a model is called in the tables."""
    return LABELS.get(name) or f"SVD rank {name[4:-1]}"


def available_folds(context: Context, data: str) -> list[Fold]:
    """All folds of a data set, trained once for all tables; none when it is not available."""
    folds = []
    for number in range(context.size(FOLDS)):
        split = split_of(context, data, number)
        if split is not None:
            train = partial(train_fold, context, data, number, split)
            folds.append(context.once(f"lim2015 fold {data} {number}", train))
    return folds


def train_fold(context: Context, data: str, number: int, split: Split) -> Fold:
    """Train and choose all models on a split, and rank what it holds out."""
    assert split.validation is not None
    grid = list(itertools.product(context.size(RATES), context.size(PENALTIES)))
    where = f"on {data}, fold {number + 1}"
    tried = {name: tune(context, split, number, name, context.size(STEPS), grid, f"{name} {where}") for name in MODELS}
    chosen = {name: by[CHOICE] for name, by in tried.items()} | {OWN: tried["mf-auc"][OWN_CHOICE]}
    scorers = {name: each.scorer for name, each in chosen.items()} | {POPULAR: Popular().fit(split.train)}
    # the largest rank that the training matrix allows
    widest = int(min(np.count_nonzero(split.train.user_counts), np.count_nonzero(split.train.item_counts)))
    for size in context.counted(f"svd {where}", context.size(SVD_RANKS)):
        scorers[f"svd({size})"] = Svd(rank=min(size, widest)).fit(split.train, rng=number)
    held = {name: held_ranks(scorers[name], split) for name in names_of(context)}
    among_all = {}
    if number == 0:
        whole = split.with_candidates("all")
        among_all = {name: _ranks(scorers[name], whole) for name in held}
    return Fold(
        split.train,
        split.validation,
        split.test,
        {name: ranks for name, (ranks, _) in held.items()},
        held[MODELS[0]][1],
        {name: written(each) for name, each in chosen.items()},
        count_train_only(split),
        among_all,
    )


def _ranks(scorer: Scorer, split: Split) -> Ranks:
    return rank(scorer, prepare_contest({"model": scorer}, split))


def tune(
    context: Context, split: Split, number: int, name: str, steps: int, grid: Iterable[Sequence[float]], stage: str
) -> dict[str, Chosen]:
    """The settings of a model by either choice: all are tried from the first parameters of the fold of that number."""
    tried = [learner(name, steps, *each) for each in grid]
    by, seed = (CHOICE, OWN_CHOICE), context.seed + number
    return choose(tried[0], split, by, settings=tried, rng=seed, name=stage, progress=context.progress)


def learner(name: str, steps: int, rate: float, penalty: float, start: float = START) -> PairwiseModel:
    """A model of the paper's size with settings that the paper does not give; it is judged at the end only."""
    kind: PairwiseModel = MfAuc() if name == "mf-auc" else MfAdg(gamma=GAMMA)
    sized = replace(kind, factors=FACTORS, iterations=steps, every=steps, patience=0)
    return replace(sized, learning_rate=rate, regularisation=penalty, init=start)


def held_ranks(scorer: Scorer, split: Split) -> tuple[Ranks, Bools]:
    """Ranks of all held-out rows, of validation and test together, and which of them are of the test."""
    assert split.validation is not None
    users, items = (
        np.concatenate([getattr(part, key) for part in (split.validation, split.test)]) for key in ("users", "items")
    )
    pool = replace(split.test, users=users, items=items, values=None, times=None, propensity=None)
    whole = Split(split.train, pool, candidates=split.rule, origin="validation and test together")
    return _ranks(scorer, whole), is_among(whole.sorted_test, split.test, len(split.item_vocabulary))


def written(chosen: Chosen, *, start: bool = False) -> str:
    """Learning rate and penalty, and where asked the standard deviation of the first factors."""
    keys = ("learning_rate", "regularisation", *(["init"] if start else []))
    return "/".join(f"{getattr(chosen.model, key):g}" for key in keys)
