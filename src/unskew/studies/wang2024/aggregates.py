"""Beyond the paper: what bringing users together does to the estimate, and which form to use."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from unskew.arrays import Floats
from unskew.studies.framework.cells import ReproducedCell, cell
from unskew.studies.framework.claims import Claim, Verdict, claim
from unskew.studies.framework.figures import Figure, Panel, Series
from unskew.studies.framework.result import Findings
from unskew.studies.framework.study import Context, Table
from unskew.studies.wang2024.fast_ure import (
    BETA_BINOMIAL,
    CONTROL,
    FORMS,
    IDEAL,
    MACRO,
    MEAN,
    MONOTONE,
    PLUG_IN,
    POOLED,
    Estimates,
    conditional_scores,
    estimates,
    full_ndcg,
    full_sums,
)
from unskew.studies.wang2024.fig1 import band
from unskew.studies.wang2024.full_recall import SIZE, Truth, describe_apart, truths
from unskew.studies.wang2024.models import describe_variants
from unskew.studies.wang2024.worlds import NEEDS

NONE = 1e-12
"""An error this small is none: recall at a large K may be 1 for all."""
PREDICTED = "ure, predicted"
LEVEL = 0.01
"""Chance that a claim on absence of bias fails although it is true, over all its cells together (Bonferroni)."""
CLEAR = 0.05
"""A bias of this share of the target is worth removing."""
TEST = 0.05
"""Level of one-sided paired tests, over all cells of a claim together."""


@dataclass(frozen=True, eq=False)
class Errors:
    """How far the forms are from their targets, in one world and with one size of the samples."""

    numbers: Estimates

    def __str__(self) -> str:
        return f"{self.numbers.truth.name}, l = {self.numbers.size}"

    @cached_property
    def small(self) -> tuple[int, ...]:
        """Cut-offs up to 50, those of the claims on variance."""
        return tuple(k for k in self.numbers.ks if k <= 50)

    def up_to_small(self, table: Floats) -> Floats:
        """The columns of small cut-offs; the last axis is that of cut-offs."""
        return table[..., : len(self.small)]

    def errors(self, form: str) -> Floats:
        """Estimates minus the target of the form, an array (draws, models, cut-offs)."""
        return np.asarray(self.numbers.recall[form] - self.numbers.target(form))

    def squares(self, form: str) -> Floats:
        """Squared errors as a share of the target's square, an array (draws, models, cut-offs)."""
        return np.asarray((self.errors(form) / self.numbers.target(form)) ** 2)

    def shares(self, form: str) -> dict[str, Floats]:
        """Bias, spread and root mean squared error over draws, as shares of the target: (models, cut-offs)."""
        errors, target = self.errors(form), self.numbers.target(form)
        return {
            "bias": errors.mean(axis=0) / target,
            "spread": errors.std(axis=0, ddof=1) / target,
            "rmse": np.sqrt(self.squares(form).mean(axis=0)),
        }

    def ratio(self, form: str, to: str) -> Floats:
        """Of mean squared errors, each against its own target and as a share of its square: (models, cut-offs)."""
        above, below = (self.squares(each).mean(axis=0) + NONE for each in (form, to))
        return np.asarray(above / below)

    def removed(self, form: str) -> float:
        """The share of the published mean's bias that is gone, of all models together, on average at small cut-offs."""
        left, there = (np.abs(self.errors(each).mean(axis=0)).mean(axis=0) + NONE for each in (form, MEAN))
        return float(self.up_to_small(1 - left / there).mean())

    @cached_property
    def predicted(self) -> Floats:
        """The bias that the published mean should have, as a share of its target: (models, cut-offs)."""
        target = self.numbers.target(MEAN)
        return np.asarray((self.numbers.expected() - target) / target)

    @cached_property
    def sums(self) -> tuple[Floats, Floats]:
        """Mean errors of precision@K and dcg@K in standard errors, (models, cut-offs)."""
        precision, dcg = full_sums(self.numbers.truth, self.numbers.ks)
        return scores(self.numbers.precision - precision), scores(self.numbers.dcg - dcg)

    @property
    def coverage(self) -> Floats:
        """How often the 95 % delta interval of the pooled ratio holds the truth, one per cut-off."""
        return np.asarray(self.numbers.covered.mean(axis=(0, 1)))


