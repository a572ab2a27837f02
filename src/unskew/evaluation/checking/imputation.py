"""Warnings about estimates over all candidates, and about slices of random rows."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from unskew.data.candidates import All
from unskew.data.pairs import count_shared
from unskew.display.numbers import p, percent
from unskew.display.phrases import counted, listed
from unskew.errors import Option
from unskew.estimators import Imputing
from unskew.evaluation.checking.check import check
from unskew.evaluation.collecting.imputed import FEW_POSITIVES
from unskew.evaluation.settings.admissible import for_random_ratings

if TYPE_CHECKING:
    from unskew.evaluation.report import Report

DOUBTFUL = 0.001
"""p below which a slice may not be random; one in a thousand random slices is warned of, by each test."""
REFUTED = 0.01
"""p below which a method is refuted by the slice, after Bonferroni over the metrics."""
RESEMBLES = 0.9
"""Rank correlation from which chances of relevance resemble a model's scores."""
_NAMES = {"naive": "the naive average", "popularity": "popularity weights", "exposure": "exposure weights"}

NOT_UNIFORM = (
    "the slice has some items too often for a random draw (p {p}), and the estimates depend on the slice; check how "
    "it was drawn"
)
TOO_POPULAR = (
    "the items of the slice are {kind} popular than the candidates they should be drawn from (p {p}), and the "
    "estimates depend on the slice; check how it was drawn"
)


@check(
    "slice-not-random",
    what="The rows of the slice do not look like a random draw of candidates.",
    why="Every estimate with a slice assumes that its rows were drawn with equal chances. A slice that favours "
    "popular items has the skew that it should remove.",
    do="Draw items with equal chances for each user, and keep all of them, whatever the answer was.",
)
def slice_not_random(report: "Report") -> Iterator[str]:
    """Yield a warning for each test that the slice fails."""
    sliced = report.estimated.slice_report
    if sliced is None:
        return
    if sliced.draw.p_popularity < DOUBTFUL:
        kind = "more" if sliced.draw.more_popular else "less"
        yield TOO_POPULAR.format(kind=kind, p=_p(sliced.draw.p_popularity))
    elif sliced.draw.p_items < DOUBTFUL:
        yield NOT_UNIFORM.format(p=_p(sliced.draw.p_items))


NOT_USED = "the slice is not used, because no estimator of this run is corrected by it; use blend"
OF_LABELS = "the slice is not used, because it is one of labels, and this run has metrics of ratings alone; {instead}"


@check(
    "slice-not-used",
    what="A slice is given, but no estimator uses it.",
    why="Only `blend`, `dm` and `dr` are corrected by random rows. `auto` is none of these if you name a propensity, "
    f"with `{Option('users', 'served').flag}`, or with `{Option('ties', 'random').flag}`.",
    do="Use `blend`, or leave the slice out. It has labels, so metrics of ratings cannot use it: give random ratings "
    "as a test of their own with `aoa`, or learn propensities from them by `naive-bayes(mcar=FILE)`.",
)
def slice_not_used(report: "Report") -> Iterator[str]:
    """Yield a warning for a slice that has no effect."""
    if report.samples.judged.split.slice is not None and report.samples.imputed is None:
        yield OF_LABELS.format(instead=for_random_ratings()) if report.only_ratings else NOT_USED


IN_TRAIN = (
    "{shared:,} of {rows} of the slice are also in train and left out, because they are not candidates; draw items "
    "that the users do not have"
)
NEW_USERS = (
    "the slice has {users} ({rows}) without a row in train or test, who count as new users: their lists are empty "
    "where a model does not know them; check the user ids if they should be known"
)
NOT_JUDGED = "the slice loses {rows} of users who are not judged, because models do not know them; check the user ids"


@check(
    "slice-rows",
    what="Rows of the slice are also in train, or have users whom the log does not have.",
    why="Rows in train are not candidates and are left out. A user without a row in the log counts as a new user. "
    "New users belong to the target, because the slice was drawn over them too. But a wrong id also looks like a new "
    "user.",
    do="Draw items that the users do not have, and give the user ids of train.",
)
def slice_rows(report: "Report") -> Iterator[str]:
    """Yield a warning for rows of the slice that are left out, and one for users who are new."""
    imputed, split = report.samples.imputed, report.samples.judged.split
    if imputed is None or imputed.drawn is None or split.slice is None:
        return
    given = split.slice
    shared = 0 if isinstance(split.rule, All) else count_shared(given, split.train)
    if shared:
        yield IN_TRAIN.format(shared=shared, rows=counted(len(given), "row"))
    unjudged = len(given) - shared - len(imputed.drawn.rows.users)
    if unjudged:
        yield NOT_JUDGED.format(rows=counted(unjudged, "row"))
    users = imputed.drawn.rows.users
    new = users[(split.train.user_counts[users] == 0) & (split.test.user_counts[users] == 0)]
    if len(new):
        yield NEW_USERS.format(users=counted(len(np.unique(new)), "user"), rows=counted(len(new), "row"))


