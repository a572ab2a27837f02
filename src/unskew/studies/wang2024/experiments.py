"""Not in the paper: experiments on why some of its sentences do not come out here.

What does one order for all users reach, and which such order does a method learn from a log? And where is negative
sampling at its best when no validation chooses its epochs: on the positives that it learns from, and on held ones?
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from unskew.arrays import Bools, Floats, Ints
from unskew.data import Split
from unskew.studies.framework.cells import ReproducedCell, cell
from unskew.studies.framework.claims import Claim, Verdict, all_above, claim
from unskew.studies.framework.figures import Figure, Panel, Series
from unskew.studies.framework.result import Findings
from unskew.studies.framework.stats import Gap
from unskew.studies.framework.study import Context, Size, Table
from unskew.studies.wang2024.full_recall import RankMatrix, hits, inner_recalls, places
from unskew.studies.wang2024.hardness import RULE, best_ks, moves_up, shown
from unskew.studies.wang2024.judge import (
    EXPOSED,
    NEEDS,
    SMALL,
    Judged,
    JudgedTest,
    JudgedWorld,
    draws_of,
    exposed_sample,
    judge_all,
    numbers_of,
)
from unskew.studies.wang2024.models import FIRST, SHARES, Entry, fits_of, last_epoch_negs
from unskew.studies.wang2024.printed import BACKBONES, TRADITIONAL
from unskew.studies.wang2024.worlds import BiasedLog, Parts, shares

NUMBER, SHARE, TRUE = ORDERS = (
    "one order: positives in the log",
    "one order: share of positives in the log",
    "one order: share of positives",
)
PRIOR = 5.0
"""Rows with the mean share of positives that each item is given besides its own."""
STARTS = Size(3, 1)
CLOSE = 0.05
"""Recall inside the sample is at the level of another's when they differ by at most this share."""


@dataclass(frozen=True, eq=False)
class OrderedWorld:
    """A world with what one order for all users reaches on it, and NegS after its last epoch."""

    judged: JudgedWorld
    inside: Mapping[str, Floats]  # an order to recall inside the sample, one per draw; the draws of table 4
    full: Mapping[str, Floats]  # an order to full recall at both K of table 4
    # users by K, by backbone and H/U, the mean over starts:
    last: Mapping[tuple[str, float], Floats]  # full recall, as `JudgedWorld.recall`
    learnt: Mapping[tuple[str, float], Floats]  # recall of the log's positives among all items

    @property
    def name(self) -> str:
        """The name of the world."""
        return self.judged.name


def run(context: Context, judged: Judged | None = None) -> Findings:
    """Both experiments on each world, and the first on each random test; by default on all available data."""
    worlds, tests = judge_all(context) if judged is None else judged
    measured = [measure(context, world) for world in worlds]
    by_test = {test.name: _inside_test(test) for test in tests}
    orders = (
        "One order for all users sorts items by their positives in the log, by the share of positives among their "
        f"rows in the log ({PRIOR:g} rows of the mean share are added to those of each item), or by the share of "
        "positives among all users, which is not in the log. NegS learns from positives and drawn items, without "
        "the log's negatives; so an item that is seldom logged looks to it like one that is seldom liked."
    )
    last = (
        f"NegS after its last epoch: H/U of {', '.join(map(str, SHARES))} with U = {FIRST[1]}, the same learning rate "
        f"and λ for all, {context.size(STARTS)} random starts, no validation. Recall is the mean over starts: full "
        "recall, and that of the log's positives, from which it learns, among all items."
    )
    return Findings(
        cells=(*(each for world in measured for each in _cells(world)), *_test_cells(tests, by_test)),
        claims=(
            *(each for world in measured for each in _claims(world)),
            *(_orders_differ(name, inside, "users") for name, inside in by_test.items()),
        ),
        figures=tuple(map(_figure, measured)),
        notes=(orders, last, RULE),
    )


