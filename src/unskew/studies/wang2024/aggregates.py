"""Beyond the paper: what bringing users together does to the estimate, and which form to use."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from unskew.arrays import Floats
from unskew.studies.framework.cells import ReproducedCell
from unskew.studies.framework.figures import Figure, Panel, Series
from unskew.studies.framework.result import Findings
from unskew.studies.framework.study import Context, Table
from unskew.studies.wang2024.aggregates_words import claims, notes
from unskew.studies.wang2024.correlations import SIZE, truths
from unskew.studies.wang2024.estimates import (
    Estimates,
    conditional_scores,
    estimates,
    full_ndcg,
    full_sums,
)
from unskew.studies.wang2024.strata import CONTROL, FORMS, MEAN, MONOTONE, POOLED
from unskew.studies.wang2024.worlds import KUAIREC, MOVIELENS

SIZES = (20, SIZE)
"""l: items drawn of each user."""
NONE = 1e-12
"""So small an error is none: recall at a large K may be 1 for all."""
FORETOLD = "ure, predicted"
SMALL = 50
"""Cut-offs up to this are those of the claims on variance."""


@dataclass(frozen=True, eq=False)
class Errors:
    """How far the forms are from what they estimate, in one world and with one size of the samples."""

    mine: Estimates

    def __str__(self) -> str:
        return f"{self.mine.truth.log.world.name}, l = {self.mine.size}"

    @cached_property
    def small(self) -> tuple[int, ...]:
        """Cut-offs up to 50."""
        return tuple(k for k in self.mine.ks if k <= SMALL)

    def errors(self, form: str) -> Floats:
        """Less the form's own target, an array (draws, models, cut-offs)."""
        return np.asarray(self.mine.recall[form] - self.mine.target(form))

    def bias(self, form: str) -> Floats:
        """Mean errors as a share of the target, an array (models, cut-offs)."""
        return np.asarray(self.errors(form).mean(axis=0) / self.mine.target(form))

    def spread(self, form: str) -> Floats:
        """Standard deviation over draws as a share of the target, an array (models, cut-offs)."""
        return np.asarray(self.errors(form).std(axis=0, ddof=1) / self.mine.target(form))

    def squares(self, form: str) -> Floats:
        """Squared errors as a share of the target's square, an array (draws, models, cut-offs)."""
        return np.asarray((self.errors(form) / self.mine.target(form)) ** 2)

    def rmse(self, form: str) -> Floats:
        """Root mean squared errors as a share of the target, an array (models, cut-offs)."""
        return np.asarray(np.sqrt(self.squares(form).mean(axis=0)))

    def ratio(self, form: str, to: str) -> Floats:
        """Of mean squared errors, each against its own target and as a share of its square: (models, cut-offs)."""
        mine, other = (self.squares(each).mean(axis=0) + NONE for each in (form, to))
        return np.asarray(mine / other)

    def gain(self, form: str, to: str) -> Floats:
        """How much lower the squared errors are in the same draws, in standard errors: (models, cut-offs)."""
        return scores(self.squares(to) - self.squares(form))

    def removed(self, form: str) -> Floats:
        """The share of the published mean's bias that is gone, of all models together; one a cut-off."""
        left, there = (np.abs(self.errors(each).mean(axis=0)).mean(axis=0) + NONE for each in (form, MEAN))
        return np.asarray(1 - left / there)

    @cached_property
    def conditional(self) -> tuple[Floats, Floats]:
        """Scores of users' own shares, and the mean squares of these scores, which should be 1."""
        return conditional_scores(self.mine)

    @cached_property
    def pooled(self) -> Floats:
        """Mean errors of the pooled ratio in standard errors, (models, cut-offs)."""
        return scores(self.errors(POOLED))

    @cached_property
    def published(self) -> tuple[Floats, Floats]:
        """Mean errors of the published mean in standard errors, from its target and from what is predicted."""
        return scores(self.errors(MEAN)), scores(self.mine.recall[MEAN] - self.mine.expected())

    @cached_property
    def predicted(self) -> Floats:
        """The bias that the published mean should have, as a share of its target: (models, cut-offs)."""
        target = self.mine.target(MEAN)
        return np.asarray((self.mine.expected() - target) / target)

    @cached_property
    def sums(self) -> tuple[Floats, Floats]:
        """Mean errors of precision@K and dcg@K in standard errors, (models, cut-offs)."""
        precision, dcg = full_sums(self.mine.truth, self.mine.ks)
        return scores(self.mine.precision - precision), scores(self.mine.dcg - dcg)

    @cached_property
    def ndcg(self) -> tuple[Floats, Floats]:
        """Bias of ndcg@10 as a share of the truth, and in standard errors; one a model."""
        truth = full_ndcg(self.mine.truth)
        errors = self.mine.ndcg - truth
        return errors.mean(axis=0) / truth, scores(errors)

    @cached_property
    def coverage(self) -> Floats:
        """How often the 95 % delta interval of the pooled ratio holds the truth, one a cut-off."""
        return np.asarray(self.mine.covered.mean(axis=(0, 1)))