def scores(values: Floats) -> Floats:
    """Means over the first axis in their standard errors; 0 where all are 0."""
    error = values.std(axis=0, ddof=1) / np.sqrt(len(values))
    mean = values.mean(axis=0)
    return np.asarray(np.divide(mean, error, out=np.zeros(mean.shape), where=error > 0))


def limit(share: float, draws: int) -> float:
    """The quantile of Student's t that is exceeded with this chance, of means over draws."""
    from scipy.stats import t

    return float(t.isf(share, draws - 1))


def run(context: Context, worlds: Sequence[Truth] | None = None) -> Findings:
    """Every form on many draws of the models of some worlds, or of all that are available."""
    worlds = truths(context) if worlds is None else worlds
    errors = [Errors(estimates(context, truth, size)) for truth in worlds for size in (20, SIZE)]
    return Findings(
        cells=tuple(cell for each in errors for cell in _cells(each)),
        claims=tuple(_claims(errors)),
        figures=tuple(_figures(errors)),
        notes=(
            *(truth.log.world.description for truth in worlds),
            describe_variants(context),
            describe_apart(worlds),
            *_notes(errors),
        ),
    )


def _cells(each: Errors) -> Iterator[ReproducedCell]:
    data, tables = str(each), {form: each.shares(form) for form in FORMS}
    for place, k in enumerate(each.numbers.ks):
        for title in ("bias", "spread", "rmse"):
            for form in FORMS:
                yield cell(f"{title} of recall@{k}", form, data, float(tables[form][title][:, place].mean()))
        yield cell(f"bias of recall@{k}", PREDICTED, data, float(each.predicted[:, place].mean()))
        yield cell(f"coverage of recall@{k}", POOLED, data, float(each.coverage[place]))
        for form in (CONTROL, MONOTONE):
            ratio = float(each.ratio(form, POOLED)[:, place].mean())
            yield cell(f"MSE of recall@{k} over that of {POOLED}", form, data, ratio)


def _claims(errors: Sequence[Errors]) -> Iterator[Claim]:
    """The paper's theorem, and ours."""
    small = errors[0].small[-1]
    everywhere = "within Monte Carlo error for every model and K"
    verdicts = {
        f"a user's recall in the draw, given a positive, is full recall in the mean (theorem 3), {everywhere}": (
            _within(errors, lambda each: conditional_scores(each.numbers)[0])
        ),
        f"the pooled ratio is the full recall of positive pairs, {everywhere}": (
            _within(errors, lambda each: scores(each.errors(POOLED)))
        ),
        "the published mean is a biased estimate of the mean over users: in every world and size some model and K show "
        "it": _biased(errors),
        f"the published mean has the expectation that follows from the users' chances of a positive, {everywhere}": (
            _within(errors, lambda each: scores(each.numbers.recall[MEAN] - each.numbers.expected()))
        ),
        f"precision@K by Horvitz and Thompson is unbiased, {everywhere}": _within(errors, lambda each: each.sums[0]),
        f"dcg@K by Horvitz and Thompson is unbiased, {everywhere}": _within(errors, lambda each: each.sums[1]),
        f"where the published mean's bias is above {CLEAR:.0%}, ipw with beta-binomial counts removes a part of it, "
        "and more than with plug-in counts": _less_biased(errors),
    }
    pairs = [(form, to) for form in (CONTROL, MONOTONE) for to in (POOLED, MEAN)]
    for form, to in pairs:
        text = f"{form} has a lower mean squared error than {to} at every K up to {small} for every model"
        verdicts[text] = _every_model(errors, form, to)
    for form, to in pairs:
        relative = "" if to == POOLED else ", each against its own target and as a share of it"
        text = f"{form} has a lower mean squared error than {to} at every K up to {small}, in the mean over models"
        verdicts[text + relative] = _in_the_mean(errors, form, to)
    return (claim(text, verdict) for text, verdict in verdicts.items())


