"""What Table 1 says: the paper's claims, and how the numbers came about."""

from collections.abc import Iterator, Mapping

import numpy as np

from unskew.arrays import Floats
from unskew.studies.framework.claims import Claim
from unskew.studies.framework.study import Context
from unskew.studies.lim2015.fits import (
    CHOICE,
    FACTORS,
    GAMMA,
    OWN,
    PENALTIES,
    RATES,
    Fold,
    label_of,
    names_of,
    user_values,
)
from unskew.studies.lim2015.printed import METRICS
from unskew.studies.lim2015.protocol import LAST_USER, LEAST, SETS, absence_of, dense_log
from unskew.studies.lim2015.tally import Gain

AUC = "auc(of=negatives)"
GAP = 0.001
"""|ATOP - AUC| of the paper, taken as a distance on the scale of the two, which lie between 0 and 1."""
BETTER = tuple(metric for metric in METRICS if metric != "atop")
TITLES = {"atop": "ATOP", "map": "MAP", "ndcg": "NDCG", "recall@10": "Recall@10", "adg": "ADG"}
Values = Mapping[tuple[str, str], Floats]

_UNKNOWN = "which items and users were kept, the splits, the learning rate and the first parameters are not published"
DENSIFIED = f"{_UNKNOWN}; here the most popular items are kept, and of their users the most active"
STANDS_IN = {
    paper: f"the paper's number is of {paper}, for which this set stands in: other data, so the two are not comparable"
    for paper in ("ml-10m", "amazon-games", "msd-challenge")
}
METHOD = (
    (
        f"Of every user with at least {LEAST} relevant items a tenth is held out for validation and a fifth for the "
        "test, rounded by largest remainders; who has fewer only trains. This is done anew for each fold. Held-out "
        "items are ranked among all items that the user has not had in training, ties averaged over exactly; "
        "validation items stay candidates in the test. Means are over users, then over folds; spread is the "
        "standard deviation over folds, and s.e. that over the root of their number, as the paper prints it."
    ),
    (
        f"MF-AUC and MF-ADG have {FACTORS} factors, begin in a fold with the same parameters and take one million "
        f"steps; gamma is {GAMMA}. Learning rate ({', '.join(f'{rate:g}' for rate in RATES)}) and penalty "
        f"({', '.join(f'{penalty:g}' for penalty in PENALTIES)}) are chosen by {TITLES[CHOICE]} on validation for "
        "both, so that neither is favoured; 'MF-AUC chosen by ATOP' has those that are best by its own aim. The "
        "paper gives neither grid nor rate."
    ),
    (
        "A difference is paired. Its standard error is the larger of two: that over users, of a user's own differences "
        "averaged over the folds, and that over folds, in each of which the models were trained anew. It counts "
        "beyond two of them, which chance alone exceeds to one side in 2.3 of 100."
    ),
)
_BETTER = "MF-ADG is above MF-AUC by {}"
_NOT_BETTER = "MF-ADG is not above MF-AUC by ATOP"
_SVD = "SVD is worse than MF-ADG at every rank, by ADG"
_GAP = "ATOP and AUC differ by less than 0.1 %"
_IDENTITY = "ATOP and AUC differ by what the number of held-out items and of candidates says"


def beside(data: str) -> str:
    """What to know about a number of the paper beside ours."""
    return STANDS_IN[SETS[data].paper] if SETS[data].stands_in else DENSIFIED


def claims(context: Context, found: Mapping[str, Values], folds: Mapping[str, Fold]) -> Iterator[Claim]:
    """The paper's claims for each data set, then over all of them."""
    for data in SETS:
        absent = absence_of(context, data)
        if absent:
            yield Claim(f"{data}: MF-ADG is above MF-AUC by all but ATOP, and SVD is worse", None, absent)
            continue
        for claim in judged(data, found[data], names_of(context), folds[data]):
            yield Claim(claim.claim, None if context.fast else claim.holds, _small(context, claim.evidence))
    for claim in overall(found, names_of(context)):
        yield Claim(claim.claim, None if context.fast else claim.holds, _small(context, claim.evidence))


