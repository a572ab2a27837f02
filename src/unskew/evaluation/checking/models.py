"""Warnings about the models: what they know, and what their lists hold."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from unskew.arrays import Ints
from unskew.data import Split
from unskew.data.candidates import Listed
from unskew.data.vocabulary import vocabulary_of
from unskew.display.phrases import counted, listed
from unskew.errors import Option
from unskew.evaluation.checking.check import check
from unskew.evaluation.fitting.models import Fitted
from unskew.metrics import Accuracy
from unskew.ranking import ListScorer

if TYPE_CHECKING:
    from unskew.evaluation.report import Report


WITHOUT_IDS = "model {model!r} has no {ids}; row k was matched to the k-th id of train and test combined"


@check(
    "models-without-ids",
    what="A model has no ids of users or items.",
    why="Its rows were matched by order alone: row k is the k-th id of train and test combined. If the model was "
    "trained on other rows, every score belongs to the wrong user or item.",
    do="Give `user_ids` and `item_ids`.",
)
def models_without_ids(report: "Report") -> Iterator[str]:
    """Yield a warning for each model that was matched by order alone."""
    yield from unnamed(report.contenders.models, report.samples.judged.split)


def unnamed(models: Mapping[str, Fitted], split: Split) -> Iterator[str]:
    """Yield a warning for each model that was matched by order alone, where ids are more than row numbers."""
    for name, model in models.items():
        if model.scorer is None:
            continue
        pairs = (("user", split.user_vocabulary), ("item", split.item_vocabulary))
        axes = [axis for axis, ids in pairs if getattr(model.scorer, f"{axis}_ids", None) is None and not ids.is_range]
        if axes:
            yield WITHOUT_IDS.format(model=name, ids=" and ".join(f"{axis}_ids" for axis in axes))


@check(
    "different-products",
    what="The nodes of a cluster multiply matrices with different kernels.",
    why="The last bits of scores differ between them, so another run may put blocks on other nodes and give other last "
    "digits. The numbers agree to about nine digits.",
    do="Use nodes of one kind, or set `OPENBLAS_CORETYPE` to the same name on all of them.",
)
def different_products(report: "Report") -> Iterator[str]:
    """Yield a warning if nodes have different kernels."""
    if len(report.kernels) > 1:
        yield (
            f"the nodes multiply matrices with different kernels ({'; '.join(report.kernels)}), so the last bits of "
            "scores depend on where they were computed; use nodes of one kind for runs that are the same byte for byte"
        )


NOT_JUDGED = "model {model!r} {why}, so it is not judged by {metrics}"


@check(
    "models-not-judged",
    what="A model was not judged by some metrics.",
    why="It does not predict ratings, or it does not score every candidate. The metric is then not defined for it.",
    do=f"Give its `{Option('predictions').flag}`, or its `{Option('scores').flag}` or `{Option('factors').flag}`, "
    "under the same name.",
)
def models_not_judged(report: "Report") -> Iterator[str]:
    """Yield a warning for each model that is not judged by some metrics."""
    judged: dict[str, set[str]] = {}
    for row in report.estimates:
        judged.setdefault(row.metric, set()).add(row.model)
    for name, model in report.contenders.models.items():
        metrics = [metric for metric, models in judged.items() if name not in models]
        if metrics:
            why = "predicts no ratings" if model.predictor is None else "does not score every candidate"
            yield NOT_JUDGED.format(model=name, why=why, metrics=", ".join(metrics))


NEVER_ACCURATE = (
    "accuracy: no prediction of model {model!r} is a rating that occurs, so its accuracy is 0; use accuracy(rounded), "
    "which rounds predictions to whole numbers first"
)


@check(
    "accuracy-never-hit",
    what="No prediction equals a rating that occurs.",
    why="Accuracy counts exact matches, so it is 0 for predictions that are not whole ratings.",
    do="Use `accuracy(rounded)`.",
)
def accuracy_never_hit(report: "Report") -> Iterator[str]:
    """Yield a warning for each model whose predictions can never be accurate."""
    metrics = report.settings.metrics
    if report.samples.ratings is None or not any(isinstance(m, Accuracy) and not m.rounded for m in metrics):
        return
    for name, given in report.samples.ratings.predictions.items():
        if not np.isin(given.predicted, np.unique(given.values)).any():
            yield NEVER_ACCURATE.format(model=name)


USERS_UNKNOWN = "{models} not know {unknown:,} of {users:,} judged users ({rows}); {effect}"
EMPTY_LISTS = "their lists are empty there, which counts as 0 under a cut-off and as a random order otherwise"
NOT_SERVED = "these users are left out there"
ITEMS_UNKNOWN = (
    "{models} no score for {unknown:,} of {items:,} items, which rank last, tied; check the item ids if a model should "
    "know these items"
)
ITEMS_NEVER_LISTED = (
    "{models} {unknown:,} of {items:,} items in no list, so these {effect}; check the item ids if a model should "
    "recommend these items"
)
NO_GAIN = "gain 0 under a cut-off and are tied below the list otherwise"
BELOW_LIST = "are tied below the list"


@check(
    "users-unknown-to-model",
    what="A model does not know some of the judged users.",
    why="Their lists are empty. An empty list counts as 0 under a cut-off and as a random order otherwise. So a "
    "model cannot raise a metric with a cut-off by leaving out hard users. By `auc` and `adg`, an empty list can be "
    "better than a bad one.",
    do=f"Give lists for all test users. `{Option('users', 'served').flag}` judges each model on the users it knows. "
    f"`{Option('users', 'common').flag}` judges all models on the users whom every model knows.",
)
def users_unknown_to_model(report: "Report") -> Iterator[str]:
    """Yield a warning for judged users whom some model does not know."""
    effect = NOT_SERVED if report.settings.users == "served" else EMPTY_LISTS
    lacking: dict[tuple[int, int], list[str]] = {}
    for name, model in report.tally.models.items():
        if model.unknown_rows:
            lacking.setdefault((model.unknown_users, model.unknown_rows), []).append(name)
    for (unknown, rows), names in lacking.items():
        yield USERS_UNKNOWN.format(
            models=_with_verb(report.judged.names(names), "does", "do"),
            unknown=unknown,
            users=report.tally.users,
            rows=counted(rows, "row"),
            effect=effect,
        )


@check(
    "items-unknown-to-model",
    what="A model does not know some items of the catalogue.",
    why="The catalogue has the items of train, of the test and of all models. Items that a model does not know are "
    "tied at the end of its ranking. Top-N lists do not recommend what they do not list: it gains 0 under a cut-off.",
    do="Nothing, if the model cannot recommend them. Otherwise check its item ids, or train it on these items.",
)
def items_unknown_to_model(report: "Report") -> Iterator[str]:
    """Yield a warning for items that some model does not know."""
    lacking: dict[tuple[int, bool], list[str]] = {}
    for name, unknown in report.tally.unknown_items.items():
        if unknown:
            lacking.setdefault((unknown, _has_lists(report, name)), []).append(name)
    effect = BELOW_LIST if report.settings.unlisted == "tied" else NO_GAIN
    for (unknown, lists), names in lacking.items():
        models = _with_verb(report.judged.names(names), "has", "have")
        template = ITEMS_NEVER_LISTED if lists else ITEMS_UNKNOWN
        yield template.format(models=models, unknown=unknown, items=report.tally.catalogue_size, effect=effect)


def _has_lists(report: "Report", name: str) -> bool:
    """Whether a model is given as lists: by itself, or for saved ranks by the lengths that they keep."""
    model, seen = report.contenders.models.get(name), report.tally.models.get(name)
    return (model is not None and isinstance(model.ranker, ListScorer)) or (seen is not None and seen.longest_list >= 0)


ROW_NUMBERS = (
    "the {axis} ids of model {model!r} look like row numbers (they begin with 0, and the ids of the log with {first}); "
    "if they are, name the rows with unskew.integrations.with_ids(model, {axis}_ids=...)"
)


@check(
    "ids-like-row-numbers",
    what="The ids of a model may be the numbers of its rows.",
    why="They begin with 0 and the ids of the log do not, and the largest is below its largest. If they are row "
    "numbers, most scores belong to the wrong user or item.",
    do="Name the rows with `unskew.integrations.with_ids`, or write the ids of the log.",
)
def ids_like_row_numbers(report: "Report") -> Iterator[str]:
    """Yield a warning for each model whose ids begin with 0 where those of the log do not."""
    split = report.inputs.split
    for axis, known in (("user", split.user_vocabulary), ("item", split.item_vocabulary)):
        if not known.is_numeric or not len(known) or known.ids[0] <= 0:
            continue
        for name, model in report.contenders.models.items():
            ids = getattr(model.scorer, f"{axis}_ids", None)
            given = None if ids is None else np.asarray(ids)
            if given is None or given.dtype.kind not in "iu" or not len(given):
                continue
            if given.min() == 0 and given.max() < known.ids[-1]:
                yield ROW_NUMBERS.format(axis=axis, model=name, first=known.ids[0])


FOREIGN = 0.1  # share of a model's items
ITEMS_FOREIGN = (
    "{foreign:,} of the {known:,} items of model {model!r} (such as {example!r}) are in neither train nor test: to "
    "recommend them is always a miss; check the item ids if the log should have these items"
)


@check(
    "items-of-models-unknown-to-log",
    what="Many items of a model are in neither train nor test.",
    why="They are candidates without a positive, so each place that they take in a list is lost. Often their ids are "
    "written differently in the model and in the log.",
    do="Nothing, if the model can recommend items that nobody has had. Otherwise check its item ids.",
)
def items_unknown_to_log(report: "Report") -> Iterator[str]:
    """Yield a warning for each model with many items that the log does not have."""
    contest = report.samples.contest
    if contest is None:
        return
    for name, some in _foreign_items(report).items():
        known = int(np.sum(contest.bindings[name].columns >= 0))
        if len(some) >= FOREIGN * known:
            example = contest.catalogue_ids[some[0]]
            yield ITEMS_FOREIGN.format(model=name, foreign=len(some), known=known, example=str(example))


def foreign_shares(report: "Report") -> dict[str, float]:
    """The share of the places of a model's lists that hold items of neither train nor test, for each model of lists."""
    shares: dict[str, float] = {}
    for name, some in _foreign_items(report).items():
        binding = report.samples.contest.bindings[name]  # type: ignore[union-attr]
        scorer = report.contenders.models[name].ranker
        if not isinstance(scorer, ListScorer):
            continue
        foreign = np.zeros(scorer.n_items, dtype=bool)
        foreign[binding.columns[some]] = True
        rows = binding.rows[report.samples.judged.users]
        _, columns, _ = scorer.lists_of(rows[rows >= 0])
        if len(columns):
            shares[name] = float(foreign[columns].mean())
    return shares


