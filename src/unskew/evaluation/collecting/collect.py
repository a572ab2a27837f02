"""`collect`: rank and predict the rows that the metrics of a run need."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from unskew.arrays import Ints, offsets_of, runs_of
from unskew.data.pairs import pair_keys
from unskew.data.vocabulary import canonical
from unskew.display.phrases import listed
from unskew.errors import ConfigError, DataError, Option
from unskew.estimators import OVER_ALL_PAIRS, Dr
from unskew.evaluation.collecting.candidate_summer import CandidateSummer, labels_of
from unskew.evaluation.collecting.exposed import Exposed, check_population
from unskew.evaluation.collecting.imputed import check_imputable
from unskew.evaluation.collecting.predicted import check_rated, collect_ratings
from unskew.evaluation.collecting.relevant_counts import with_relevant_counts
from unskew.evaluation.collecting.sample import Sample
from unskew.evaluation.collecting.sampled_ranks import (
    Correction,
    CorrectionCheck,
    check_pools,
    checked_users,
    compare_with_full,
    in_full,
)
from unskew.evaluation.collecting.samples import Samples
from unskew.evaluation.collecting.saved_ranks import admit, align
from unskew.evaluation.collecting.shown import Shown, make_shown
from unskew.evaluation.fitting.models import Contenders, Fitted
from unskew.evaluation.fitting.relevance import Relevance
from unskew.evaluation.run import Run
from unskew.evaluation.settings.admissible import check_candidates
from unskew.metrics import Metric
from unskew.ranking import Contest, ListScorer, Predictions, Ranks, Scorer, default_block_size, prepare_contest, rank
from unskew.ranking.contest import ContestPlan, plan_contest
from unskew.ranking.shown_lists import shown_lists


def collect(run: Run, contenders: Contenders, relevant: Any = None, relevance: Relevance | None = None) -> Samples:
    """Rank the positives, predict all ratings, or rank exposed rows, as far as the metrics of a run need it.

    `relevant` is each user's number of relevant items, as a mapping or a frame; `relevance` has the chances with which
    imputing estimators sum over all candidates.
    """
    samples = Collector(run, contenders.models).samples()
    if relevance is not None and relevance.chances:
        samples = Collector(run, contenders.models).with_candidates(samples, relevance)
    if relevant is None or samples.judged is samples.ratings:
        return samples
    counted = with_relevant_counts(samples.judged, relevant, contenders.models, run.settings.users)
    return replace(samples, judged=counted)


@dataclass(frozen=True, eq=False)
class Collector:
    """Ranks and predicts what the metrics of a run need."""

    run: Run
    models: Mapping[str, Fitted]

    def samples(self) -> Samples:
        """All rows that the metrics need, ranked or predicted; without sums over all candidates."""
        run = self.run
        if run.split.exposed:
            return self._exposed()
        kinds = {metric.kind for metric in run.settings.metrics}
        graded = "graded" in kinds
        contest, block, positives, ratings = None, None, None, None
        ranks: dict[str, Ranks] = {}
        if kinds - OVER_ALL_PAIRS:
            contest, ranks, block = self._rank(run.settings.positive)
            positives = self.ranked(Sample, contest, ranks)
        if kinds & OVER_ALL_PAIRS:
            # without a condition all rows are positives, so their ranks serve both
            again = positives is None or run.settings.positive is not None
            if graded and again:
                rated_contest, ranks, block = self._rank(None)
                contest = rated_contest if contest is None else contest
            check_rated(run)
            rated_ranks = ranks if graded else {}
            ratings = collect_ratings(run, self.models, self.contest(None, ranks=rated_ranks), rated_ranks)
            contest = contest if contest is not None or positives is not None else self.contest(None)
        shown = None if positives is None or "content" not in kinds else self.shown(positives, contest, block)
        checks = None if positives is None else self._check_candidates(positives, contest, block)
        judged = positives or ratings
        assert judged is not None
        return Samples(judged, ratings, None, contest, block, shown=shown, correction=checks)

    def _exposed(self) -> Samples:
        """Rank all rows of a randomly exposed test."""
        contest, ranks, block = self._rank(None)
        check_population(self.run.split, contest)
        exposed = self.ranked(Exposed, contest, ranks)
        assert isinstance(exposed, Exposed)
        return Samples(exposed.positives, None, exposed, contest, block)

    def with_candidates(self, samples: Samples, relevance: Relevance) -> Samples:
        """The samples, and the sums over all candidates with their chances of relevance."""
        run, positives, contest = self.run, samples.judged, samples.contest
        ready = [name for name, model in self.models.items() if isinstance(model.ranker, Ranks)]
        check_imputable(run.settings.estimators, run.settings.users, ready)
        assert contest is not None
        sums = CandidateSummer(run, contest, self.scorers(run.settings.positive), samples.block_size).imputed(
            positives, relevance
        )
        if any(isinstance(estimator, Dr) for estimator in run.settings.estimators):
            logged_contest, ranks, _ = self._rank(None)
            logged = self.ranked(Sample, logged_contest, ranks)
            sums = replace(sums, logged=logged, labels=labels_of(logged, run.settings.positive))
        return replace(samples, imputed=sums)

    def shown(self, positives: Sample, contest: Contest | None, block: int | None) -> Shown:
        """The top lists of all models that rank."""
        run = self.run
        asked = [metric for metric in run.settings.metrics if metric.kind == "content"]
        scorers = self.scorers(run.settings.positive)
        without = [name for name in positives.ranks if name not in scorers]
        if contest is None or without:
            raise ConfigError(
                f"{asked[0]} needs the lists of every model, and {listed(without)} has only saved ranks; give "
                f"{Option('scores')} or {Option('factors')}, or leave out {asked[0]}"
            )
        depth = max(metric.cutoff or 1 for metric in asked)
        lists = {
            name: shown_lists(
                scorers[name],
                contest,
                depth,
                name=name,
                ties=run.settings.ties,
                seed=run.settings.seed,
                engine=run.engine,
                block_size=block,
                progress=run.doing("listing", name),
            )
            for name in positives.ranks
        }
        return make_shown(positives, contest, lists)

    def _rank(self, positive: str | None) -> tuple[Contest | None, dict[str, Ranks], int | None]:
        run = self.run
        settings = replace(run.settings, positive=positive)
        scorers = self.scorers(positive)
        ready = {name: model.ranker for name, model in self.models.items() if isinstance(model.ranker, Ranks)}
        contest, ranked, block = None, dict[str, Ranks](), None
        if scorers:
            contest = self.contest(positive, scorers)
            check_candidates(run.split.rule, settings.metrics, contest.catalogue_size)
            block = settings.block_size or default_block_size(contest.catalogue_size)
            ranked = {
                name: self.place("ranking", name, scorer, contest, block)
                for name, scorer in scorers.items()
                if self.models[name].ranker is not None
            }
        joined = {
            name: ranked[name] if name in ranked else admit(name, ready[name], run.split, settings)
            for name in self.models
            if name in ranked or name in ready
        }
        if not joined:
            metric = next(metric for metric in settings.metrics if metric.kind != "loss")
            raise ConfigError(
                f"{metric} needs scores of all candidates, and no model has them: an incomplete table of predictions "
                f"cannot rank; give {Option('scores')} or {Option('factors')}"
            )
        joined = align(joined, settings.users)
        check_pools(joined, run.split.rule)
        return contest, joined, block

    def place(self, doing: str, name: str, scorer: Scorer, contest: Contest, block: int | None) -> Ranks:
        """The ranks of a contest by one model, under the settings of the run; `doing` is what progress says."""
        run = self.run
        return rank(
            scorer,
            contest,
            name=name,
            ties=run.settings.ties,
            engine=run.engine,
            block_size=block,
            seed=run.settings.seed,
            progress=run.doing(doing, name),
        )

    def contest(
        self,
        positive: str | None,
        scorers: Mapping[str, Scorer] | None = None,
        ranks: Mapping[str, Ranks] | None = None,
    ) -> Contest:
        """The contest of the rows that a condition holds for, among models that score, or that have `ranks`."""
        return self.plan(positive, scorers, ranks).contest()

    def plan(
        self,
        positive: str | None,
        scorers: Mapping[str, Scorer] | None = None,
        ranks: Mapping[str, Ranks] | None = None,
    ) -> ContestPlan:
        """What the contests of any test users share."""
        chosen = self.scorers(positive) if scorers is None else scorers
        others = [model.predictor for name, model in self.models.items() if name not in chosen]
        also = [ids for ids in map(self._tested_items, others) if ids is not None]
        also += [self.run.split.item_vocabulary.ids[np.unique(each.items)] for each in (ranks or {}).values()]
        ready = [model.ranker.users for model in self.models.values() if isinstance(model.ranker, Ranks)]
        # an exposed item that no model knows is refused, and a rating without a prediction has no loss
        ranked = not self.run.split.exposed and (scorers is not None or bool(ranks))
        return plan_contest(
            chosen,
            self.run.split,
            positive=positive,
            seed=self.run.settings.seed,
            also=also,
            users=self.run.settings.users if ranked or self.run.split.exposed else "common",
            also_users=np.unique(np.concatenate(ready)) if ready and (ranked or self.run.split.exposed) else None,
            tested=ranked,
            partial=self.run.partial,
        )

    def _tested_items(self, predictor: Scorer | Predictions | None) -> Any:
        """Ids of the test items that a predictor which does not rank knows; None if it has no item ids."""
        items = self.run.split.item_vocabulary
        if isinstance(predictor, Predictions):
            return items.ids[np.unique(predictor.items[~np.isnan(predictor.predicted)])]
        if not isinstance(predictor, ListScorer) or predictor.item_ids is None:
            return None
        codes = items.encode(canonical(np.asarray(predictor.item_ids), f"item_ids of {predictor.name}"))
        return items.ids[np.intersect1d(codes[codes >= 0], self.run.split.test.items)]

    def scorers(self, positive: str | None) -> dict[str, Scorer]:
        """The scorers of all items in the models' order, including tables of predictions for all candidates."""
        chosen: dict[str, Scorer] = {}
        ranking = any(metric.kind != "loss" for metric in self.run.settings.metrics)  # else a table is only looked up
        plain = {name: model.scorer for name, model in self.models.items() if model.scorer is not None}
        for name, model in self.models.items():
            if name in plain:
                chosen[name] = plain[name]
            elif self.run.partial:  # whether a table has all candidates would depend on the part
                continue
            elif model.table is not None and ranking and self._covers(name, model.table, plain, positive):
                chosen[name] = model.table
        return chosen

    def _covers(self, name: str, table: ListScorer, plain: Mapping[str, Scorer], positive: str | None) -> bool:
        """Whether a table has a score for every candidate of every judged user."""
        tables: list[Any] = [m.table.item_ids for m in self.models.values() if m.table is not None]
        tested = [self._tested_items(m.predictor) for m in self.models.values() if m.table is None]
        also = [ids for ids in (*tables, *tested) if ids is not None]
        try:
            with_table, without = (
                prepare_contest(models, self.run.split, positive=positive, also=also, users="common", tested=False)
                for models in ({**plain, name: table}, plain)
            )
        except DataError:  # no test user is known to it
            return False
        if len(with_table) < len(without):
            return False
        contest, binding = with_table, with_table.bindings[name]
        offsets, columns, _ = table.lists_of(binding.rows[contest.users])
        place = np.full(table.n_items, -1)
        place[binding.columns[binding.columns >= 0]] = np.flatnonzero(binding.columns >= 0)
        owner = np.repeat(np.arange(len(contest.users)), np.diff(offsets))
        listed_by = np.repeat(np.arange(len(contest.users)), np.diff(contest.listed_offsets))
        width = contest.catalogue_size
        within = np.isin(pair_keys(owner, place[columns], width), pair_keys(listed_by, contest.listed, width))
        candidate = (within if contest.among else ~within) & (place[columns] >= 0)
        return np.array_equal(np.bincount(owner[candidate], minlength=len(contest.users)), contest.candidates)

    def ranked(self, kind: type[Sample], contest: Contest | None, ranks: Mapping[str, Ranks]) -> Sample:
        """The rows of a contest with the ranks of all models."""
        run = self.run
        first = next(iter(ranks.values()))
        users, counts = runs_of(first.users)
        everybody = np.ones(len(run.split.user_vocabulary), dtype=bool)
        return kind(
            split=run.split,
            train=run.positives,
            users=users,
            offsets=offsets_of(counts),
            items=first.items,
            ranks=ranks,
            known_users=everybody if contest is None else contest.known_users,
            dropped=self._without_rank(first, users) if contest is None else contest.dropped,
            unlisted=run.settings.unlisted,
            values=None if run.split.test.values is None else first.values,
            correction=Correction.under(run.split.rule),
        )

    def _check_candidates(
        self, sample: Sample, contest: Contest | None, block: int | None
    ) -> tuple[CorrectionCheck, ...] | None:
        """Rank some users in full, where scores are available, and compare with the corrected ranks."""
        if sample.correction is None:
            return None
        if contest is None:
            return ()
        chosen = checked_users(len(sample.users), self.run.settings.seed)
        whole = in_full(contest, chosen)
        rows = np.isin(sample.user, chosen)
        checks = []
        for name, scorer in self.scorers(self.run.settings.positive).items():
            if name not in sample.ranks:
                continue
            full = self.place("checking", name, scorer, whole, block)
            listed = full.in_list() if sample.unlisted == "zero" else None
            for metric in self.run.settings.metrics:
                assert isinstance(metric, Metric)
                true = metric.row_gains(full.above, full.spread, full.candidates, listed)
                corrected = sample.gains(name, metric)[rows]
                checks.append(compare_with_full(name, metric, corrected, true, whole.offsets))
        return tuple(checks)

    def _without_rank(self, ranks: Ranks, users: Ints) -> dict[str, int]:
        """Counts of the rows and users that saved ranks lack; the reasons are not known."""
        test, positive = self.run.split.test, self.run.settings.positive
        is_positive = np.ones(len(test), dtype=bool) if positive is None else test.holds(positive)
        tested = np.unique(test.users)
        return {
            "items_in_train": 0,
            "items_outside_catalogue": 0,
            "rows_without_rank": int(np.sum(is_positive & np.isin(test.users, users))) - len(ranks),
            "rows_of_unknown_users": 0,
            "unknown_users": 0,
            "users_without_positive": len(tested) - len(np.unique(test.users[is_positive])),
            "users": len(tested) - len(users),
        }
