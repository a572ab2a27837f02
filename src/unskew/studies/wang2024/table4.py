"""Table 4: recall inside the sample, over all candidates, and as the sample estimates it.

The paper's claims: URE is near full recall for every model and orders models as it does, while recall inside the sample
speaks of a large K. By full recall@5 some debiasing methods are worse than Bias. NegS with a large share H/U of hard
negatives does well inside the sample, but not at the top of the list.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations, product

import numpy as np

from unskew.arrays import Floats
from unskew.errors import first_of
from unskew.studies.framework.cells import ReproducedCell, cells
from unskew.studies.framework.claims import MANY, Claim, Verdict, all_above, claim, none_clear
from unskew.studies.framework.figures import Figure, Panel, Series
from unskew.studies.framework.result import Findings
from unskew.studies.framework.stats import Gap, clear_signs, kendall, tau
from unskew.studies.framework.study import Context, Table
from unskew.studies.wang2024.hardness import RULE, claims_about_hardness, figure_of_hardness
from unskew.studies.wang2024.judge import (
    FORMS,
    LARGE,
    LEFT_OUT,
    NEEDS,
    ONE,
    PAIRS,
    POOLED,
    PUBLISHED,
    SMALL,
    TARGETS,
    Judged,
    JudgedTest,
    JudgedWorld,
    findings,
    judge_all,
)
from unskew.studies.wang2024.models import ENTRIES, Entry
from unskew.studies.wang2024.printed import BACKBONES, KUAIREC, METHODS, TABLE4, YAHOO, furthest, largest_drop
from unskew.studies.wang2024.random_tests import YAHOO_R3

COLUMNS = (
    "'full@K' is recall@K over all held items, the mean over users; 'full micro@K' that over positive pairs. 'URE@K' "
    "is the published estimate of the first, the mean over users with a positive in the sample, 'pooled URE@K' that of "
    "the second. 'traditional@5' is recall@5 inside the sample. Spreads are those of the random draws."
)
SAME_ORDER = 0.9
"""Kendall's tau from which on two orders count as the same."""


def run(context: Context, judged: Judged | None = None) -> Findings:
    """All numbers, their figures, and the claims; by default of all available data."""
    worlds, tests = judge_all(context) if judged is None else judged
    claims = (*_claims(worlds), *claims_about_hardness(worlds), *_test_claims(tests))
    figures = (*map(_figure, worlds), *map(figure_of_hardness, worlds))
    return findings(context, (worlds, tests), TABLE4, _cells(worlds, tests), claims, figures, (COLUMNS, RULE))


def _cells(worlds: Sequence[JudgedWorld], tests: Sequence[JudgedTest]) -> Iterator[ReproducedCell]:
    for world in worlds:
        note = world.log.world.differs
        printed = TABLE4[KUAIREC] if note else None
        yield from cells(world.numbers, "{model}", "{number}", world.name, printed=printed, printed_note=note)
    for test in tests:
        for (entry, column), terms in test.terms.items():
            paper = TABLE4[YAHOO].get((str(entry), column)) if test.name == YAHOO_R3 else None
            note = ONE if paper is None else f"{LEFT_OUT}; {ONE}"
            yield ReproducedCell(str(entry), column, test.name, paper, terms.value, terms.std_error, note=note)


def _claims(worlds: Sequence[JudgedWorld]) -> Iterator[Claim]:
    for world in worlds:
        small, large = world.both_ks
        of_paper = {
            "URE is near full recall for every model: the mean over draws is at most as far off as the furthest of the "
            "paper's ten rows": _near(world, PUBLISHED),
            "the mean of URE@K over draws orders the ten models as full recall@K does, with Kendall's tau of at least "
            f"{SAME_ORDER}": _same_order(world, PUBLISHED),
            f"some methods are worse than Bias on the same backbone by full recall@{small}": (
                _against_bias({entry: world.users(entry, small) for entry in ENTRIES}, "users")
            ),
            f"the order of the models by full recall@{small} is not that by full recall@{large}": _orders_differ(world),
        }
        ours = {
            f"pooled URE is unbiased for full recall {PAIRS}, for every model and K": none_clear(
                _gaps(world, POOLED, partial(world.full, mean="full micro"))
            ),
            f"pooled URE is near full recall {PAIRS} for every model, as near as the published one should be": (
                _near(world, POOLED)
            ),
            f"the mean of pooled URE@K over draws orders the ten models as full recall@K {PAIRS} does, with Kendall's "
            f"tau of at least {SAME_ORDER}": _same_order(world, POOLED),
            f"URE@{large} exceeds full recall@{large} for all ten models, as in the paper's numbers": _exceeds(world),
            "the distance of URE from full recall follows from its weights: users count by their chance to have a "
            "positive in the sample": _explained(world),
        }
        if world.log.world.differs:
            ours[f"the paper's full recall is at the level of ours {PAIRS}, not of ours over users"] = _level(world)
        for verdicts, section in ((of_paper, world.log.world.section("Table 4")), (ours, "")):
            yield from (claim(f"{world.name}: {text}", verdict, section=section) for text, verdict in verdicts.items())


