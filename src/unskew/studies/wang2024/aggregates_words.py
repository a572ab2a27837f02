"""What many draws say of each form, worked out from their numbers."""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from unskew.arrays import Floats
from unskew.studies.result import Claim
from unskew.studies.study import Context
from unskew.studies.wang2024.estimates import IDEAL
from unskew.studies.wang2024.strata import BETA_BINOMIAL, CONTROL, FORMS, MACRO, MEAN, MONOTONE, PLUG_IN, POOLED
from unskew.studies.wang2024.variants import told

if TYPE_CHECKING:
    from unskew.studies.wang2024.aggregates import Errors

LEVEL = 0.01
"""Chance that a claim on absence of bias fails although it is true, over all its cells together (Bonferroni)."""
TEST = 0.05
"""Level of one-sided paired tests, over all cells of a claim together."""


def notes(found: Sequence["Errors"], context: Context) -> Iterator[str]:
    """How it was done, and what was found."""
    for world in {each.mine.truth.log.world.name: each.mine.truth.log.world for each in found}.values():
        yield world.told
    yield told(context)
    first = found[0].mine
    yield (
        f"Beyond the paper, so there is no printed number. {len(first.ndcg)} draws of each size; users, labels and "
        "models are fixed, and only the draw is chance. The target of ure and ure(aggregate=ipw) is the mean over "
        "users of full recall, that of the pooled forms the mean over positive pairs. Bias, spread and rmse are shares "
        f"of the target, means over {len(first.truth.ranks)} models."
    )
    for each in found:
        yield _story(each)
    yield _choice(found)
    low = min(float(each.coverage[: len(each.small)].min()) for each in found)
    high = max(float(each.coverage[: len(each.small)].max()) for each in found)
    yield (
        "The 95 % delta interval of the pooled ratio is about the population that the users come from. Here the users "
        "are the same in all draws, so that it has more room than it needs and should hold the truth more often than "
        f"in 95 %: for K up to {found[0].small[-1]} it does in {low:.1%} to {high:.1%} of the draws, by world, size "
        "and K."
    )


def _story(each: "Errors") -> str:
    lines = []
    for form in FORMS:
        parts = [
            f"K = {k}: {each.bias(form)[:, place].mean():+.1%}, {each.spread(form)[:, place].mean():.1%}, "
            f"{each.rmse(form)[:, place].mean():.1%}"
            for place, k in enumerate(each.mine.ks)
            if k in {1, 5, 20, 50}
        ]
        lines.append(f"{form}: {'; '.join(parts)}")
    empty = 1 - each.mine.times.mean() / len(each.mine.ndcg)
    removed = ", ".join(
        f"{form} {each.removed(form)[: len(each.small)].mean():.0%}" for form in (PLUG_IN, BETA_BINOMIAL)
    )
    ndcg = each.ndcg[0]
    return (
        f"{each}: {empty:.0%} of users have no positive in a draw. Bias, spread, rmse. {'. '.join(lines)}. Of the "
        f"published mean's bias is removed, mean over K up to {each.small[-1]}: {removed}. ndcg@{IDEAL} of the pooled "
        f"form, a ratio, is off by {ndcg.min():+.1%} to {ndcg.max():+.1%}, by model."
    )


def _choice(found: Sequence["Errors"]) -> str:
    """Which form has the least bias and error."""
    tables: dict[str, Callable[[Errors, str], Floats]] = {
        "bias": lambda each, form: np.abs(each.bias(form)),
        "root mean squared error": lambda each, form: each.rmse(form),
    }
    parts = []
    for title, of in tables.items():
        means = {
            form: float(np.mean([of(each, form)[:, : len(each.small)].mean() for each in found])) for form in FORMS
        }
        for group, words in ((FORMS, "of all forms"), (MACRO, "of those for the mean over users")):
            best = min(group, key=means.__getitem__)
            parts.append(f"the least {title} {words} has {best} ({means[best]:.2%})")
    return f"For its own target, over models, K up to {found[0].small[-1]}, worlds and sizes, {'; '.join(parts)}."


def claims(found: Sequence["Errors"], *, judged: bool = True) -> Iterator[Claim]:
    """Ours, not the paper's.

    Parameters
    ----------
    found : sequence of Errors
    judged : bool
        False where there are too few draws.
    """
    for claim, holds, evidence in (
        _within("users' own shares, given a positive, are full recall in the mean (theorem 3)", found, _conditional),
        _within("the pooled ratio is the full recall of positive pairs", found, lambda each: each.pooled),
        _biased(found),
        _within("the published mean is where the users' chances of a positive put it", found, _foretold),
        _within("precision@K by Horvitz and Thompson is unbiased", found, lambda each: each.sums[0]),
        _within("dcg@K by Horvitz and Thompson is unbiased", found, lambda each: each.sums[1]),
        _less_biased(found),
        *(_reduced(found, form, to) for form in (CONTROL, MONOTONE) for to in (POOLED, MEAN)),
    ):
        yield Claim(f"Ours, not the paper's: {claim}", holds if judged else None, evidence)


