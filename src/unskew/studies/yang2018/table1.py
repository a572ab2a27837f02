"""Figure 1 and Table 1: one user, twelve items, three lists, and the average that puts the wrong list first.

Five items are popular (a) and seven are not (b). The user likes a1 to a4 and b1 to b4. A liked item is observed with
chance 3/4 if it is popular, and with chance 1/4 if it is not.
"""

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np

from unskew.arrays import Bools, Floats
from unskew.data import Interactions, Split
from unskew.estimators import Aoa, Estimator, Ips, Rows, Snips
from unskew.evaluation import Report, evaluate
from unskew.metrics import ADG, AUC, Metric, Recall
from unskew.ranking import MatrixScorer
from unskew.studies.framework.cells import ReproducedCell, cell
from unskew.studies.framework.claims import Claim, claim
from unskew.studies.framework.result import Findings
from unskew.studies.framework.study import Table
from unskew.studies.framework.trials import Row, Trials
from unskew.studies.yang2018.printed import TABLE1, TABLE1_REFERENCES

ITEMS = ("a1", "a2", "a3", "a4", "a5", "b1", "b2", "b3", "b4", "b5", "b6", "b7")
RELEVANT = ("a1", "a2", "a3", "a4", "b1", "b2", "b3", "b4")
OBSERVED = ("a1", "a2", "a4", "b3")
LISTS: Mapping[str, str] = {
    "Z1": "a1 a2 a3 a4 a5 b5 b6 b7 b1 b2 b3 b4",
    "Z2": "b1 b2 b3 b4 a5 b5 b6 b7 a1 a2 a3 a4",
    "Z3": "b1 b2 b3 b4 a1 a2 a3 a4 a5 b5 b6 b7",
}
CHANCE: Mapping[str, float] = {"a": 0.75, "b": 0.25}
METRICS: Mapping[str, Metric] = {"DCG": ADG(), "AUC": AUC(literal=True), "Recall@5": Recall() @ 5, "DCG@5": ADG() @ 5}
"""Ours, by the paper's name of each."""
ESTIMATORS: Mapping[str, Estimator] = {"AOA": Aoa(), "IPS": Ips(), "SNIPS": Snips(per="user"), "default snips": Snips()}

_PRINTED_LIMITS = (5e-4, "half of the third digit, the last that the paper prints")
_LIMITS = (5e-7, "half of the sixth digit, to which the number was computed")
_PRINTED = "the lists and the draw are those that give the paper's numbers"
_BEYOND = "not in the paper: computed from its lists, independently of this program"
_SAME = f"{_BEYOND}; the default snips sums over all pairs, SNIPS over those of a user, which is the same with one user"
_EMPTY = f"{_BEYOND}, given that something was observed"
_RANKS = (
    "The paper draws the lists in its Figure 1 and prints the true and the average DCG of each in Table 1. The ranks "
    "used here were derived from those six numbers: for Z3 they are the only ones that give them, for Z1 and Z2 the "
    "only ones in which both lists fill the same places, mirrored."
)
_NOTES = (
    _RANKS,
    "What the paper calls DCG is a mean over relevant items, adg here. Its AUC is 1 - rank/n, auc(literal) here.",
    "IPS and SNIPS agree on the draw because its weights, 3 / 0.75 + 1 / 0.25, add up to 8, the number of items liked.",
)


@dataclass(frozen=True)
class Example:
    """The paper's example: rankings of the twelve items, and the chance that a liked item of each kind is observed."""

    lists: Mapping[str, str]
    chance: Mapping[str, float]

    def chances(self, items: tuple[str, ...]) -> Floats:
        """P of each item."""
        return np.array([self.chance[item[0]] for item in items])

    def patterns(self) -> Iterator[tuple[Bools, float]]:
        """Every pattern of observation of the relevant items, with its chance."""
        P = self.chances(RELEVANT)
        for bits in itertools.product([False, True], repeat=len(RELEVANT)):
            seen = np.array(bits)
            yield seen, float(np.prod(np.where(seen, P, 1 - P)))

    def gains(self, name: str, metric: Metric) -> Floats:
        """The worth of each relevant item in a list."""
        ranking = self.lists[name].split()
        above = np.array([ranking.index(item) for item in RELEVANT])
        return metric.row_gains(above, np.zeros_like(above), np.full_like(above, len(ITEMS)))

    def expectation(self, worth: Floats, estimator: Estimator) -> float:
        """Mean of an estimate over all that might have been observed.

        With nothing observed IPS is 0. The others are undefined then, so theirs is the mean given that something was.
        """
        P, liked = self.chances(RELEVANT), np.array([float(len(RELEVANT))])
        total = mass = 0.0
        for seen, chance in self.patterns():
            if seen.any():
                rows = Rows(worth[seen], np.zeros(int(seen.sum()), dtype=np.int64), P[seen], total=liked)
                total += chance * (estimator.terms(rows, "mean").value or 0.0)
            elif not estimator.counts_empty_users:
                continue
            mass += chance
        return total / mass

    def report(self, observed: tuple[str, ...]) -> Report:
        """The lists evaluated on what was observed."""
        codes = np.array([ITEMS.index(item) for item in observed])
        n, nothing = len(ITEMS), np.zeros(0, dtype=np.int64)
        P = self.chances(observed)
        test = Interactions.from_arrays(np.zeros_like(codes), codes, propensity=P, n_users=1, n_items=n)
        scorers = {
            name: MatrixScorer(np.array([[float(-ranking.split().index(item)) for item in ITEMS]]))
            for name, ranking in self.lists.items()
        }
        return evaluate(
            scorers,
            Split(Interactions.from_arrays(nothing, nothing, n_users=1, n_items=n), test, candidates="all"),
            metrics=list(METRICS.values()),
            estimators=list(ESTIMATORS.values()),
            propensity="column",
            relevant={0: len(RELEVANT)},
            threads=1,
        )

    def numbers(self) -> Iterator[Row]:
        """All numbers, by list and column: by `evaluate` and, for expectations, over every pattern of observation."""
        whole, drawn = self.report(RELEVANT), self.report(OBSERVED)
        for title, metric in METRICS.items():
            for name in self.lists:
                worth = self.gains(name, metric)
                yield (name, f"{title} true"), whole.value(name, str(metric), str(Aoa()))
                for key, estimator in ESTIMATORS.items():
                    yield (name, f"{title} {key}"), drawn.value(name, str(metric), str(estimator))
                for key, estimator in ESTIMATORS.items():
                    yield (name, f"E[{title} {key}]"), self.expectation(worth, estimator)
        yield ("all lists", "P(something is observed)"), sum(chance for seen, chance in self.patterns() if seen.any())


