"""What Table 2 says: which measures agree between parts of different size, and how far the others move."""

from collections.abc import Iterator, Mapping

import numpy as np

from unskew.studies.framework.claims import Claim
from unskew.studies.framework.study import Context
from unskew.studies.lim2015.fits import Fold, label_of
from unskew.studies.lim2015.printed import MODELS
from unskew.studies.lim2015.protocol import SETS, absence_of
from unskew.studies.lim2015.sizes import Sizes
from unskew.studies.lim2015.tally import TWO, bonferroni

UNBIASED, MOVED = ("atop", "adg", "recall@10"), ("map", "ndcg")
TITLES = {"atop": "ATOP", "map": "MAP", "ndcg": "NDCG", "recall@10": "Recall@10", "adg": "ADG"}
ROUNDED = 0.02
"""How far a percentage may be from what its two rounded numbers give."""
LEVEL = 0.05
Found = Mapping[tuple[str, str], Sizes]

METHOD = (
    (
        "Over the users who have both validation and test items. 'valid' and 'test' are means over users, then over "
        "folds; 'diff %' is valid less test in per cent of test; 'expected diff %' is what it is on average when "
        "each user's held-out items are dealt into two parts of these sizes by lot, exactly, from the ranks of all; "
        "'off, s.e.' is how far the two differences are apart, in standard errors that are paired by user."
    ),
    (
        "Within a fold the model and the ranks are fixed before the lot decides which held-out item is for "
        "validation. So the differences, less what is expected, have mean 0 for each user, and are independent "
        "between users and folds. A user's are averaged over folds and users are the units. The one exception is "
        "that the settings of MF-AUC and MF-ADG were chosen by validation, which lifts it by a little; SVD had "
        "nothing to choose."
    ),
    (
        "By chance alone 4.6 of 100 differences are beyond two standard errors, so of a claim about six, each held to "
        "two, about one in four fails where all is right (fewer, as they go together). Beside it a claim about all "
        f"models is held to what the largest of them exceeds with a chance of at most {100 * LEVEL:.0f} %, by "
        "Bonferroni. That MAP and NDCG fall is asked only where the drop expected is two standard "
        "errors beyond that, as it would hardly be seen otherwise; this was added after MAP of amazon-video-games, "
        "with one or two items a user, had been seen."
    ),
)
_TWO = "within two paired standard errors, each of MF-AUC and MF-ADG"
_AGREE = "ATOP, ADG and Recall@10 agree between validation and test"
_DROP = "MAP and NDCG fall from test to validation"
_EXPECTED = "MAP and NDCG fall by what the sizes of the parts say"


def claims(context: Context, found: Mapping[str, Found]) -> Iterator[Claim]:
    """The paper's claims for each data set."""
    for data in SETS:
        absent = absence_of(context, data)
        if absent:
            yield Claim(f"{data}: {_AGREE}, and MAP and NDCG do not", None, absent)
            continue
        for claim in judged(data, found[data]):
            evidence = f"a small version judges nothing; seen: {claim.evidence}" if context.fast else claim.evidence
            yield Claim(claim.claim, None if context.fast else claim.holds, evidence)


def judged(data: str, found: Found) -> Iterator[Claim]:
    """The claims about one data set: of the measures that should not move, and of those that should."""
    names = list(dict.fromkeys(name for name, _ in found))
    still = {(name, metric): found[name, metric].apart.z for name in names for metric in UNBIASED}
    yield Claim(f"{data}: {_AGREE} {_TWO}", *_within_two(still))
    yield Claim(f"{data}: {_AGREE}, all models together", *_within(still, names))
    moved = {(name, metric): found[name, metric] for name in names for metric in MOVED}
    yield Claim(f"{data}: {_DROP}", *_falls(moved))
    off = {key: each.surprise.z for key, each in moved.items()}
    holds, told = _within_two(off)
    yield Claim(f"{data}: {_EXPECTED}, {_TWO}", holds, f"{_drops(found)}; {told}")
    yield Claim(f"{data}: {_EXPECTED}, all models together", *_within(off, names))


def _within_two(z: Mapping[tuple[str, str], float]) -> tuple[bool | None, str]:
    """Whether each of the paper's models is within two standard errors; chance alone is not in 4.6 of 100."""
    own = {key: value for key, value in z.items() if key[0] in MODELS}
    told = f"in standard errors {', '.join(f'{_named(key)} {value:+.1f}' for key, value in own.items())}"
    if not np.isfinite(list(own.values())).all():
        return None, told
    return all(abs(value) <= TWO for value in own.values()), told


def _within(z: Mapping[tuple[str, str], float], names: list[str]) -> tuple[bool | None, str]:
    """Whether none is further from 0 than chance allows, and how many are within two standard errors."""
    if not np.isfinite(list(z.values())).all():
        return None, "undefined for some model"
    bound = bonferroni(len(z), LEVEL)
    worst = max(z, key=lambda key: abs(z[key]))
    close = sum(abs(z[key]) <= TWO for key in z)
    return abs(z[worst]) <= bound, (
        f"of {len(names)} models {close} of {len(z)} within two standard errors, furthest {_named(worst)} "
        f"{z[worst]:+.1f} of {bound:.1f} allowed"
    )


def _falls(moved: Mapping[tuple[str, str], Sizes]) -> tuple[bool | None, str]:
    """Whether all fall by more than chance; a drop that would hardly be seen if it were there is not asked for."""
    bound = bonferroni(len(moved), LEVEL)
    due = {key: -each.expected.value / each.apart.error for key, each in moved.items()}
    seen = {key: each for key, each in moved.items() if due[key] > bound + 2}
    small = [f"{_named(key)} ({due[key]:.1f} s.e.)" for key in moved if key not in seen]
    left = f"the drop expected is too small to be told from chance for {', '.join(small)}" if small else ""
    if not seen:
        return None, left
    least = max(seen, key=lambda key: seen[key].apart.z)
    told = (
        f"in {sum(each.apart.z < -bound for each in seen.values())} of {len(seen)} by more than {bound:.1f} s.e., "
        f"least {_named(least)} {seen[least].percent:+.1f} %, {seen[least].apart.z:+.1f} s.e."
    )
    return all(each.apart.z < -bound for each in seen.values()), f"{told}; {left}" if left else told


def _drops(found: Found) -> str:
    parts = [
        f"{_named((name, metric))} {found[name, metric].percent:+.2f} % (expected "
        f"{found[name, metric].expected_percent:+.2f} %)"
        for name in MODELS
        for metric in MOVED
    ]
    return ", ".join(parts)


def _named(key: tuple[str, str]) -> str:
    return f"{label_of(key[0])} {TITLES[key[1]]}"


def told(data: str, found: Found, folds: list[Fold]) -> str:
    """Who was judged, and what the numbers are without the restriction to users with both."""
    sizes = found[MODELS[0], "adg"]
    counts = [getattr(folds[0], name).user_counts[sizes.both] for name in ("validation", "test")]
    literal = "; ".join(
        f"{label_of(name)} "
        + ", ".join(f"{TITLES[metric]} {found[name, metric].literal_percent:+.2f}" for metric in (*UNBIASED, *MOVED))
        for name in MODELS
    )
    alone = int(np.sum(~np.isnan(sizes.test).any(axis=0) & ~sizes.both))
    return (
        f"{data}: {int(sizes.both.sum()):,} users with both, with {counts[0].mean():.2f} validation and "
        f"{counts[1].mean():.2f} test items on average; {alone:,} have test items only. Diff % over all users of a "
        f"part, as the paper has it: {literal}."
    )