def _foreign_items(report: "Report") -> dict[str, Ints]:
    """Places in the catalogue of each model's items that are in neither train nor test, where it has such items."""
    contest = report.samples.contest
    if contest is None or isinstance(contest.rule, Listed):
        return {}
    vocabulary, codes = vocabulary_of(contest.catalogue_ids, "the catalogue")
    foreign = (vocabulary.codes_in(report.inputs.split.item_vocabulary) < 0)[codes]
    places = {name: np.flatnonzero(foreign & (each.columns >= 0)) for name, each in contest.bindings.items()}
    return {name: of_model for name, of_model in places.items() if len(of_model)}


def _with_verb(names: Sequence[str], singular: str, plural: str) -> str:
    """The models as the subject of a sentence, with the verb: ``model 'a' does``, ``models 'a' and 'b' do``."""
    one = len(names) == 1
    return f"{'model' if one else 'models'} {listed(map(repr, names))} {singular if one else plural}"


LISTS_SHORT = (
    "model {model!r} lists at most {longest} candidates per user, fewer than the cut-off of {metrics}; items that are "
    "not listed gain 0, so export longer lists or use a smaller cut-off"
)


@check(
    "short-lists",
    what="A model's lists are shorter than a cut-off.",
    why="Items that are not listed gain 0, so the metric is too low for this model.",
    do="Export longer lists, or use a smaller cut-off.",
)
def short_lists(report: "Report") -> Iterator[str]:
    """Yield a warning for each model whose lists are shorter than a cut-off."""
    for name, model in report.tally.models.items():
        longest = model.longest_list
        if longest < 0:
            continue
        beyond = [str(metric) for metric in report.settings.metrics if (metric.cutoff or 0) > longest]
        if beyond and longest < model.most_candidates:
            yield LISTS_SHORT.format(model=name, longest=longest, metrics=listed(beyond))


