"""Claims of Table 1: what the paper says of MF-ADG, MF-AUC and SVD, judged on one data set."""

from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from unskew.studies.framework.claims import Claim, Verdict, claim
from unskew.studies.framework.stats import Gap
from unskew.studies.framework.trials import Trials
from unskew.studies.lim2015.fits import AMONG, AUC, FITTED, MAIN, NAMES, SAME, SHARED, SVD, TWO, Fold, gained, label_of
from unskew.studies.lim2015.printed import METRICS, MODELS

BETTER = tuple(metric for metric in METRICS if metric != "atop")
GAP = 0.001
"""|ATOP - AUC| of the paper, taken as a distance on the scale of the two, which lie between 0 and 1."""
BEATS = "MF-ADG beats MF-AUC on all metrics but ATOP: on MAP, NDCG, Recall@10 and ADG"
BUT_ATOP = "MF-ADG beats MF-AUC on all metrics but ATOP: MF-AUC is above on ATOP"
WORSE = "SVD is worse than both MF-AUC and MF-ADG on all metrics"
AT_BEST = "SVD is worse than both MF-AUC and MF-ADG on all metrics, also at the rank that validation chooses"
OWN_AIM = "MF-AUC is above on ATOP of the rows that both learn from"
NEAR = "ATOP and AUC differ by less than 0.1 %"


def judged(trials: Trials, data: str, fold: Fold, rule: str = MAIN) -> Iterator[Claim]:
    """The paper's claims about one data set; among other candidates than the paper's they are ours.

    The fold has the numbers of test items and candidates per user.
    """
    table, text = ("Table 1", "Sec. 6") if rule == MAIN else ("", "")
    for what, verdict in _against_auc(trials, data).items():
        yield claim(f"{data}{AMONG[rule]}: {what}", verdict, section=table)
    yield claim(f"{data}{AMONG[rule]}: {WORSE}", against_svd(trials, data, SAME), section=text)
    yield claim(f"{data}{AMONG[rule]}: {AT_BEST}", against_svd(trials, data, SVD))
    if rule == MAIN:
        yield claim(f"{data}: {NEAR}", near(trials, data, fold), section=text)


def judged_longer(trials: Trials, data: str, steps: int, rule: str = MAIN) -> Iterator[Claim]:
    """The same claims after more steps, which are ours; SVD is that of the table."""
    where = f"{data}, {steps:,} steps{AMONG[rule]}"
    for what, verdict in _against_auc(trials, data, shared=False).items():
        yield claim(f"{where}: {what}", verdict)
    yield claim(f"{where}: {WORSE}", against_svd(trials, data, SAME))
    yield claim(f"{where}: {AT_BEST}", against_svd(trials, data, SVD))
    if rule == MAIN:
        gain = gained(trials, data, FITTED)
        aim = True if gain.z < -TWO else False if gain.z > TWO else None
        yield claim(f"{where}: {OWN_AIM}", (aim, _evidence(trials, data, FITTED, gain)))


def _against_auc(trials: Trials, data: str, *, shared: bool = True) -> Mapping[str, Verdict]:
    """MF-ADG against MF-AUC: by each of the four metrics beyond two standard errors, and below by ATOP.

    Differences within two standard errors leave a claim open.
    """
    gains = {metric: gained(trials, data, metric) for metric in METRICS}
    aims = {metric: gained(trials, data, metric, SHARED) for metric in METRICS} if shared else {}
    missed = [NAMES[metric] for metric in BETTER if not gains[metric].z > TWO]
    beaten = _all_clear([gains[metric] for metric in BETTER])
    evidence = "; ".join(_evidence(trials, data, metric, gains[metric]) for metric in BETTER)
    if missed:
        evidence += f"; not beyond two standard errors: {', '.join(missed)}"
    if shared:
        evidence += f"; against {label_of(SHARED)}: {_listed({metric: aims[metric] for metric in BETTER})}"
    atop = _evidence(trials, data, "atop", gains["atop"])
    return {
        BEATS: (beaten, evidence),
        BUT_ATOP: (
            True if gains["atop"].z < -TWO else False if gains["atop"].z > TWO else None,
            f"{atop}; against {label_of(SHARED)} {aims['atop'].plus_minus}" if shared else atop,
        ),
    }


def against_svd(trials: Trials, data: str, svd: str) -> Verdict:
    """Whether SVD is below both models by every metric, beyond two standard errors; open where that is not clear."""
    margins = {(name, metric): gained(trials, data, metric, svd, name) for name in MODELS for metric in METRICS}
    missed = [f"{label_of(name)} {NAMES[metric]}" for (name, metric), margin in margins.items() if not margin.z > TWO]
    shown = "; ".join(
        f"{label_of(name)} less {label_of(svd)}: {_listed({metric: margins[name, metric] for metric in METRICS})}"
        for name in MODELS
    )
    if missed:
        shown += f"; not beyond two standard errors: {', '.join(missed)}"
    return _all_clear(margins.values()), shown


def _all_clear(gaps: Iterable[Gap]) -> bool | None:
    """Whether all are above 0 by two standard errors; False if one is below by as much, None where neither is clear."""
    each = [gap.z for gap in gaps]
    return True if min(each) > TWO else False if min(each) < -TWO else None


def near(trials: Trials, data: str, fold: Fold) -> Verdict:
    """|ATOP - AUC| as the paper defines it. By the numbers alone it is (k - 1)(ATOP - 1/2)/(n - k) for each user."""
    k, n = fold.test.user_counts.astype(float), fold.train.n_items
    gaps = {
        name: abs(float(np.nanmean(np.nanmean(trials[data, name, AUC] - trials[data, name, "atop"], axis=1))))
        for name in MODELS
    }
    shown = ", ".join(f"{label_of(name)} {100 * gap:.3f} %" for name, gap in gaps.items())
    return max(gaps.values()) < GAP, (
        f"{shown}; it follows from the numbers alone, about (k - 1)(ATOP - 1/2)/(n - k), with "
        f"k = {k[k > 0].mean():.1f} test items per user and n = {n:,} candidates"
    )


def _evidence(trials: Trials, data: str, metric: str, gain: Gap) -> str:
    auc, adg = (trials[data, name, metric] for name in MODELS)
    return (
        f"{NAMES[metric]} {np.nanmean(auc):.4f} to {np.nanmean(adg):.4f}, difference {gain.plus_minus}, {gain.z:+.1f} "
        "s.e."
    )


def _listed(gaps: Mapping[str, Gap]) -> str:
    return ", ".join(f"{NAMES[metric]} {gap.plus_minus}" for metric, gap in gaps.items())
