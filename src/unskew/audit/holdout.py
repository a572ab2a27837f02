"""`plan_holdout`: which rows an audit trains models on and which it holds out; and its refusals."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from unskew.data import Interactions, Split, split_fractions, split_temporal
from unskew.errors import ConfigError, DataError, Option
from unskew.evaluation.fitting.models import ModelLike
from unskew.evaluation.settings.settings import Settings
from unskew.models import Model

HOLDOUT = 0.2
NO_TEST = (
    "there is no test: models are assumed to be trained on the log, so metrics by popularity are left out; give a test"
)


@dataclass(frozen=True, eq=False)
class Holdout:
    """The split of an audit, and whether models are judged; `note` says why they are not."""

    split: Split
    judged: bool
    note: str = ""


def plan_holdout(
    log: Interactions,
    models: Mapping[str, ModelLike],
    test: Interactions | None,
    holdout: float | None,
    temporal: float | None,
    settings: Settings,
) -> Holdout:
    """Choose the held-out rows: those given, a share by time or at random, or none.

    Several at once, and held-out rows without a model to judge, are refused.
    """
    chosen = [name for name, rows in (("test", test), ("holdout", holdout), ("temporal", temporal)) if rows is not None]
    if len(chosen) > 1:
        raise ConfigError("choose one of test, holdout and temporal: each of them chooses the held-out rows")
    if not models and chosen:
        raise ConfigError(
            f"held-out rows judge models, but there is no model; give {Option('model')}, or leave out {chosen[0]}"
        )
    if test is not None:
        return Holdout(Split(log, test), judged=True)
    ready = _ready(models)
    if ready and (holdout is not None or temporal is not None):
        raise ConfigError(
            f"model {ready[0]!r} is trained already, perhaps on the rows to be held out; give the rows it has not seen "
            "as test"
        )
    if temporal is not None:
        return Holdout(split_temporal(log, temporal), judged=True)
    if holdout is not None or (models and not ready):
        share = HOLDOUT if holdout is None else holdout
        if not 0 < share < 1:
            raise ConfigError(f"holdout {share:g} must lie between 0 and 1, as in 0.2")
        return Holdout(split_fractions(log, (1 - share, share), rng=settings.seed), judged=True)
    note = ""
    if ready:
        note = NO_TEST
    return Holdout(Split(log, log.take(np.empty(0, dtype=int))), judged=False, note=note)


def _ready(models: Mapping[str, ModelLike]) -> list[str]:
    """The models that were trained elsewhere."""
    return [name for name, model in models.items() if not isinstance(model, Model | str)]


def check_k(k: int, train: Interactions, models: Mapping[str, ModelLike]) -> None:
    """Refuse a length of lists that is as large as the catalogue."""
    items = int(np.count_nonzero(train.item_counts))
    if k < 1:
        raise ConfigError(f"k={k}: a list has at least 1 place")
    if models and items < 2:
        raise DataError(
            f"the log is too small: its training rows have {items} item{'s' * (items != 1)}, but a list is a choice "
            "among several; give more rows"
        )
    if models and k >= items:
        raise ConfigError(
            f"k={k} is not below the {items:,} items in training: every list would hold all of them; use a smaller "
            f"{Option('k')}"
        )


def check_held_out(plan: Holdout, models: Mapping[str, ModelLike], settings: Settings) -> None:
    """Refuse held-out rows if none of them can be judged."""
    if not plan.judged:
        return
    split = plan.split
    rows, seen = split.sorted_test, split.test_in_train
    positive = np.ones(len(rows), dtype=bool) if settings.positive is None else rows.holds(settings.positive)
    outside = ~np.isin(rows.items, split.catalogue) & (not _ready(models))  # a trained model may know more items
    if not positive.any() or (positive & ~seen & ~outside).any():
        return
    if seen[positive].sum() > outside[positive].sum():
        raise DataError(
            f"no test row is left: {int(seen[positive].sum()):,} are also in the log, which is what models are trained "
            f"on; give a {Option('test')} of other rows, or none"
        )
    if split.origin != "given":
        one = np.count_nonzero(split.train.user_counts + split.test.user_counts) == 1
        why = "one user's items are all different" if one else "the items of the held-out rows occur nowhere else"
        raise DataError(f"no held-out row is left: {why}, so no model can know them; give a log of more users")