def _small(context: Context, evidence: str) -> str:
    return f"a small version judges nothing; seen: {evidence}" if context.fast else evidence


def judged(data: str, values: Values, names: tuple[str, ...], fold: Fold) -> Iterator[Claim]:
    """The claims about one data set.

    Parameters
    ----------
    data : str
    values : mapping
        By model and metric, one number for each fold and user.
    names : tuple of str
        The models.
    fold : Fold
        For how many test items and candidates users have.
    """
    for metric in BETTER:
        gain = gained(values, metric)
        yield Claim(f"{data}: {_BETTER.format(TITLES[metric])}", gain.above, _told(gain, values, metric))
    gain = gained(values, "atop")
    yield Claim(f"{data}: {_NOT_BETTER}", not gain.above, f"{_told(gain, values, 'atop')}; {_own(values)}")
    yield svd_claim(data, values, names)
    yield from gap_claims(data, values, fold)


def gained(values: Values, metric: str, other: str = "mf-auc") -> Gain:
    """MF-ADG less another model, paired by user."""
    return Gain(values["mf-adg", metric] - values[other, metric])


def wins(values: Values) -> bool:
    """Whether MF-ADG is beyond chance above MF-AUC by all that the paper says."""
    return all(gained(values, metric).above for metric in BETTER)


def svd_claim(data: str, values: Values, names: tuple[str, ...]) -> Claim:
    """Whether MF-ADG is beyond chance above SVD at every rank."""
    margins = {name: gained(values, "adg", name) for name in _svds(names)}
    told = ", ".join(f"{label_of(name)} {margin}" for name, margin in margins.items())
    auc = {name: Gain(values["mf-auc", "adg"] - values[name, "adg"]) for name in margins}
    least = min(auc.values(), key=lambda margin: margin.value)
    beyond = f"MF-AUC's least margin {least}"
    return Claim(f"{data}: {_SVD}", all(margin.above for margin in margins.values()), f"MF-ADG less {told}; {beyond}")


def gap_claims(data: str, values: Values, fold: Fold) -> Iterator[Claim]:
    """|ATOP - AUC| as the paper has it, and as (k - 1)(ATOP - 1/2)/(n - k) of each user has it."""
    k, n = sizes(fold)
    gaps, errors = {}, {}
    for name in ("mf-auc", "mf-adg"):
        atop, auc = values[name, "atop"], values[name, AUC]
        gaps[name] = abs(float(np.nanmean(np.nanmean(auc - atop, axis=1))))
        with np.errstate(invalid="ignore"):
            predicted = (k - 1) * (atop - 0.5) / (n - k)
        errors[name] = float(np.nanmax(np.abs(auc - atop - predicted)))
    held = k[k > 0]
    size = f"{held.mean():.1f} test items a user among {n[k > 0].mean():,.0f} candidates"
    told = ", ".join(f"{label_of(name)} {100 * gap:.3f} %" for name, gap in gaps.items())
    yield Claim(
        f"{data}: {_GAP}",
        max(gaps.values()) < GAP,
        f"{told}; it is about (k - 1)(ATOP - 1/2)/(n - k), with {size}, so it is a matter of their numbers",
    )
    yield Claim(
        f"{data}: {_IDENTITY}", max(errors.values()) < 1e-9, f"no user is further off than {max(errors.values()):.1e}"
    )


def sizes(fold: Fold) -> tuple[Floats, Floats]:
    """Test items and candidates of each user."""
    return fold.test.user_counts.astype(float), fold.train.n_items - fold.train.user_counts.astype(float)