def _within(errors: Sequence[Errors], of: Callable[[Errors], Floats]) -> Verdict:
    """Whether no score is further from 0 than chance explains, over all cells together."""
    tables = {str(each): of(each) for each in errors}
    cells = sum(table.size for table in tables.values())
    most = limit(LEVEL / 2 / cells, errors[0].numbers.draws)
    worst = {name: float(table.flat[np.argmax(np.abs(table))]) for name, table in tables.items()}
    farthest = max(map(abs, worst.values()))
    return farthest < most, (
        f"{cells} cells of model, K, world and size; the farthest is {farthest:.1f} s.e. off, and the limit for all "
        f"together at {LEVEL:g} is {most:.1f}. {'; '.join(f'{name}: {z:+.1f}' for name, z in worst.items())}"
    )


def _biased(errors: Sequence[Errors]) -> Verdict:
    shares, parts = [], []
    for each in errors:
        z = scores(each.errors(MEAN))
        shares.append(float((np.abs(z) > limit(LEVEL / 2 / z.size, each.numbers.draws)).mean()))
        bias, predicted = (each.up_to_small(table) for table in (each.shares(MEAN)["bias"], each.predicted))
        parts.append(
            f"{each}: {shares[-1]:.0%} of cells; up to K = {each.small[-1]} {bias.mean():+.1%} of the target on "
            f"average, predicted {predicted.mean():+.1%}"
        )
    return min(shares) > 0, "; ".join(parts)


def _less_biased(errors: Sequence[Errors]) -> Verdict:
    removed = {(str(each), form): each.removed(form) for each in errors for form in (PLUG_IN, BETA_BINOMIAL)}
    clear = [str(each) for each in errors if np.abs(each.up_to_small(each.predicted)).mean() > CLEAR]
    holds = [removed[name, BETA_BINOMIAL] > max(removed[name, PLUG_IN], 0) for name in clear]
    evidence = "; ".join(f"{name}, {form}: {share:.0%}" for (name, form), share in removed.items())
    return all(holds) if holds else None, f"{evidence}. Judged: {'; '.join(clear) or 'none'}"


def _every_model(errors: Sequence[Errors], form: str, to: str) -> Verdict:
    ratios = {str(each): each.up_to_small(each.ratio(form, to)) for each in errors}
    below, total = sum(int((ratio < 1).sum()) for ratio in ratios.values()), sum(r.size for r in ratios.values())
    largest = "; ".join(f"{name} {ratio.max():.2f}" for name, ratio in ratios.items())
    return below == total, f"{below} of {total} cells of model, K, world and size; the largest ratio: {largest}"


def _in_the_mean(errors: Sequence[Errors], form: str, to: str) -> Verdict:
    """The mean over models at every cut-off."""
    least = limit(TEST / sum(len(each.small) for each in errors), errors[0].numbers.draws)
    worst, parts = np.inf, []
    for each in errors:
        lower = scores((each.squares(to) - each.squares(form)).mean(axis=1))
        worst = min(worst, float(each.up_to_small(lower).min()))
        ratio = each.up_to_small(each.ratio(form, to))
        parts.append(f"{each}: {', '.join(f'{value:.2f}' for value in ratio.mean(axis=0))}")
    return worst > least, (
        f"the smallest difference is {worst:.1f} s.e. over draws, paired; the limit for all together at {TEST:g} is "
        f"{least:.1f}. Mean ratio at K = {', '.join(map(str, errors[0].small))}: {'; '.join(parts)}"
    )


