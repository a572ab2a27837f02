"""What tables 3 and 4 say of how they were made, and the claims of table 3."""

from collections.abc import Iterator, Sequence

import numpy as np

from unskew.studies.framework.claims import Claim
from unskew.studies.framework.completed_movielens import DATA as MOVIELENS
from unskew.studies.framework.stats import kendall
from unskew.studies.framework.study import Context
from unskew.studies.wang2024.coat import COAT, YAHOO_R3, JudgedTest
from unskew.studies.wang2024.judged import EXPOSED, TRADITIONAL, Choice, JudgedWorld
from unskew.studies.wang2024.paired import Gap, all_above
from unskew.studies.wang2024.printed import BACKBONES, KUAIREC, TABLE4_KUAIREC, YAHOO
from unskew.studies.wang2024.settings import ENTRIES, Entry
from unskew.studies.wang2024.worlds import KUAIREC as SMALL_MATRIX

ONE = "one sample: the spread is the standard error over users"
SILENT = "the paper leaves out sizes, epochs, λ, l and how settings were chosen"
BETTER = ("AutoDebias", "NegS")
SMALL_VERSION = "a small version judges nothing"


def beside(name: str) -> str:
    """What to know of a number beside the paper's."""
    if name in {SMALL_MATRIX, YAHOO_R3}:
        return SILENT
    return f"{name} stands in for {YAHOO if name == COAT else KUAIREC}, so the numbers are not comparable"


def used(context: Context) -> tuple[str, ...]:
    """Data sets at hand."""
    return tuple(name for name in (MOVIELENS, COAT, YAHOO_R3, SMALL_MATRIX) if context.find(name) is not None)


def soften(context: Context, claims: Sequence[Claim]) -> tuple[Claim, ...]:
    """In the small version only the evidence."""
    if not context.fast:
        return tuple(claims)
    return tuple(Claim(each.claim, None, f"{SMALL_VERSION}; seen: {each.evidence}") for each in claims)


def method(worlds: Sequence[JudgedWorld]) -> Iterator[str]:
    """How the numbers of worlds came about."""
    for world in worlds:
        log, draws = world.log, len(world.ten[0].draws[TRADITIONAL])
        relevant = log.relevant.sum(axis=1)
        yield (
            f"{world.name}: {log.world.told} {len(log.train):,} pairs in the log, {len(log.uniform):,} uniform ones to "
            f"learn from and {len(log.validation):,} to choose by; the population has {log.population.min():,} to "
            f"{log.population.max():,} items a user, {log.relevant.sum() / log.held.sum():.1%} of them positive; "
            f"{int((relevant == 0).sum())} of {len(relevant):,} users have no positive there and count nowhere. "
            f"{draws} random draws of {EXPOSED} items a user, the same for all models."
        )


def sampled_notes(tests: Sequence[JudgedTest]) -> Iterator[str]:
    """How the numbers of one sample came about."""
    for each in tests:
        test, sample = each.test, each.sample
        none = int((sample.positives == 0).sum())
        yield (
            f"{each.name}: {len(test.train):,} chosen ratings to learn from, of which four stars and more are "
            f"positive; of the random ratings {len(test.uniform):,} to learn from, {len(test.validation):,} to choose "
            f"by, and {len(test.exposed):,} of {sample.n_users:,} users, {sample.labels.mean():.1%} positive, to "
            f"be judged on; the population has {sample.population.min()} to {sample.population.max()} items a "
            f"user, of which {each.large} are the larger K; {none} users have no positive in the sample."
        )


def settings_notes(worlds: Sequence[JudgedWorld], tests: Sequence[JudgedTest]) -> Iterator[str]:
    """Which settings were chosen."""
    yield (
        "Settings are chosen by the AUC of the uniform validation rows, as is the epoch; the paper does not say how it "
        "chose. NegS: U = 100 and H of 10, 50 or 100."
    )
    for world in worlds:
        yield f"{world.name}, chosen: {_chosen({row.entry: row.choice for row in world.ten})}."
    for test in tests:
        yield f"{test.name}, chosen: {_chosen({entry: test.choices[entry] for entry in ENTRIES})}."


def _chosen(choices: dict[Entry, Choice]) -> str:
    return "; ".join(
        f"{each.settings} (best of {each.tried}: AUC {each.fit.auc:.3f} after epoch {each.fit.best_epoch} of "
        f"{each.fit.epochs})"
        for each in choices.values()
    )


def world_claims(worlds: Sequence[JudgedWorld]) -> Iterator[Claim]:
    """What table 3 says, world by world."""
    for world in worlds:
        gaps = {
            f"{backbone} {name}": Gap.of(
                world.rows[Entry(backbone, name)].draws[TRADITIONAL],
                world.rows[Entry(backbone, "Bias")].draws[TRADITIONAL],
            )
            for backbone in BACKBONES
            for name in BETTER
        }
        yield _better(world.name, gaps, "random draws")
        yield _nearer(world)


def test_claims(tests: Sequence[JudgedTest]) -> Iterator[Claim]:
    """What table 3 says, on data with one sample."""
    for test in tests:
        gaps = {}
        for backbone in BACKBONES:
            plain = test.rows[Entry(backbone, "Bias")][TRADITIONAL]
            for name in BETTER:
                mine = test.rows[Entry(backbone, name)][TRADITIONAL]
                gaps[f"{backbone} {name}"] = Gap.of(mine.numerator, plain.numerator)
        yield _better(test.name, gaps, "users")


def _better(data: str, gaps: dict[str, Gap], unit: str) -> Claim:
    told = "; ".join(f"{name} {gap}" for name, gap in gaps.items())
    return Claim(
        f"{data}: inside the sample AutoDebias and NegS are better than Bias, with both backbones",
        all_above(gaps),
        f"differences from Bias, paired over {unit}, four tests with Holm's correction: {told}",
    )


def _nearer(world: JudgedWorld) -> Claim:
    """Whether the sample orders models as a large K does."""
    small, large = world.ks
    inside = np.array([row.draws[TRADITIONAL].mean() for row in world.ten])
    near, far = (float(kendall(inside, np.array([row.full(k) for row in world.ten]))[0, 0]) for k in (large, small))
    printed = list(TABLE4_KUAIREC.values())
    theirs = np.array([row.traditional for row in printed])
    paper = [
        float(kendall(theirs, np.array(full))[0, 0])
        for full in ([row.full_500 for row in printed], [row.full_5 for row in printed])
    ]
    return Claim(
        f"{world.name}: recall@5 inside the sample orders the ten models more like full recall@{large} than like full "
        f"recall@{small}",
        near > far,
        f"Kendall's tau {near:.2f} against {far:.2f}; in the paper's KuaiRec numbers {paper[0]:.2f} against "
        f"{paper[1]:.2f}",
    )