def _near(world: JudgedWorld, form: str) -> Verdict:
    """Whether a form is as near to its full recall as in print."""
    near, parts = True, []
    for k, allowed in zip(world.both_ks, (furthest(5), furthest(500)), strict=True):
        off = {
            str(entry): world.numbers[entry, f"{form}@{k}"].mean() / world.full(entry, k, TARGETS[form]) - 1
            for entry in ENTRIES
        }
        worst = max(off, key=lambda name: abs(off[name]))
        near &= bool(abs(off[worst]) <= allowed)
        parts.append(
            f"K = {k}: {min(off.values()):+.1%} to {max(off.values()):+.1%}, furthest {worst}; in the paper "
            f"{allowed:.1%} at most"
        )
    return near, f"relative deviations at {'; at '.join(parts)}"


def _gaps(world: JudgedWorld, form: str, target: Callable[[Entry, int], float]) -> dict[str, Gap]:
    """How far the draws of a form are from its target, for each model and K."""
    return {
        f"{entry} at K = {k}": Gap.of(world.numbers[entry, f"{form}@{k}"], target(entry, k))
        for entry in ENTRIES
        for k in world.both_ks
    }


def _level(world: JudgedWorld) -> Verdict:
    """Whether the paper's numbers on KuaiRec, in the mean over its rows, are nearer to our mean over positive pairs."""
    pairs, parts = True, []
    for k, printed in zip(world.both_ks, (SMALL, LARGE), strict=True):
        paper = np.mean([TABLE4[KUAIREC][str(entry), f"full@{printed}"] for entry in ENTRIES])
        by_mean = {mean: np.mean([world.full(entry, k, mean) for entry in ENTRIES]) for mean in TARGETS.values()}
        users, micro = (abs(float(np.log(by_mean[mean] / paper))) for mean in TARGETS.values())
        pairs &= micro < users
        parts.append(
            f"K = {k}: the paper's ten rows {paper:.4f} on average, ours over users {by_mean['full']:.4f} and {PAIRS} "
            f"{by_mean['full micro']:.4f}"
        )
    return pairs, "; ".join(parts)


def _same_order(world: JudgedWorld, form: str) -> Verdict:
    same, parts = True, []
    for k in world.both_ks:
        full = np.array([world.full(entry, k, TARGETS[form]) for entry in ENTRIES])
        values = np.array([world.numbers[entry, f"{form}@{k}"] for entry in ENTRIES])
        of_means, single = tau(values.mean(axis=1), full), float(np.nanmedian(kendall(values.T, full)))
        same &= of_means >= SAME_ORDER
        parts.append(f"K = {k}: {of_means:.2f}, and {single:.2f} in the median of single draws")
    return same, f"tau at {'; at '.join(parts)}"


def _orders_differ(world: JudgedWorld) -> Verdict:
    small, large = world.both_ks
    pairs = list(combinations(ENTRIES, 2))
    gaps = {(a, b, k): Gap.of(world.users(a, k), world.users(b, k)) for a, b in pairs for k in (small, large)}
    signs = clear_signs(gaps)
    turned = [(a, b) for a, b in pairs if signs[a, b, small] * signs[a, b, large] < 0]
    orders = tau(*([world.full(entry, k) for entry in ENTRIES] for k in (small, large)))
    listed = [f"{a} against {b} {gaps[a, b, small].mean:+.4f} and {gaps[a, b, large].mean:+.4f}" for a, b in turned]
    return bool(turned), (
        f"pairs clearly in the opposite order, paired over users, {len(gaps)} tests with Holm's correction: "
        f"{len(turned)} of {len(pairs)} ({first_of(listed, MANY)}); Kendall's tau of the two orders {orders:.2f}"
    )