EXAMPLE = Example(LISTS, CHANCE)


def compute(example: Example) -> Findings:
    """The table of an example; nothing in it is drawn."""
    numbers = Trials.collect(("list", "column"), "evaluation", example.numbers())
    return Findings(tuple(_cells(numbers)), tuple(_claims(numbers)), notes=_NOTES, trials=numbers)


def _cells(numbers: Trials) -> Iterator[ReproducedCell]:
    """DCG: true, as estimated from the draw, and as estimated on average; true and AOA of the other metrics."""
    for name, column in numbers:
        place, ours = (name, column), numbers[name, column]
        if place in TABLE1:
            yield cell(*place, "none", ours, TABLE1[place], limits=_PRINTED_LIMITS, note=_PRINTED)
        elif place in TABLE1_REFERENCES:
            note = _SAME if "default" in column else _EMPTY if column in ("E[DCG AOA]", "E[DCG SNIPS]") else _BEYOND
            yield cell(*place, "none", ours, limits=_LIMITS, note=note, reference=TABLE1_REFERENCES[place])


def _claims(numbers: Trials) -> Iterator[Claim]:
    def of(column: str) -> Floats:
        return np.array([numbers[name, column].item() for name in LISTS])

    true, naive = ({title: of(form.format(title)) for title in METRICS} for form in ("{} true", "{} AOA"))
    yield from _paper_claims(true, naive)
    judged = partial(claim, needs_full=False)
    snips = of("E[DCG SNIPS]")
    before, after = np.abs(of("E[DCG AOA]") - true["DCG"]), np.abs(snips - true["DCG"])
    errors = "; ".join(f"{name}: {a:.4f} to {b:.4f}" for name, a, b in zip(LISTS, before, after, strict=True))
    yield judged(
        "SNIPS is less biased than AOA for every list, and not free of bias",
        (
            bool(((after > 0) & (after < before)).all()),
            f"distance of the mean of DCG to the truth, AOA to SNIPS: {errors}",
        ),
    )
    means = ", ".join(f"{name} {value:.4f}" for name, value in zip(LISTS, snips, strict=True))
    yield judged(
        "With about four rows observed, SNIPS per user still ranks Z1 above Z3 on average: less bias is not enough",
        (bool(snips.argmax() == 0), f"mean of DCG by SNIPS: {means}"),
    )


def _paper_claims(true: Mapping[str, Floats], naive: Mapping[str, Floats]) -> Iterator[Claim]:
    """What the paper says of its table, which has DCG alone; the evidence has the other metrics too."""
    judged = partial(claim, section="Table 1", needs_full=False)
    evidence = "; ".join(
        f"{title}: AOA {naive[title][0]:.4f} against {naive[title][2]:.4f}, truth {true[title][0]:.4f} against "
        f"{true[title][2]:.4f}"
        for title in METRICS
    )
    truth, average = true["DCG"], naive["DCG"]
    yield judged(
        "AOA ranks the popularity list Z1 above the perfect Z3, although the truth is the other way round",
        (average[0] > average[2] and truth[2] > truth[0], evidence),
    )
    yield judged(
        "AOA ranks Z1 above Z2, though both are equally good",
        (
            truth[0] == truth[1] and average[0] > average[1],
            f"DCG: AOA {average[0]:.4f} against {average[1]:.4f}, truth {truth[0]:.4f} and {truth[1]:.4f}",
        ),
    )


TABLE = Table(
    "table1", "Three lists for one user: what is true, what AOA says, what SNIPS says", lambda _: compute(EXAMPLE)
)
