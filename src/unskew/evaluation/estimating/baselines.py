"""`judge_baselines`: what a popularity list and a random order have on the users and candidates of a report."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from unskew.arrays import Floats
from unskew.data.pairs import pair_keys
from unskew.data.vocabulary import canonical
from unskew.estimators import OVER_ALL_PAIRS, Comparison, Dr, Estimate, Estimator, Terms, difference, holm
from unskew.evaluation.collecting.candidate_summer import CandidateSummer
from unskew.evaluation.collecting.sample import Sample
from unskew.evaluation.collecting.samples import Samples
from unskew.evaluation.collecting.shown import Shown, make_shown
from unskew.evaluation.estimating.cell import Cell
from unskew.evaluation.estimating.estimation import Estimation
from unskew.evaluation.estimating.seed_means import SeedMeans
from unskew.evaluation.settings.settings import Settings
from unskew.metrics import AnyMetric
from unskew.ranking import Contest, Ranks, Scorer, Ties
from unskew.ranking.shared_order import rank_shared, shared_scorer
from unskew.ranking.shown_lists import shown_lists

if TYPE_CHECKING:
    from unskew.evaluation.report import Report

POPULAR, RANDOM = "popular", "random"
DESCRIBED = {
    POPULAR: "items by their number of training users",
    RANDOM: "a random order of the candidates, in expectation",
}
"""The baselines, and what each one is."""

SAVED_RANKS = "saved ranks do not have the candidates of their users"
IN_PARTS = "the data are read part by part"
STOPPED = "ranking may stop early"
OWN_USERS = "each model has its own users"


@dataclass(frozen=True, eq=False)
class Baselines:
    """The estimates of baselines, and the differences of each model from each of them.

    They are not models of the run: no verdict names them as best, and Holm's correction of the differences between
    models does not count them. The differences from one baseline by one metric and estimator have their own correction.

    Parameters
    ----------
    estimates : tuple of Estimate
    comparisons : tuple of Comparison
        The model first, the baseline second.
    left_out : str
        Why there are none, if there are none.
    """

    estimates: tuple[Estimate, ...] = ()
    comparisons: tuple[Comparison, ...] = ()
    left_out: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """The baselines that have estimates."""
        return tuple(dict.fromkeys(row.model for row in self.estimates))

    @property
    def described(self) -> dict[str, str]:
        """What each of them is."""
        return {name: DESCRIBED[name] for name in self.names}

    def of(self, metric: str, estimator: str) -> list[Estimate]:
        """The estimates of a metric by an estimator."""
        return [row for row in self.estimates if (row.metric, row.estimator) == (metric, estimator)]

    def against(self, baseline: str, metric: str, estimator: str) -> list[Comparison]:
        """The differences of the models from a baseline, by a metric and an estimator."""
        return [c for c in self.comparisons if (c.b, c.metric, c.estimator) == (baseline, metric, estimator)]

    def to_dict(self) -> dict[str, Any]:
        """As in the JSON."""
        if self.left_out:
            return {"left_out": self.left_out}
        return {
            "described": self.described,
            "estimates": [{**row.to_dict(), "baseline": True} for row in self.estimates],
            "comparisons": [row.to_dict() for row in self.comparisons],
        }


def marked(name: str) -> str:
    """The name of a baseline in a table, next to names of models."""
    return f"{name} (baseline)"


def marked_estimates(baselines: Baselines | None) -> list[Estimate]:
    """The estimates of the baselines with marked names; none if there are no baselines."""
    return [] if baselines is None else [replace(row, model=marked(row.model)) for row in baselines.estimates]


def judge_baselines(report: "Report") -> Baselines | None:
    """Judge the baselines that are not among the models of a report, on its users and candidates.

    None where nothing was ranked, or where the models include both. Estimates of ratings have no baseline, and neither
    have `dr` and estimates that are fitted to a slice for all models together.
    """
    named = {*report.models, *report.models.values()}
    wanted = [name for name in DESCRIBED if name not in named]
    samples, settings = report.samples, report.settings
    pairs = tuple(pair for pair in settings.pairs if _suits(samples, *pair))
    if not wanted or not any(metric.kind not in OVER_ALL_PAIRS for metric in settings.metrics):
        return None
    reasons = {
        IN_PARTS: report.merged is not None,
        STOPPED: report.stop is not None,
        OWN_USERS: settings.users == "served",
        SAVED_RANKS: samples.contest is None,
    }
    left_out = next((why for why, holds in reasons.items() if holds), "")
    if left_out or not pairs:
        return Baselines(left_out=left_out) if left_out else None
    contest = samples.contest
    assert contest is not None
    scores = {name: _scores(report, contest, name) for name in wanted}
    asked = replace(settings, pairs=pairs)
    judged = _judge(report, contest, scores, asked)
    estimation = Estimation(judged, asked, report.propensities, report.inputs.threads)
    cells, estimates, _ = estimation.run()
    models = {(str(cell.metric), str(cell.estimator)): cell.terms for cell in report.estimated.cells}
    compare = partial(_compare_means, members=report.judged.members) if report.judged.several else _compare
    compared = [
        row
        for cell in cells
        for name in wanted
        for row in compare(cell, models[str(cell.metric), str(cell.estimator)], name, settings)
    ]
    return Baselines(tuple(estimates), tuple(compared))


def _suits(samples: Samples, metric: AnyMetric, estimator: Estimator) -> bool:
    if metric.kind in OVER_ALL_PAIRS:
        return False
    if estimator.sees != "candidates":
        return True
    return samples.imputed is not None and samples.imputed.drawn is None and not isinstance(estimator, Dr)


def _scores(report: "Report", contest: Contest, name: str) -> Floats:
    """The scores of a baseline by place in the catalogue; all the same for a random order."""
    if name == RANDOM:
        return np.zeros(contest.catalogue_size)
    codes = report.inputs.split.item_vocabulary.encode(canonical(contest.catalogue_ids, "items of the catalogue"))
    counts = report.samples.judged.train.item_counts
    return np.where(codes >= 0, counts[codes], 0).astype(np.float64)


def _judge(report: "Report", contest: Contest, scores: Mapping[str, Floats], asked: Settings) -> Samples:
    """The judged rows of the report with the ranks of the baselines instead of those of the models."""
    samples, inputs = report.samples, report.inputs
    ranks = {
        name: rank_shared(
            each,
            contest,
            name=name,
            ties="expected" if name == RANDOM else asked.ties,
            engine=inputs.engine,
            seed=asked.seed,
        )
        for name, each in scores.items()
    }
    whole = replace(samples.whole, ranks=_rows_of(samples, contest, ranks))
    if samples.exposed is not None:
        assert isinstance(whole, type(samples.exposed))
        return Samples(whole.positives, None, whole, contest)
    judged = Samples(whole, contest=contest)
    if any(metric.kind == "content" for metric in asked.metrics):
        judged = replace(judged, shown=_lists(report, contest, scores, whole, asked))
    if not any(estimator.sees == "candidates" for _, estimator in asked.pairs):
        return judged
    assert report.propensities.relevance is not None
    scorers: dict[str, Scorer] = {}
    for name, each in scores.items():
        scorers[name], contest = shared_scorer(each, contest, name)
    run = replace(inputs, settings=asked, progress=None)
    summer = CandidateSummer(run, contest, scorers, samples.block_size)
    return replace(judged, imputed=summer.imputed(whole, report.propensities.relevance))


def _lists(report: "Report", contest: Contest, scores: Mapping[str, Floats], whole: Sample, asked: Settings) -> Shown:
    """The top lists of the baselines; equal scores are in a random order, as everywhere."""
    depth = max(metric.cutoff or 1 for metric in asked.metrics if metric.kind == "content")
    lists = {}
    for name, each in scores.items():
        scorer, joined = shared_scorer(each, contest, name)
        ties: Ties = "expected" if name == RANDOM else asked.ties
        lists[name] = shown_lists(
            scorer,
            joined,
            depth,
            name=name,
            ties=ties,
            seed=asked.seed,
            engine=report.inputs.engine,
            block_size=report.samples.block_size,
        )
    return make_shown(whole, contest, lists)


def _rows_of(samples: Samples, contest: Contest, ranks: Mapping[str, Ranks]) -> dict[str, Ranks]:
    """The ranks of the rows that are judged: all of the contest, unless models of saved ranks lack some."""
    sample, width = samples.whole, len(samples.whole.split.item_vocabulary)
    keys = pair_keys(contest.row_users, contest.items, width)
    kept = np.isin(keys, pair_keys(sample.row_users, sample.items, width))
    return {name: each if kept.all() else each.take(kept) for name, each in ranks.items()}


def _compare(cell: Cell, models: Mapping[str, Terms], name: str, settings: Settings) -> list[Comparison]:
    """The differences of the models from a baseline, with Holm's correction over the models."""
    base = cell.terms[name]
    suited = {model: terms for model, terms in models.items() if _size(terms) == _size(base)}
    if not suited:
        return []
    _, gaps = settings.interval.bounds(
        [base, *suited.values()],
        [(place, 0) for place in range(1, len(suited) + 1)],
        settings.level,
        np.random.default_rng([settings.seed, 1]),
    )
    p_values = {model: settings.interval.p_value(terms, base) for model, terms in suited.items()}
    adjusted = holm(p_values)
    words = str(cell.metric), str(cell.estimator)
    return [
        Comparison(*words, model, name, difference(terms, base)[0], low, high, p_values[model], adjusted[model])
        for (model, terms), (low, high) in zip(suited.items(), gaps, strict=True)
    ]


def _compare_means(
    cell: Cell, models: Mapping[str, Terms], name: str, settings: Settings, members: Mapping[str, tuple[str, ...]]
) -> list[Comparison]:
    """The differences of models that are means over seeds from a baseline, with Holm's correction over the models."""
    base = cell.terms[name]
    suited = {entry: terms for entry, terms in models.items() if _size(terms) == _size(base)}
    marked_base = marked(name)  # which no entry is called
    means = SeedMeans({**suited, marked_base: base}, {**members, marked_base: (marked_base,)}, settings.interval)
    pairs = [(model, marked_base) for model in means.members if model != marked_base]
    words = str(cell.metric), str(cell.estimator)
    return [replace(row, b=name) for row in means.compare(pairs, words, settings.level)]


def _size(terms: Terms) -> tuple[int, str]:
    return len(terms.numerator), terms.units