def _exceeds(world: JudgedWorld) -> Verdict:
    """The paper's numbers at K = 500 deviate to one side in all ten rows; whether they do in the mean of draws."""
    _, large = world.both_ks
    values = {entry: world.numbers[entry, f"{PUBLISHED}@{large}"] for entry in ENTRIES}
    gaps = {entry: Gap.of(values[entry], world.full(entry, large)) for entry in ENTRIES}
    signs = clear_signs(gaps).values()
    errors = np.array([values[entry] - world.full(entry, large) for entry in ENTRIES])
    all_up, all_down = float((errors > 0).all(axis=0).mean()), float((errors < 0).all(axis=0).mean())
    return all(sign > 0 for sign in signs), (
        f"means over draws clearly above for {sum(sign > 0 for sign in signs)} models, clearly below for "
        f"{sum(sign < 0 for sign in signs)} ({min(gap.mean for gap in gaps.values()):+.4f} to "
        f"{max(gap.mean for gap in gaps.values()):+.4f}); all ten above in {all_up:.0%} of single draws and all ten "
        f"below in {all_down:.0%}: models share the sample, so chance moves them together"
    )


def _explained(world: JudgedWorld) -> Verdict:
    """Whether the weight of users with many positives is all there is to the deviation."""
    gaps = _gaps(world, PUBLISHED, world.expected)
    parts = []
    for k in world.both_ks:
        off = [world.expected(entry, k) / world.full(entry, k) - 1 for entry in ENTRIES]
        parts.append(f"{min(off):+.1%} to {max(off):+.1%} at K = {k}")
    holds, evidence = none_clear(gaps, "means over draws against their predictions")
    return holds, f"predicted from all labels: {', '.join(parts)}; {evidence}"


def _test_claims(tests: Sequence[JudgedTest]) -> Iterator[Claim]:
    """What one sample can show: methods that are clearly worse than Bias at a small K.

    A small sample may show none of them, so the sentence fails only where all are clearly above the worst in print.
    """
    for test in tests:
        terms = {entry: test.terms[entry, f"{PUBLISHED}@{SMALL}"] for entry in ENTRIES}
        has = terms[ENTRIES[0]].denominator > 0
        recall = {entry: each.numerator[has] for entry, each in terms.items()}
        holds, evidence = _against_bias(recall, f"{int(has.sum())} users with a positive")
        text = f"{test.name}: some methods are worse than Bias on the same backbone by URE@{SMALL}"
        if not holds:
            drop = largest_drop(SMALL)
            refuted = all_above(
                {
                    str(entry): Gap.of(values, (1 - drop) * recall[Entry(entry.backbone, "Bias")])
                    for entry, values in recall.items()
                    if entry.method != "Bias"
                }
            )
            holds = False if refuted else None
            evidence += (
                f"; to refute, all would have to be clearly above Bias less {drop:.0%}, the largest drop in print: "
                f"{'they are' if refuted else 'they are not'}"
            )
        yield claim(text, (holds, evidence), section="Table 4" if test.name == YAHOO_R3 else "")


def _against_bias(recall: Mapping[Entry, Floats], units: str) -> Verdict:
    """Whether methods are clearly worse than Bias on their backbone, by recall per user; which are, and are better."""
    gaps = {
        str(entry): Gap.of(values, recall[Entry(entry.backbone, "Bias")])
        for entry, values in recall.items()
        if entry.method != "Bias"
    }
    signs = clear_signs(gaps)
    below, above = ([f"{name} {gaps[name]}" for name, sign in signs.items() if sign == side] for side in (-1, 1))
    return bool(below), (
        f"paired over {units}, {len(gaps)} tests with Holm's correction; worse: {first_of(below, MANY)}; better: "
        f"{first_of(above, MANY)}"
    )


def _figure(world: JudgedWorld) -> Figure:
    """Full recall next to its estimates."""
    places, panels = range(len(METHODS)), []
    for k, backbone in product(world.both_ks, BACKBONES):
        entries = [Entry(backbone, method) for method in METHODS]
        micro = [world.full(entry, k, "full micro") for entry in entries]
        published, pooled = (
            Series.middle(form, places, [world.numbers[entry, f"{form}@{k}"] for entry in entries]) for form in FORMS
        )
        full = Series.over("full", places, [world.users(entry, k) for entry in entries], naive=True)
        full_micro = Series.exact("full micro", places, micro, naive=True)
        panels.append(Panel(f"{backbone}, recall@{k}", (full, published, full_micro, pooled)))
    note = (
        "At each method from left to right: full recall, URE, full recall over positive pairs ('full micro'), and "
        "pooled URE, which estimates that. Points are means over random draws; intervals hold the middle 95 % of the "
        "draws, and of full recall they are its 95 % interval over users."
    )
    title = f"{world.name}: full recall and its estimates from random draws"
    return Figure(title, "method", tuple(panels), note=note, categories=METHODS)


TABLE = Table(
    "table4", f"Recall@{SMALL} inside the sample, over all candidates, and as estimated by URE", run, needs=NEEDS
)