def overall(found: Mapping[str, Values], names: tuple[str, ...]) -> Iterator[Claim]:
    """The claims over all data sets at hand."""
    if not found:
        return
    wins = {(data, metric): gained(values, metric) for data, values in found.items() for metric in BETTER}
    missed = [f"{data} by {TITLES[metric]} ({gain})" for (data, metric), gain in wins.items() if not gain.above]
    yield Claim(
        "On every data set at hand MF-ADG is above MF-AUC by MAP, NDCG, Recall@10 and ADG",
        not missed,
        f"in {len(wins) - len(missed)} of {len(wins)} beyond two standard errors"
        + (f"; not on {', '.join(missed)}" if missed else ""),
    )
    atop = {data: gained(values, "atop") for data, values in found.items()}
    over = [f"{data} ({gain})" for data, gain in atop.items() if gain.above]
    yield Claim(
        "On no data set at hand is MF-ADG above MF-AUC by ATOP",
        not over,
        f"above on {', '.join(over)}" if over else "; ".join(f"{data} {gain}" for data, gain in atop.items()),
    )
    lost = [
        f"{label_of(name)} on {data}"
        for data, values in found.items()
        for name in _svds(names)
        if not gained(values, "adg", name).above
    ]
    yield Claim(
        "On every data set at hand SVD is worse than MF-ADG at every rank, by ADG",
        not lost,
        f"not beyond two standard errors: {', '.join(lost)}" if lost else "at all ranks",
    )


def told(context: Context, data: str, folds: list[Fold]) -> Iterator[str]:
    """How the numbers of a data set came about."""
    dense = dense_log(context, data)
    assert dense is not None
    first = folds[0]
    part = f", users 1 to {LAST_USER}, also where there are more" if data == "ml-1m" else ""
    relevant = f"rows with {SETS[data].positive}" if SETS[data].positive else "all rows, as it has no ratings"
    parts = [getattr(first, name) for name in ("train", "validation", "test")]
    yield (
        f"{data}{part}: relevant are {relevant}: {dense.before}. Kept: {dense.rule}: {dense.after}. A fold has "
        f"{', '.join(f'{len(each):,}' for each in parts)} of them in train, validation and test; "
        f"{np.count_nonzero(parts[2].user_counts):,} users have a test item and "
        f"{np.count_nonzero(parts[1].user_counts):,} a validation item; {first.train_only:,} only train."
    )
    picks = "; ".join(
        f"{label_of(name)} {', '.join(fold.settings[name] for fold in folds)}" for name in ("mf-auc", "mf-adg", OWN)
    )
    yield f"{data}: learning rate/penalty chosen in the folds: {picks}."


def told_among_all(data: str, fold: Fold, names: tuple[str, ...]) -> str:
    """The claims once more, with the items of training among the candidates."""
    users = fold.train.n_users
    values = {
        (name, metric): user_values(fold.among_all[name], metric, users)[None] for name in names for metric in METRICS
    }
    gains = ", ".join(f"{metric} {gained(values, metric)}" for metric in METRICS)
    margins = ", ".join(f"{label_of(name)} {gained(values, 'adg', name)}" for name in _svds(names))
    return (
        f"{data}, first fold, ranked among all items, those that the user had in training included, as the paper's "
        f"formulas have it: MF-ADG less MF-AUC: {gains}. MF-ADG less SVD, by adg: {margins}."
    )


def _svds(names: tuple[str, ...]) -> list[str]:
    return [name for name in names if name.startswith("svd")]


def _told(gain: Gain, values: Values, metric: str) -> str:
    means = [float(np.nanmean(np.nanmean(values[name, metric], axis=1))) for name in ("mf-auc", "mf-adg")]
    signs = int(np.sum(gain.folds > 0))
    return (
        f"{means[0]:.4f} to {means[1]:.4f}, difference {gain}, {gain.z:+.1f} s.e.; above in {signs} of "
        f"{len(gain.folds)} folds"
    )


def _own(values: Values) -> str:
    gain = gained(values, "atop", OWN)
    return f"against {label_of(OWN)} {gain}"