def one_orders(parts: Parts) -> dict[str, Floats]:
    """The scores of items in the two orders that a log has."""
    train = parts.train
    positives = np.bincount(train.items, weights=train.values, minlength=train.n_items)
    rows = np.bincount(train.items, minlength=train.n_items)
    mean = positives.sum() / rows.sum()
    return {NUMBER: positives, SHARE: (positives + PRIOR * mean) / (rows + PRIOR)}


def measure(context: Context, world: JudgedWorld) -> OrderedWorld:
    """Rank by each order, and train NegS to its last epoch."""
    log = world.log
    orders = one_orders(log.parts) | {TRUE: shares(log.world.labels, log.world.known)}
    ranks = {name: _ranked(scores, log) for name, scores in orders.items()}
    inside: dict[str, list[float]] = {name: [] for name in orders}
    for drawn in context.counted(f"{log.name}: one order, random draws", list(draws_of(context, log))):
        for name, placed in ranks.items():
            inside[name] += inner_recalls(placed, drawn, log, (SMALL,))
    return OrderedWorld(
        world,
        {name: np.array(values) for name, values in inside.items()},
        {name: _users(placed, log.relevant, world.both_ks).mean(axis=0) for name, placed in ranks.items()},
        *_last_epochs(context, log, world.ks),
    )


def _ranked(scores: Floats, log: BiasedLog) -> RankMatrix:
    return places(np.broadcast_to(scores, log.held.shape), log.held)


def _users(ranks: RankMatrix, relevant: Bools, ks: Sequence[int]) -> Floats:
    """Recall@K of each user with a relevant pair (rows)."""
    above, numbers = hits(ranks, relevant, ks)
    has = numbers > 0
    return np.asarray(above[has] / numbers[has, None])


def _last_epochs(
    context: Context, log: BiasedLog, ks: Ints
) -> tuple[dict[tuple[str, float], Floats], dict[tuple[str, float], Floats]]:
    """Recall of the held positives among held items, and of the log's positives among all items."""
    starts = range(context.size(STARTS))
    models = {
        f"{backbone} NegS {share:g} to the end, start {start + 1}": last_epoch_negs(context, backbone, share)
        for backbone in BACKBONES
        for share in SHARES
        for start in starts
    }
    fits = fits_of(context, log.parts, models, stage=f"{log.name}: NegS to the last epoch", validated=False)
    train, everything = log.parts.train, np.ones_like(log.held)
    positive = np.zeros_like(log.held)
    positive[train.users, train.items] = np.asarray(train.values) > 0

    def means(candidates: Bools, relevant: Bools) -> dict[tuple[str, float], Floats]:
        recalls = (_users(places(fits[name].scorer, candidates), relevant, ks.tolist()) for name in models)
        return {
            (backbone, share): np.mean([next(recalls) for _ in starts], axis=0)
            for backbone in BACKBONES
            for share in SHARES
        }

    return means(log.held, log.relevant), means(everything, positive)


def _inside_test(test: JudgedTest) -> dict[str, Floats]:
    """Recall inside the one sample, of each user with a positive there, by both orders that the log has."""
    of, inside = test.test, {}
    split = Split(of.parts.train, of.exposed, candidates="all")
    for name, scores in one_orders(of.parts).items():
        ranks = places(np.broadcast_to(scores, of.held.shape), of.held)
        terms = numbers_of(exposed_sample(split, ranks, of.held.sum(axis=1)), ())[TRADITIONAL]
        inside[name] = np.asarray(terms.numerator[terms.denominator > 0])
    return inside


def _cells(world: OrderedWorld) -> Iterator[ReproducedCell]:
    for name in ORDERS:
        yield cell(name, TRADITIONAL, world.name, world.inside[name])
        for k, value in zip(world.judged.both_ks, world.full[name], strict=True):
            yield cell(name, f"full@{k}", world.name, float(value))
    for backbone in BACKBONES:
        of_learnt, best = (best_ks(_means(part), world.judged.steps) for part in _both(world, backbone))
        for share in SHARES:
            row = f"{backbone} NegS, {shown(share)}, last epoch"
            for k in world.judged.both_ks:
                place = int(np.searchsorted(world.judged.ks, k))
                yield cell(row, f"full@{k}", world.name, world.last[backbone, share][:, place])
            yield cell(row, "best K", world.name, best[share])
            yield cell(row, "best K, log's positives", world.name, of_learnt[share])


