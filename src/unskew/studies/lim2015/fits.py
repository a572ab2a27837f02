"""Models trained and chosen in each fold, and the rank of each held-out item under both rules for candidates."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from unskew.arrays import Bools, Floats
from unskew.data import Interactions, Split, count_train_only
from unskew.data.pairs import is_among
from unskew.models import Popular, Svd
from unskew.ranking import Ranks, Scorer
from unskew.studies.framework.stats import Gap
from unskew.studies.framework.study import Context, Size
from unskew.studies.framework.trials import Trials
from unskew.studies.lim2015.printed import MODELS
from unskew.studies.lim2015.protocol import FOLDS, split_of
from unskew.studies.lim2015.tuning import CHOICES, FACTORS, GRID, RULES, Tried, ranks_of, tune, values_of

STEPS = Size(1_000_000, 100_000)
SVD_RANKS: Size[tuple[int, ...]] = Size((5, 10, 20, 50, 100), (10, 50))
MAIN, SECOND = RULES
"""Candidates that the paper's formulas name, which its claims are judged by; and those of a recommender in use."""
SHARED = "mf-auc by adg"
"""MF-AUC with the settings that are best by the aim of MF-ADG."""
SVD, SAME = "svd", f"svd({FACTORS})"
"""SVD of the rank that is best by ADG on validation; and of the same rank as the other models."""
POPULAR = "popular"
"""Items by their number of training rows, the same for everybody."""
AUC = "auc(of=negatives)"
FITTED = "atop of training rows"
"""ATOP of the rows that a model learnt from: what MF-AUC makes large, and neither model is chosen by."""
DIMS = ("data", "model", "metric")
NAMES = {
    "atop": "ATOP",
    "map": "MAP",
    "ndcg": "NDCG",
    "recall@10": "Recall@10",
    "adg": "ADG",
    AUC: "AUC",
    FITTED: "ATOP, training rows",
}
"""Metrics as the tables name them."""
TWO = 2.0
"""Standard errors beyond which a difference counts; chance alone goes further 4.6 times in 100, to one side 2.3."""
LABELS = {
    "mf-auc": "MF-AUC",
    "mf-adg": "MF-ADG",
    SHARED: "MF-AUC chosen by ADG",
    SVD: "SVD, rank chosen",
    POPULAR: "most popular",
}
AMONG = {MAIN: "", SECOND: ", unseen items"}
"""How rows of a table name the candidates."""


@dataclass(frozen=True, eq=False)
class Fold:
    """One split with all models trained on it.

    `ranks` are of all held-out rows, of validation and test together, by rule for candidates and by model, and
    `in_test` says which are of the test; `settings` are what validation chose under each rule, in words.
    """

    train: Interactions
    validation: Interactions
    test: Interactions
    ranks: Mapping[str, Mapping[str, Ranks]]
    in_test: Bools
    settings: Mapping[str, Mapping[str, str]]
    train_only: int

    def part(self, model: str, name: str, rule: str = MAIN) -> Ranks:
        """Ranks of the rows of a part: ``test``, ``validation``, or ``pool`` for both."""
        ranks = self.ranks[rule][model]
        return ranks if name == "pool" else ranks.take(self.in_test if name == "test" else ~self.in_test)

    def values(self, model: str, metric: str, part: str = "test", rule: str = MAIN) -> Floats:
        """The metric of each user by code; NaN of users without a row in the part."""
        return per_user(self.part(model, part, rule), metric, self.train.n_users)


def per_user(ranks: Ranks, metric: str, n_users: int) -> Floats:
    """The metric of each user by code; NaN of users without a row."""
    values = np.full(n_users, np.nan)
    values[np.unique(ranks.users)] = values_of(ranks, metric)
    return values


def gained(trials: Trials, data: str, metric: str, other: str = "mf-auc", model: str = "mf-adg") -> Gap:
    """One model less another on the test rows, paired by user; both are trained again in each fold."""
    return Gap.by_user(trials[data, model, metric] - trials[data, other, metric], trained_per_fold=True)


