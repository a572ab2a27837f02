"""What many draws say of each form, worked out from their numbers."""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from unskew.arrays import Floats
from unskew.studies.framework.claims import Claim
from unskew.studies.framework.study import Context
from unskew.studies.wang2024.estimates import IDEAL
from unskew.studies.wang2024.strata import BETA_BINOMIAL, CONTROL, FORMS, MACRO, MEAN, MONOTONE, PLUG_IN, POOLED
from unskew.studies.wang2024.variants import told

if TYPE_CHECKING:
    from unskew.studies.wang2024.aggregates import Errors

LEVEL = 0.01
"""Chance that a claim on absence of bias fails although it is true, over all its cells together (Bonferroni)."""
CLEAR = 0.05
"""A bias of so much of the target is worth removing."""
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
    yield (
        "That a reduced form has the lower error for every model at every K was the rule beforehand. The weaker ones, "
        "in the mean over models and for no model surely larger, were added after the numbers were seen; so was the "
        f"limit of {CLEAR:.0%} below which there is hardly a bias for ipw to remove."
    )
    yield _coverage(found)


def _coverage(found: Sequence["Errors"]) -> str:
    parts = (f"{each}: {', '.join(f'{share:.0%}' for share in each.coverage[: len(each.small)])}" for each in found)
    return (
        "The 95 % delta interval of the pooled ratio is about the population that the users come from. Here they are "
        "the same in all draws, which gives it some room; but it is a normal one, and too short where few positives of "
        f"a draw stand above K. It holds the truth at K = {', '.join(map(str, found[0].small))} in: {'; '.join(parts)}."
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
        *(_every_model(found, form, to) for form in (CONTROL, MONOTONE) for to in (POOLED, MEAN)),
        *(_reduced(found, form, to) for form in (CONTROL, MONOTONE) for to in (POOLED, MEAN)),
        *(_never_worse(found, form) for form in (CONTROL, MONOTONE)),
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


def _less_biased(found: Sequence["Errors"]) -> tuple[str, bool | None, str]:
    removed = {
        (str(each), form): float(each.removed(form)[: len(each.small)].mean())
        for each in found
        for form in (PLUG_IN, BETA_BINOMIAL)
    }
    clear = [str(each) for each in found if np.abs(_up_to(each, each.predicted)).mean() > CLEAR]
    holds = [removed[name, BETA_BINOMIAL] > max(removed[name, PLUG_IN], 0) for name in clear]
    evidence = "; ".join(f"{name}, {form}: {share:.0%}" for (name, form), share in removed.items())
    claim = (
        f"where the published mean's bias is above {CLEAR:.0%}, ipw with beta-binomial counts removes a part of it, "
        "and more than with plug-in counts"
    )
    return claim, all(holds) if holds else None, f"{evidence}. Judged: {'; '.join(clear) or 'none'}"


def _reduced(found: Sequence["Errors"], form: str, to: str) -> tuple[str, bool, str]:
    """The mean over models at every cut-off."""
    from scipy.stats import t

    limit = float(t.isf(TEST / sum(len(each.small) for each in found), len(found[0].mine.ndcg) - 1))
    worst, parts = np.inf, []
    for each in found:
        lower = scores_of_means(each, form, to)
        worst = min(worst, float(lower.min()))
        ratio = _up_to(each, each.ratio(form, to))
        parts.append(f"{each}: {', '.join(f'{value:.2f}' for value in ratio.mean(axis=0))}")
    own = "" if to == POOLED else ", each against its own target and as a share of it"
    claim = (
        f"{form} has a lower mean squared error than {to} at every K up to {found[0].small[-1]}, in the mean over "
        f"models{own}"
    )
    evidence = (
        f"the smallest difference is {worst:.1f} s.e. over draws, paired; the limit for all together at {TEST:g} is "
        f"{limit:.1f}. Mean ratio at K = {', '.join(map(str, found[0].small))}: {'; '.join(parts)}"
    )
    return claim, worst > limit, evidence


def scores_of_means(each: "Errors", form: str, to: str) -> Floats:
    """How much lower the squared errors are in the mean over models, in standard errors; one a small cut-off."""
    gaps = (each.squares(to) - each.squares(form)).mean(axis=1)[:, : len(each.small)]
    error = gaps.std(axis=0, ddof=1) / np.sqrt(len(gaps))
    return np.asarray(gaps.mean(axis=0) / np.maximum(error, 1e-300))


def _every_model(found: Sequence["Errors"], form: str, to: str) -> tuple[str, bool, str]:
    """Each model by itself, at its word."""
    ratios = {str(each): _up_to(each, each.ratio(form, to)) for each in found}
    below, total = (sum(int(part) for part in parts) for parts in zip(*map(_below, ratios.values()), strict=True))
    claim = f"{form} has a lower mean squared error than {to} at every K up to {found[0].small[-1]} for every model"
    largest = "; ".join(f"{name} {ratio.max():.2f}" for name, ratio in ratios.items())
    return claim, below == total, f"{below} of {total} cells of model, K, world and size; the largest ratio: {largest}"


def _below(ratio: Floats) -> tuple[int, int]:
    return int((ratio < 1).sum()), ratio.size


def _never_worse(found: Sequence["Errors"], form: str) -> tuple[str, bool, str]:
    """Each model by itself."""
    from scipy.stats import t

    total = sum(_up_to(each, each.gain(form, POOLED)).size for each in found)
    limit = float(t.isf(TEST / total, len(found[0].mine.ndcg) - 1))
    below = sure = 0
    worst: list[tuple[float, str]] = []
    for each in found:
        ratio, z = (_up_to(each, table) for table in (each.ratio(form, POOLED), each.gain(form, POOLED)))
        below, sure = below + int((ratio < 1).sum()), sure + int((z > limit).sum())
        names = list(each.mine.truth.ranks)
        worst += [
            (
                float(ratio[model, place]),
                f"{each}, {names[model]} at K = {each.small[place]}: {ratio[model, place]:.2f}",
            )
            for model, place in zip(*np.nonzero(z < -limit), strict=True)
        ]
    told_ = "; ".join(text for _, text in sorted(worst, reverse=True)[:5])
    claim = f"for no model and K up to {found[0].small[-1]} has {form} surely a larger mean squared error than {POOLED}"
    evidence = (
        f"of {total} cells of model, K, world and size {below} have a ratio below 1, {sure} surely so by paired tests "
        f"over draws ({TEST:g} for all together), and {len(worst)} surely one above 1"
    )
    return claim, not worst, f"{evidence}: the largest {told_}" if worst else evidence


def _up_to(each: "Errors", table: Floats) -> Floats:
    """The columns of small cut-offs, of an array (models, cut-offs)."""
    return table[:, : len(each.small)]