def _means(recall: Mapping[float, Floats]) -> dict[float, Floats]:
    """The means over users (rows) of each H/U."""
    return {share: values.mean(axis=0) for share, values in recall.items()}


def _both(world: OrderedWorld, backbone: str) -> Iterator[dict[float, Floats]]:
    """At the steps of K, by H/U: recall of the log's positives, and full recall."""
    for part in (world.learnt, world.last):
        yield {share: part[backbone, share][:, world.judged.within] for share in SHARES}


def _test_cells(tests: Sequence[JudgedTest], inside: Mapping[str, Mapping[str, Floats]]) -> Iterator[ReproducedCell]:
    for test in tests:
        for name, values in inside[test.name].items():
            gap = Gap.of(values, 0.0)
            yield ReproducedCell(name, TRADITIONAL, test.name, None, gap.mean, gap.error)


def _claims(world: OrderedWorld) -> Iterator[Claim]:
    yield _orders_differ(world.name, world.inside, "random draws")
    yield claim(
        f"{world.name}: inside the sample Bias is within {CLOSE:.0%} of one order by the share of positives among all "
        "users, with both backbones",
        _at_the_level(world),
    )
    for backbone in BACKBONES:
        where = ("by the log's positives, from which it learns", "by full recall")
        for place, recall in zip(where, _both(world, backbone), strict=True):
            yield claim(
                f"{world.name}, {backbone}: after the last epoch, a larger H/U moves NegS' best K up {place}",
                moves_up(recall, world.judged.steps),
            )


def _orders_differ(name: str, inside: Mapping[str, Floats], unit: str) -> Claim:
    gaps = {SHARE: Gap.of(inside[SHARE], inside[NUMBER])}
    means = ", ".join(f"{order.removeprefix('one order: ')} {values.mean():.4f}" for order, values in inside.items())
    text = (
        f"{name}: inside the sample one order by the share of positives in the log is better than one by their number, "
        "which is all that positives alone show"
    )
    return claim(text, (all_above(gaps), f"{means}; difference of the two {gaps[SHARE]}, paired over {unit}"))


def _at_the_level(world: OrderedWorld) -> Verdict:
    best = float(world.inside[TRUE].mean())
    ratios = {
        f"{backbone} {method}": float(world.judged.numbers[Entry(backbone, method), TRADITIONAL].mean()) / best
        for backbone in BACKBONES
        for method in ("Bias", "AutoDebias", "NegS")
    }
    holds = all(abs(ratios[f"{backbone} Bias"] - 1) <= CLOSE for backbone in BACKBONES)
    listed = "; ".join(f"{name} {ratio:.1%}" for name, ratio in ratios.items())
    return holds, f"of its recall@{SMALL} in samples of {EXPOSED}, {best:.4f}: {listed}"


def _figure(world: OrderedWorld) -> Figure:
    """Full recall@K of NegS after the last epoch, relative to the better of the other two H/U."""
    panels = []
    for backbone in BACKBONES:
        _, full = _both(world, backbone)
        means, lines = _means(full), []
        for share, values in means.items():
            others = np.max([other for name, other in means.items() if name != share], axis=0)
            ratio = np.divide(values, others, out=np.full(len(values), np.nan), where=others > 0)
            lines.append(Series.exact(shown(share), world.judged.steps, ratio.tolist()))
        panels.append(Panel(backbone, tuple(lines)))
    title = f"{world.name}: full recall@K of NegS after its last epoch, relative to the better of the other two H/U"
    return Figure(title, "K", tuple(panels), log_x=True, note="Means over random starts and users.")


TABLE = Table("experiments", "Not in the paper: why some sentences do not come out", run, needs=NEEDS)
