"""What worlds with dislikes and strengths say, worked out from their numbers."""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from unskew.arrays import Floats
from unskew.studies.framework.claims import Claim
from unskew.studies.framework.stats import Mean
from unskew.studies.tian2020.dislikes_runs import ORACLE, POPULAR, SHARES, WORLDS, Setting, Tally
from unskew.studies.tian2020.estimates import ADG, KNOWN, KNOWN_RATIO, NAIVE, POPULARITY_RATIO, RECALL

ERRORS, LIMIT = 3.0, 4.0
"""Standard errors that a difference must have to be told, and that no estimate without bias should reach."""
NONE, FEW, MANY = Setting(), Setting(SHARES[1]), Setting(SHARES[-1])
ALIKE, PREFERRED = Setting(observe="uniform"), Setting(observe="preferred")


def notes(tally: Tally) -> Iterator[str]:
    """How it was done, and what was found."""
    yield (
        f"Beyond the paper, so there is no printed number. {tally.runs} worlds of each kind and setting, oracle and "
        "popular judged as in the paper. With dislikes, that share of the rows a user has, in train and test, are "
        "items that the user does not like, drawn in proportion to popularity; they are not in the truth. Known P is "
        f"the world's own, of such rows too. By {ADG}, the oracle is truly better in {tally.better(ADG):.0%} of the "
        "worlds. Ties in expectation. Without dislikes or strengths the worlds are "
        f"{' and '.join(tally.summaries[name, NONE].trials.world for name in WORLDS)}."
    )
    for name in WORLDS:
        yield _story(tally, name)
    yield (
        "Why known P does not help against dislikes: it says how likely a row was to be observed, and a given disliked "
        "item hardly was. So such a row gets a very large weight, and ips takes it for many liked ones. For the "
        "oracle it gains nothing, as it is on no list, so ips stays right; snips divides by the sum of weights and "
        "falls for all. Inverse propensities correct for what was not observed, not for what should not be there."
    )
    yield _strengths(tally)


def _story(tally: Tally, name: str) -> str:
    parts = []
    for title, method in (
        ("naive", NAIVE),
        ("ips with known P", KNOWN),
        ("snips(per=balanced) with known P", KNOWN_RATIO),
        ("the same by popularity", POPULARITY_RATIO),
    ):
        oracle, popular = (
            ", ".join(f"{tally.error(name, Setting(share), who, RECALL, method).mean():+.3f}" for share in SHARES)
            for who in (ORACLE, POPULAR)
        )
        chosen = ", ".join(f"{tally.chosen(name, Setting(share), ADG, method) or 0:.0%}" for share in SHARES)
        parts.append(f"{title}: oracle {oracle}; popular {popular}; oracle first by {ADG} in {chosen}")
    shares = ", ".join(f"{share:g}" for share in SHARES)
    truths = " and ".join(f"{tally.truth(name, NONE, who, RECALL).mean():.3f}" for who in (ORACLE, POPULAR))
    return (
        f"{name}, with a share of {shares} disliked. True {RECALL} of oracle and popular without dislikes: {truths}. "
        f"Errors of {RECALL}. {'. '.join(parts)}."
    )


def _strengths(tally: Tally) -> str:
    parts = [
        f"{name}, {setting}: naive {tally.error(name, setting, POPULAR, RECALL, NAIVE).mean():+.3f}, known P "
        f"{tally.error(name, setting, POPULAR, RECALL, KNOWN).mean():+.3f}, by popularity "
        f"{tally.error(name, setting, POPULAR, RECALL, POPULARITY_RATIO).mean():+.3f}"
        for name in WORLDS
        for setting in (ALIKE, PREFERRED)
    ]
    return (
        f"Where consumption does not follow popularity, propensities by popularity are wrong. Error of popular's "
        f"{RECALL}: {'; '.join(parts)}."
    )


def claims(tally: Tally, *, judged: bool = True) -> Iterator[Claim]:
    """Ours, not the paper's.

    Parameters
    ----------
    tally : Tally
    judged : bool
        False where there are too few runs.
    """
    for claim, holds, evidence in (
        _unbiased(tally),
        _falls(tally),
        _verdict(tally),
        _known(tally),
        _ratio(tally),
        _wrong_propensities(tally),
    ):
        yield Claim(f"Ours, not the paper's: {claim}", bool(holds) if judged else None, evidence)