ITEMS_SKIPPED = (
    "model {model!r}: {skipped:,} of {listed:,} listed items were skipped because the user has them in train; remove "
    "them before the lists are cut to their length"
)


@check(
    "seen-items-in-lists",
    what="A model's lists hold items that the user has in train.",
    why="Seen items are not candidates and are skipped, so fewer places of the list count.",
    do="Remove seen items before the list is cut to its length, or export longer lists.",
)
def seen_items_in_lists(report: "Report") -> Iterator[str]:
    """Yield a warning for each model with listed items that were skipped because they are not candidates."""
    for name, model in report.tally.models.items():
        if model.skipped > 0 and model.unfilled:  # a table of all scores is not a list
            yield ITEMS_SKIPPED.format(model=name, skipped=model.skipped, listed=model.listed)


MANY_TIES = 0.1  # share of the held-out items
TIES_ARE_MANY = (
    "model {model!r}: {share:.0%} of held-out items share their score with another candidate, so their ranks {effect}; "
    "export scores with more digits, unless they are coarse on purpose"
)
AVERAGED = "are averages over all orders of the ties"
RESOLVED = "depend on the rule for ties ({rule})"


@check(
    "many-ties",
    what="More than 10 % of the held-out items share their score with another candidate.",
    why="A metric is then an average over the orders of the tie, or depends on the tie rule that was chosen.",
    do="Nothing, if scores are coarse on purpose. Otherwise export scores with more digits.",
)
def many_ties(report: "Report") -> Iterator[str]:
    """Yield a warning for each model with many held-out items in a tie."""
    rule = report.settings.ties
    for name, model in report.tally.models.items():
        tied = model.tied_in_list / max(report.tally.rows, 1)
        if tied > MANY_TIES:
            effect = AVERAGED if rule == "expected" else RESOLVED.format(rule=rule)
            yield TIES_ARE_MANY.format(model=name, share=tied, effect=effect)


BEYOND_CHANCE = 3  # standard errors from which a corrected number differs from the full ranking
CORRECTION_UNCHECKED = (
    "model {model!r}: the correction of sampled ranks cannot be checked with saved ranks; give the model itself"
)
CORRECTION_OFF = (
    "{metric}: the correction of sampled ranks is off by {errors} ({users:,} users ranked in full); use {unseen}, or "
    "more draws"
)


@check(
    "sampled-correction",
    what="The correction of sampled ranks is off, or cannot be checked.",
    why="Corrected numbers should equal those of a full ranking. To check this, some users are ranked in full. Their "
    "numbers differ from the corrected ones.",
    do=f"Use `{Option('candidates', 'unseen').flag}`, or more draws.",
)
def sampled_correction(report: "Report") -> Iterator[str]:
    """Yield a warning where the correction is off, and where that cannot be checked."""
    checks = report.samples.correction
    if checks is None:
        return
    measured = {one.model for one in checks}
    for model in report.samples.judged.ranks:
        if model not in measured:
            yield CORRECTION_UNCHECKED.format(model=model)
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
            yield CORRECTION_OFF.format(
                metric=metric, errors=offs, users=far[0].users, unseen=Option("candidates", "unseen")
            )