def _conditional(each: "Errors") -> Floats:
    return each.conditional[0]


def _foretold(each: "Errors") -> Floats:
    return each.published[1]


def _within(claim: str, found: Sequence["Errors"], of: Callable[["Errors"], Floats]) -> tuple[str, bool, str]:
    from scipy.stats import t

    tables = {str(each): of(each) for each in found}
    cells = sum(table.size for table in tables.values())
    limit = float(t.isf(LEVEL / 2 / cells, len(found[0].mine.ndcg) - 1))
    worst = {name: float(table.flat[np.argmax(np.abs(table))]) for name, table in tables.items()}
    farthest = max(map(abs, worst.values()))
    evidence = (
        f"{cells} cells of model, K, world and size; the farthest {farthest:.1f} s.e. off, the limit for all together "
        f"at {LEVEL:g} is {limit:.1f}. {'; '.join(f'{name}: {z:+.1f}' for name, z in worst.items())}"
    )
    return f"{claim}, within Monte Carlo error for every model and K", farthest < limit, evidence


def _biased(found: Sequence["Errors"]) -> tuple[str, bool, str]:
    from scipy.stats import t

    shares, parts = [], []
    for each in found:
        z = each.published[0]
        limit = float(t.isf(LEVEL / 2 / z.size, len(each.mine.ndcg) - 1))
        shares.append(float((np.abs(z) > limit).mean()))
        bias, foretold = (_up_to(each, table) for table in (each.bias(MEAN), each.predicted))
        parts.append(
            f"{each}: {shares[-1]:.0%} of cells; up to K = {each.small[-1]} {bias.mean():+.1%} of the target on "
            f"average, predicted {foretold.mean():+.1%}"
        )
    claim = "the published mean is biased for the mean over users: some model and K in every world and size show it"
    return claim, min(shares) > 0, "; ".join(parts)


def _less_biased(found: Sequence["Errors"]) -> tuple[str, bool, str]:
    removed = {
        (str(each), form): float(each.removed(form)[: len(each.small)].mean())
        for each in found
        for form in (PLUG_IN, BETA_BINOMIAL)
    }
    holds = all(removed[str(each), BETA_BINOMIAL] > max(removed[str(each), PLUG_IN], 0) for each in found)
    evidence = "; ".join(f"{name}, {form}: {share:.0%}" for (name, form), share in removed.items())
    claim = "ipw with beta-binomial counts removes a part of the published mean's bias, more than with plug-in ones"
    return claim, holds, evidence


def _reduced(found: Sequence["Errors"], form: str, to: str) -> tuple[str, bool, str]:
    from scipy.stats import t

    parts, worst, sure, against, cells = [], 0.0, 0, 0, 0
    total = sum(_up_to(each, each.gain(form, to)).size for each in found)
    limit = float(t.isf(TEST / total, len(found[0].mine.ndcg) - 1))
    for each in found:
        ratio, z = (_up_to(each, table) for table in (each.ratio(form, to), each.gain(form, to)))
        worst, cells = max(worst, float(ratio.max())), cells + int((ratio < 1).sum())
        sure, against = sure + int((z > limit).sum()), against + int((z < -limit).sum())
        means = ", ".join(f"{ratio[:, place].mean():.2f}" for place in range(len(each.small)))
        parts.append(f"{each}: {means}")
    ks = ", ".join(map(str, found[0].small))
    evidence = (
        f"{cells} of {total} cells of model, K, world and size below 1, the largest ratio {worst:.2f}; by paired tests "
        f"over draws ({TEST:g} for all together) {sure} are surely lower and {against} surely higher. Mean ratio at "
        f"K = {ks}: {'; '.join(parts)}"
    )
    own = "" if to == POOLED else ", each against its own target and as a share of it"
    claim = (
        f"{form} has a lower mean squared error than {to} at every K up to {found[0].small[-1]} for every model{own}"
    )
    return claim, cells == total, evidence


def _up_to(each: "Errors", table: Floats) -> Floats:
    """The columns of small cut-offs, of an array (models, cut-offs)."""
    return table[:, : len(each.small)]