def _unbiased(tally: Tally) -> tuple[str, bool, str]:
    scores = [
        score(tally.error(name, ALIKE, who, metric, NAIVE))
        for name in WORLDS
        for who in (ORACLE, POPULAR)
        for metric in (RECALL, ADG)
    ]
    worst = max(scores, key=abs)
    claim = f"where all likes are alike to be observed, naive {RECALL} and {ADG} are right (within {LIMIT:g} s.e.)"
    return claim, abs(worst) < LIMIT, f"the farthest of {len(scores)} is {worst:+.1f} s.e. off"


def _falls(tally: Tally) -> tuple[str, bool, str]:
    steps = [
        _apart(*(tally.error(name, Setting(share), ORACLE, RECALL, NAIVE) for share in pair))
        for name in WORLDS
        for pair in pairwise(SHARES)
    ]
    claim = f"the naive {RECALL} of the oracle falls with each step of dislikes, in both worlds"
    return claim, min(steps) > ERRORS, f"the smallest of {len(steps)} steps is {min(steps):.1f} s.e."


def _verdict(tally: Tally) -> tuple[str, bool, str]:
    before, after = (tally.chosen("ibp", setting, ADG, NAIVE) or 0.0 for setting in (NONE, MANY))
    error = np.sqrt((before * (1 - before) + after * (1 - after)) / tally.runs)
    claim = f"in the ibp world dislikes turn the naive verdict by {ADG}: the oracle is put first less often"
    holds = before - after > ERRORS * error
    return claim, bool(holds), f"{before:.0%} without, {after:.0%} with a share of {MANY.dislikes:g}"


def _known(tally: Tally) -> tuple[str, bool, str]:
    scores = {name: score(tally.error(name, FEW, POPULAR, RECALL, KNOWN)) for name in WORLDS}
    claim = f"with a share of {FEW.dislikes:g} disliked, ips with known P is too high for popular's {RECALL}"
    evidence = "; ".join(
        f"{name}: popular {tally.error(name, FEW, POPULAR, RECALL, KNOWN).mean():+.3f} ({scores[name]:.0f} s.e.), "
        f"oracle {tally.error(name, FEW, ORACLE, RECALL, KNOWN).mean():+.3f}"
        for name in WORLDS
    )
    return claim, min(scores.values()) > ERRORS, evidence


def _ratio(tally: Tally) -> tuple[str, bool, str]:
    left = {
        (name, who): 1
        + tally.error(name, FEW, who, RECALL, KNOWN_RATIO).mean() / tally.truth(name, FEW, who, RECALL).mean()
        for name in WORLDS
        for who in (ORACLE, POPULAR)
    }
    claim = (
        f"with a share of {FEW.dislikes:g} disliked, snips(per=balanced) with known P shows less than half of the "
        f"oracle's true {RECALL}"
    )
    evidence = "; ".join(f"{name}, {who}: {share:.0%}" for (name, who), share in left.items())
    return claim, max(left[name, ORACLE] for name in WORLDS) < 0.5, evidence


def _wrong_propensities(tally: Tally) -> tuple[str, bool, str]:
    off = {
        (name, setting): tally.error(name, setting, POPULAR, RECALL, POPULARITY_RATIO)
        for name in WORLDS
        for setting in (ALIKE, PREFERRED)
    }
    claim = (
        f"where consumption does not follow popularity, propensities by popularity correct too much: popular's "
        f"{RECALL} comes out too low"
    )
    evidence = "; ".join(
        f"{name}, {setting}: {each.mean():+.3f}, naive {tally.error(name, setting, POPULAR, RECALL, NAIVE).mean():+.3f}"
        for (name, setting), each in off.items()
    )
    return claim, max(map(score, off.values())) < -ERRORS, evidence


def score(values: Floats) -> float:
    """The mean over runs, in its standard errors."""
    mean = Mean.of(values)
    return mean.value / mean.error if mean.error else np.nan


def _apart(first: Floats, second: Floats) -> float:
    """How much larger the first mean is, in standard errors; the runs are independent."""
    a, b = Mean.of(first), Mean.of(second)
    return (a.value - b.value) / float(np.hypot(a.error or np.nan, b.error or np.nan))