def _notes(errors: Sequence[Errors]) -> Iterator[str]:
    """How it was done, and what was found."""
    first = errors[0].numbers
    yield (
        f"Beyond the paper, so there is no printed number. {first.draws} draws of each size; users, labels and "
        "models are fixed, and only the draw is chance. The target of ure and ure(aggregate=ipw) is the mean over "
        "users of full recall, that of the pooled forms the mean over positive pairs. Bias, spread and rmse are shares "
        f"of the target, means over {len(first.truth.ranks)} models."
    )
    yield from map(_summary, errors)
    yield _best_forms(errors)
    yield (
        "The rule fixed before the numbers were seen: a reduced form has the lower error for every model at every K. "
        "The weaker rule, in the mean over models, was added after the numbers were seen; so was the limit of "
        f"{CLEAR:.0%} below which ipw has hardly a bias to remove."
    )
    parts = (f"{each}: {', '.join(f'{x:.0%}' for x in each.up_to_small(each.coverage))}" for each in errors)
    yield (
        "The 95 % delta interval of the pooled ratio is for the population that the users come from. Here the users "
        "are the same in all draws, which makes it too wide. It is also a normal interval, which is too short where "
        "few positives of a draw rank above K. Share of draws in which it holds the truth at K = "
        f"{', '.join(map(str, errors[0].small))}: {'; '.join(parts)}."
    )


def _summary(each: Errors) -> str:
    lines = []
    for form in FORMS:
        means = zip(each.numbers.ks, *(table.mean(axis=0) for table in each.shares(form).values()), strict=True)
        shown = (row for row in means if row[0] in {1, 5, 20, 50})
        parts = (f"K = {k}: {bias:+.1%}, {spread:.1%}, {rmse:.1%}" for k, bias, spread, rmse in shown)
        lines.append(f"{form}: {'; '.join(parts)}")
    empty = 1 - each.numbers.times.mean() / each.numbers.draws
    removed = ", ".join(f"{form} {each.removed(form):.0%}" for form in (PLUG_IN, BETA_BINOMIAL))
    truth = full_ndcg(each.numbers.truth)
    ndcg = (each.numbers.ndcg - truth).mean(axis=0) / truth
    return (
        f"{each}: {empty:.0%} of users have no positive in a draw. Bias, spread, rmse. {'. '.join(lines)}. Share "
        f"of the published mean's bias that is removed, mean over K up to {each.small[-1]}: {removed}. The bias "
        f"of ndcg@{IDEAL} in the pooled form, a ratio, is {ndcg.min():+.1%} to {ndcg.max():+.1%}, by model."
    )


def _best_forms(errors: Sequence[Errors]) -> str:
    """Which form has the least bias and error."""
    parts = []
    for table, title in (("bias", "bias"), ("rmse", "root mean squared error")):
        means = {
            form: float(np.mean([each.up_to_small(np.abs(each.shares(form)[table])).mean() for each in errors]))
            for form in FORMS
        }
        for group, words in ((FORMS, "of all forms"), (MACRO, "of those for the mean over users")):
            best = min(group, key=means.__getitem__)
            parts.append(f"{best} has the least {title} {words} ({means[best]:.2%})")
    return f"For its own target, over models, K up to {errors[0].small[-1]}, worlds and sizes, {'; '.join(parts)}."


def _figures(errors: Sequence[Errors]) -> Iterator[Figure]:
    note = "Means over models; bands hold the middle 90 % of the models."

    def panels(tables: Callable[[Errors], dict[str, Floats]]) -> tuple[Panel, ...]:
        def lines(each: Errors) -> tuple[Series, ...]:
            ks = each.numbers.ks
            return tuple(band(name, ks, table, naive=name == MEAN) for name, table in tables(each).items())

        return tuple(Panel(str(each), lines(each)) for each in errors)

    def bias(each: Errors) -> dict[str, Floats]:
        forms = {form: each.shares(form)["bias"] for form in FORMS if form != CONTROL}
        return forms | {PREDICTED: each.predicted}

    yield Figure("Bias of recall@K as a share of its target", "K", panels(bias), log_x=True, note=note)
    title = "Root mean squared error of recall@K as a share of its target"
    roots = panels(lambda each: {form: each.shares(form)["rmse"] for form in FORMS})
    yield Figure(title, "K", roots, log_x=True, log_y=True, note=note)
    ratios = panels(lambda each: {form: each.ratio(form, POOLED) for form in (CONTROL, MONOTONE)})
    title = f"Mean squared error over that of {POOLED}"
    yield Figure(title, "K", ratios, log_x=True, note=f"{note} Below 1 is better.")


TITLE = "Beyond the paper: bias and variance of each form, over many draws"
TABLE = Table("aggregates", TITLE, run, needs=NEEDS)
