"""Warnings about the models: what they know, and what their lists hold."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from unskew.data import Split
from unskew.display.phrases import counted, listed
from unskew.errors import Option
from unskew.evaluation.checking.check import check
from unskew.evaluation.fitting.models import Fitted
from unskew.metrics import Accuracy
from unskew.ranking import ListScorer

if TYPE_CHECKING:
    from unskew.evaluation.report import Report


@check(
    "models-without-ids",
    what="A model has no ids of users or items.",
    why="Its rows were matched by order alone: row k is the k-th id of train and test combined. If the model was "
    "trained on other rows, every score is of the wrong user or item.",
    do="Give `user_ids` and `item_ids`.",
)
def models_without_ids(report: "Report") -> Iterator[str]:
    """Models that were matched by order alone."""
    yield from unnamed(report.contenders.models, report.samples.judged.split)


def unnamed(models: Mapping[str, Fitted], split: Split) -> Iterator[str]:
    """Describe the models that were matched by order alone, where ids are more than row numbers."""
    for name, model in models.items():
        if model.scorer is None:
            continue
        pairs = (("user", split.user_vocabulary), ("item", split.item_vocabulary))
        axes = [axis for axis, ids in pairs if getattr(model.scorer, f"{axis}_ids", None) is None and not ids.is_range]
        if axes:
            yield (
                f"model {name!r} has no {' and '.join(f'{axis}_ids' for axis in axes)}; row k was matched to the k-th "
                "id of train and test combined"
            )


@check(
    "models-not-judged",
    what="A model was not judged by some metrics.",
    why="It predicts no ratings, or does not score every candidate, so the metric is not defined for it.",
    do=f"Give its `{Option('predictions').flag}`, or its `{Option('scores').flag}` or `{Option('factors').flag}`, "
    "under the same name.",
)
def models_not_judged(report: "Report") -> Iterator[str]:
    """Models that are not judged by some metrics, and why."""
    judged: dict[str, set[str]] = {}
    for row in report.estimates:
        judged.setdefault(row.metric, set()).add(row.model)
    for name, model in report.contenders.models.items():
        metrics = [metric for metric, models in judged.items() if name not in models]
        if metrics:
            why = "predicts no ratings" if model.predictor is None else "has no score for every candidate"
            yield f"model {name!r} {why}: not judged by {', '.join(metrics)}"


@check(
    "accuracy-never-hit",
    what="No prediction equals a rating that occurs.",
    why="Accuracy counts exact matches, so it is 0 for predictions that are not whole ratings.",
    do="Use `accuracy(rounded)`.",
)
def accuracy_never_hit(report: "Report") -> Iterator[str]:
    """Predictions that can never be accurate."""
    metrics = report.settings.metrics
    if report.samples.ratings is None or not any(isinstance(m, Accuracy) and not m.rounded for m in metrics):
        return
    for name, given in report.samples.ratings.predictions.items():
        if not np.isin(given.predicted, np.unique(given.values)).any():
            yield (
                f"accuracy: no prediction of model {name!r} is a rating that occurs; accuracy(rounded) rounds "
                "predictions to whole numbers first"
            )


@check(
    "users-unknown-to-model",
    what="A model does not know some of the judged users.",
    why="Their lists are empty: 0 under a cut-off, a random order otherwise. So a model cannot raise a metric with a "
    "cut-off by leaving out hard users; by `auc` and `adg` an empty list can be better than a bad one.",
    do=f"Give lists for all test users. `{Option('users', 'served').flag}` judges each model on the users it knows, "
    f"`{Option('users', 'common').flag}` all models on the users whom every model knows.",
)
def users_unknown_to_model(report: "Report") -> Iterator[str]:
    """Judged users whom some model does not know."""
    sample = report.samples.judged
    served = report.settings.users == "served"
    fate = "they do not count there" if served else "their lists are empty, 0 under a cut-off and tied otherwise"
    lacking: dict[str, list[str]] = {}
    for name, ranks in sample.ranks.items():
        if ranks.known is not None and not ranks.known.all():
            users, rows = int(np.sum(~sample.served(name))), counted(int(np.sum(~ranks.known)), "row")
            lacking.setdefault(f"{users:,} of {len(sample.users):,} judged users ({rows}); {fate}", []).append(name)
    yield from (f"{_do_not_know(names)} {what}" for what, names in lacking.items())


@check(
    "items-unknown-to-model",
    what="A model does not know some items of the catalogue.",
    why="The catalogue is the items of train, test and all models. Items that a model does not know rank last for it, "
    "tied.",
    do="Nothing, if the model cannot recommend them. Otherwise check its item ids, or train it on these items.",
)
def items_unknown_to_model(report: "Report") -> Iterator[str]:
    """Items that some model does not know."""
    contest = report.samples.contest
    lacking: dict[str, list[str]] = {}
    for name, binding in () if contest is None else contest.bindings.items():
        if contest is not None and binding.unknown_items:
            items = f"{binding.unknown_items:,} of {contest.catalogue_size:,} items; they rank last there, tied"
            lacking.setdefault(items, []).append(name)
    yield from (f"{_do_not_know(names)} {what}" for what, names in lacking.items())


def _do_not_know(names: Sequence[str]) -> str:
    """Say of one or several models that they do not know what follows."""
    one = len(names) == 1
    return f"{'model' if one else 'models'} {listed(map(repr, names))} {'does' if one else 'do'} not know"


@check(
    "short-lists",
    what="A model's lists are shorter than a cut-off.",
    why="What is not listed gains 0, so the metric is too low for this model.",
    do="Export longer lists, or use a smaller cut-off.",
)
def short_lists(report: "Report") -> Iterator[str]:
    """Lists shorter than a metric looks."""
    sample = report.samples.judged
    for name, ranks in sample.ranks.items():
        held = sample.listed(name)
        if held is None or not len(ranks):
            continue
        longest = int(held.max())
        beyond = [str(metric) for metric in report.settings.metrics if (metric.cutoff or 0) > longest]
        if beyond and longest < int(ranks.candidates.max()):
            yield (
                f"model {name!r} lists at most {longest} candidates per user, fewer than {', '.join(beyond)} "
                "looks at; what is not listed gains 0"
            )


@check(
    "seen-items-in-lists",
    what="A model's lists hold items that the user has in train.",
    why="Seen items are not candidates and are skipped, so fewer places of the list count.",
    do="Remove seen items before the list is cut to its length, or export longer lists.",
)
def seen_items_in_lists(report: "Report") -> Iterator[str]:
    """Listed items that were skipped because they are not candidates."""
    contest, sample = report.samples.contest, report.samples.judged
    if contest is None or contest.among:
        return
    for name, ranks in sample.ranks.items():
        scorer = report.contenders.models[name].ranker if name in report.contenders.models else None
        if not isinstance(scorer, ListScorer) or ranks.listed is None or name not in contest.bindings:
            continue
        rows = contest.bindings[name].rows[sample.users]
        held = ranks.listed[sample.offsets[:-1]][rows >= 0]
        candidates = ranks.candidates[sample.offsets[:-1]][rows >= 0]
        lengths = np.diff(scorer.offsets)[rows[rows >= 0]]
        skipped = int(np.sum(lengths - held))
        if skipped > 0 and (held < candidates).any():  # a table of all scores is not a list
            yield (
                f"model {name!r}: {skipped:,} of {int(lengths.sum()):,} listed items were skipped because the user has "
                "them in train; leave them out before the lists are cut"
            )


MANY_TIES = 0.1


@check(
    "many-ties",
    what="More than 10 % of the held-out items share their score with another candidate.",
    why="A metric is then an average over the orders of the tie, or depends on the tie rule that was chosen.",
    do="Nothing, if scores are coarse on purpose. Otherwise export scores with more digits.",
)
def many_ties(report: "Report") -> Iterator[str]:
    """Held-out items inside a tie."""
    for name, ranks in report.samples.judged.ranks.items():
        held = ranks.in_list()
        tied = np.mean(ranks.tied > 0) if held is None else np.mean((ranks.tied > 0) & (ranks.above < held))
        if tied > MANY_TIES:
            how = "averaged over all orders" if ranks.ties == "expected" else f"resolved {ranks.ties}"
            yield f"model {name!r}: {tied:.0%} of held-out items share their score with another candidate ({how})"


BEYOND_CHANCE = 3  # standard errors from which a corrected number differs from the full ranking


@check(
    "sampled-correction",
    what="The correction of sampled ranks is off, or cannot be checked.",
    why="Corrected numbers should be those of a full ranking. Users ranked in full show that they are not.",
    do=f"Use `{Option('candidates', 'unseen').flag}`, or more draws.",
)
def sampled_correction(report: "Report") -> Iterator[str]:
    """Where the correction is off, and where nobody knows."""
    checks = report.samples.correction
    if checks is None:
        return
    measured = {one.model for one in checks}
    for model in report.samples.judged.ranks:
        if model not in measured:
            yield f"model {model!r}: ranks made before cannot show how far the correction is off"
    for metric in map(str, report.settings.metrics):
        far = [
            one
            for one in checks
            if one.metric == metric
            and one.std_error is not None
            and abs(one.difference) > BEYOND_CHANCE * one.std_error + 1e-12
        ]
        if far:
            offs = ", ".join(f"{one.difference:+.4f} for model {one.model!r}" for one in far)
            yield (
                f"{metric}: the correction of sampled ranks is off by {offs} ({far[0].users:,} users ranked in full); "
                f"use {Option('candidates', 'unseen')}, or more draws"
            )