FEW_DRAWN = (
    "the slice has {positives}, fewer than {least}: it says little, so intervals are wide; it decides nothing, so "
    "the methods without the slice still have to agree; collect more random rows"
)


@check(
    "slice-few-positives",
    what="The slice has fewer than 10 positives.",
    why="Fewer than 10 positives cannot check the estimates that do not use the slice.",
    do="Collect more random rows; `unskew exposures` plans how many.",
)
def slice_few_positives(report: "Report") -> Iterator[str]:
    """Yield a warning for a slice with few positives."""
    imputed = report.samples.imputed
    if imputed is not None and imputed.drawn is not None and not imputed.drawn.decides:
        yield FEW_DRAWN.format(positives=counted(imputed.drawn.positives, "positive"), least=FEW_POSITIVES)


REFUTES = (
    "{methods} by your slice on {metrics} (p {p}): such numbers differ from the random rows by more than chance; trust "
    "the estimates with the slice"
)


@check(
    "refuted-by-slice",
    what="Hotelling's test rejects an estimate that does not use the slice. The test is over all models together.",
    why="The estimate differs from the random rows by more than chance explains.",
    do="Trust the estimate with the slice, and do not use the refuted one on logs like this.",
)
def refuted_by_slice(report: "Report") -> Iterator[str]:
    """Yield one warning for each method that the slice refutes."""
    sliced = report.estimated.slice_report
    if sliced is None or sliced.positives < FEW_POSITIVES:
        return
    metrics = len({row.metric for row in sliced.refutations})
    for method, name in _NAMES.items():
        rows = [row for row in sliced.refutations if row.method == method and row.p_value * metrics < REFUTED]
        if rows:
            verb = "is refuted" if method == "naive" else "are refuted"
            yield REFUTES.format(
                methods=f"{name} {verb}",
                metrics=listed(row.metric for row in rows),
                p=_p(max(row.p_value for row in rows) * metrics),
            )


def _p(value: float) -> str:
    """A p-value with its sign of comparison."""
    return p(value) if value < 1e-4 else f"= {p(value)}"


LEVEL = (
    "{cells} {depend} on how many items are relevant, and labels of selected rows usually overstate that; compare "
    "models with {them}, but do not trust {their} level without a slice of random rows"
)


@check(
    "level-of-relevance",
    what="A sum or list metric is imputed without random rows.",
    why="Such a metric grows with the number of relevant items. Chances of relevance learnt from selected rows are "
    "often too high, because people look at what they like.",
    do="Use means over relevant items, such as recall and adg, or add a slice of random rows.",
)
def level_of_relevance(report: "Report") -> Iterator[str]:
    """Yield a warning for sum and list metrics that are imputed without a slice."""
    imputed = report.samples.imputed
    if imputed is None or imputed.drawn is not None:
        return
    asked = [(m, e) for m, e in report.settings.pairs if isinstance(e, Imputing) and m.kind in {"sum", "list"}]
    if asked:
        cells = listed(f"{metric} by {estimator}" for metric, estimator in asked)
        words = ("depends", "it", "its") if len(asked) == 1 else ("depend", "them", "their")
        yield LEVEL.format(cells=cells, **dict(zip(("depend", "them", "their"), words, strict=True)))


RESEMBLANCE = (
    "the chances of relevance order the candidates much like model {model!r} (rank correlation {correlation:.2f}), so "
    "dm and blend favour it; use chances from another source, or a slice"
)


@check(
    "imputation-resembles-model",
    what="The chances of relevance order candidates like one of the judged models.",
    why="A model that agrees with the imputation is rewarded for that, not for being right.",
    do="Use `q=labels`, which does not contain personal taste, or chances that do not come from the judged model.",
)
def imputation_resembles_model(report: "Report") -> Iterator[str]:
    """Yield a warning for each model that the chances resemble."""
    imputed = report.samples.imputed
    if imputed is None or imputed.drawn is not None:  # random rows correct what the chances favour
        return
    for (_, model), correlation in imputed.resemblance.items():
        if correlation >= RESEMBLES:
            yield RESEMBLANCE.format(model=model, correlation=correlation)


LACKING = 0.01
"""Share of the candidates without a chance from which a table of chances is warned of."""
LACKS = (
    "{q} lacks {share} of the candidates, which count as never relevant (chance 0); add their chances, unless that "
    "is intended"
)


@check(
    "chances-lacking",
    what="A table of chances of relevance lacks more than 1 % of the candidates.",
    why="A pair that the table lacks has the chance 0, so models that recommend it are not rewarded for it.",
    do="Give the chance of every pair that is a candidate.",
)
def chances_lacking(report: "Report") -> Iterator[str]:
    """Yield a warning for each table of chances that lacks many candidates."""
    imputed = report.samples.imputed
    if imputed is None:
        return
    total = int(imputed.candidates.sum())
    for q, chances in imputed.listed_chances.items():
        share = 1 - len(chances) / max(total, 1)
        if share > LACKING:
            yield LACKS.format(q=q, share=percent(share))