def svds_of(context: Context) -> tuple[str, ...]:
    """SVD at every rank."""
    return tuple(f"svd({rank})" for rank in context.size(SVD_RANKS))


def names_of(context: Context) -> tuple[str, ...]:
    """The two models of the paper, MF-AUC by the other's aim, SVD chosen and at every rank, and no model at all."""
    return (*MODELS, SHARED, SVD, POPULAR, *svds_of(context))


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


def tried_in(context: Context, data: str, number: int, split: Split) -> dict[str, Tried]:
    """The settings of both models that were tried in a fold."""
    grid, steps = context.size(GRID), context.size(STEPS)
    return {
        name: context.once(
            f"lim2015 settings {data} {number} {name}",
            partial(
                tune, context, split, context.seed + number, name, steps, grid, f"{name} on {data}, fold {number + 1}"
            ),
        )
        for name in MODELS
    }


def train_fold(context: Context, data: str, number: int, split: Split) -> Fold:
    """Train and choose all models on a split, and rank what it holds out."""
    assert split.validation is not None
    tried = tried_in(context, data, number, split)
    shared: dict[str, Scorer] = {POPULAR: Popular().fit(split.train)}
    # the largest rank that the training matrix allows
    widest = int(min(np.count_nonzero(split.train.user_counts), np.count_nonzero(split.train.item_counts)))
    for name in context.counted(f"svd on {data}, fold {number + 1}", svds_of(context)):
        shared[name] = Svd(rank=min(int(name[4:-1]), widest)).fit(split.train, rng=number)
    pool, in_test = pool_of(split)
    ranks: dict[str, dict[str, Ranks]] = {}
    settings: dict[str, dict[str, str]] = {}
    for rule in RULES:
        scorers, settings[rule] = chosen_in(tried, rule)
        among = pool.with_candidates(rule)
        ranks[rule] = {name: ranks_of(scorer, among) for name, scorer in {**scorers, **shared}.items()}
        judged = {name: float(values_of(ranks[rule][name].take(~in_test), "adg").mean()) for name in svds_of(context)}
        best = max(judged, key=lambda name: judged[name])
        ranks[rule][SVD], settings[rule][SVD] = ranks[rule][best], best[4:-1]
    return Fold(split.train, split.validation, split.test, ranks, in_test, settings, count_train_only(split))


def chosen_in(tried: Mapping[str, Tried], rule: str) -> tuple[dict[str, Scorer], dict[str, str]]:
    """The models with the settings that validation chooses under a rule, and these settings in words."""
    scorers: dict[str, Scorer] = {}
    settings = {}
    for name, each in tried.items():
        # the first choice of a model is its own aim
        for label, metric in zip((name, SHARED), CHOICES[name], strict=False):
            setting = each.best[rule, metric]
            scorers[label], settings[label] = each.scorers[setting], "/".join(f"{number:g}" for number in setting)
    return scorers, settings


def pool_of(split: Split) -> tuple[Split, Bools]:
    """The split whose test has all held-out rows, those of validation too, and which of them are of the test."""
    assert split.validation is not None
    users, items = (
        np.concatenate([getattr(part, key) for part in (split.validation, split.test)]) for key in ("users", "items")
    )
    rows = replace(split.test, users=users, items=items, values=None, times=None, propensity=None)
    whole = Split(split.train, rows, candidates=split.rule, origin="validation and test together")
    return whole, is_among(whole.sorted_test, split.test, len(split.item_vocabulary))


def judge(folds: Sequence[Fold], data: str, names: Sequence[str], metrics: Sequence[str], rule: str) -> Trials:
    """Every metric of every model on the test rows: one number per fold and user, NaN of users without a test row."""
    groups = {
        (data, name, metric): np.array([fold.values(name, metric, rule=rule) for fold in folds])
        for name in names
        for metric in metrics
    }
    return Trials(DIMS, "fold, user", groups)