def scores(values: Floats) -> Floats:
    """Means over the first axis in their standard errors; 0 where all are 0."""
    error = values.std(axis=0, ddof=1) / np.sqrt(len(values))
    mean = values.mean(axis=0)
    return np.asarray(np.divide(mean, error, out=np.zeros(mean.shape), where=error > 0))


def run(context: Context) -> Findings:
    """Judge every form on many draws of each world at hand."""
    found = [Errors(estimates(context, truth, size)) for truth in truths(context) for size in SIZES]
    return Findings(
        cells=tuple(cell for each in found for cell in _cells(each)),
        claims=tuple(claims(found, judged=not context.fast)),
        figures=(_biases(found), _roots(found), _ratios(found)),
        notes=tuple(notes(found, context)),
    )


def _cells(each: Errors) -> Iterator[ReproducedCell]:
    data = str(each)
    for place, k in enumerate(each.mine.ks):
        for title, table in (("bias", each.bias), ("spread", each.spread), ("rmse", each.rmse)):
            for form in FORMS:
                value = float(table(form)[:, place].mean())
                yield ReproducedCell(f"{title} of recall@{k}", form, data, None, value)
        yield ReproducedCell(
            f"bias of recall@{k}", "ure, predicted", data, None, float(each.predicted[:, place].mean())
        )
        yield ReproducedCell(f"coverage of recall@{k}", POOLED, data, None, float(each.coverage[place]))
        for form in (CONTROL, MONOTONE):
            row = f"MSE of recall@{k} over that of {POOLED}"
            yield ReproducedCell(row, form, data, None, float(each.ratio(form, POOLED)[:, place].mean()))


def _biases(found: Sequence[Errors]) -> Figure:
    panels = []
    for each in found:
        lines = [_line(form, each, each.bias(form), naive=form == MEAN) for form in FORMS if form != CONTROL]
        panels.append(Panel(str(each), (*lines, _line(FORETOLD, each, each.predicted))))
    return Figure(
        "Bias of recall@K as a share of its target",
        "K",
        tuple(panels),
        log_x=True,
        note="Means over models; bands hold the middle 90 % of the models.",
    )


def _roots(found: Sequence[Errors]) -> Figure:
    panels = [
        Panel(str(each), tuple(_line(form, each, each.rmse(form), naive=form == MEAN) for form in FORMS))
        for each in found
    ]
    return Figure(
        "Root mean squared error of recall@K as a share of its target",
        "K",
        tuple(panels),
        log_x=True,
        log_y=True,
        note="Means over models; bands hold the middle 90 % of the models.",
    )


def _ratios(found: Sequence[Errors]) -> Figure:
    panels = [
        Panel(str(each), tuple(_line(form, each, each.ratio(form, POOLED)) for form in (CONTROL, MONOTONE)))
        for each in found
    ]
    return Figure(
        f"Mean squared error over that of {POOLED}",
        "K",
        tuple(panels),
        log_x=True,
        note="Means over models; bands hold the middle 90 % of the models. Below 1 is better.",
    )


def _line(name: str, each: Errors, values: Floats, *, naive: bool = False) -> Series:
    low, high = np.quantile(values, [0.05, 0.95], axis=0)
    mean, low, high = (tuple(float(v) for v in column) for column in (values.mean(axis=0), low, high))
    return Series(name, tuple(float(k) for k in each.mine.ks), mean, low, high, naive=naive)


TABLE = Table(
    "aggregates",
    "Beyond the paper: bias and variance of each form, over many draws",
    run,
    needs=(MOVIELENS, KUAIREC),
)
