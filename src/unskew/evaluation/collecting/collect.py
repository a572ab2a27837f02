"""From models and a split to evidence: who is judged on which rows, and what each model says of them."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from unskew.arrays import Floats, Ints
from unskew.data import Interactions, Split
from unskew.data.candidates import All, Listed, Sampled
from unskew.data.vocabulary import canonical
from unskew.errors import ConfigError, DataError, Option
from unskew.evaluation.collecting.exposed import Exposures, check_population
from unskew.evaluation.collecting.sample import Evidence
from unskew.evaluation.collecting.sampled_ranks import (
    Correction,
    CorrectionCheck,
    check_correction,
    check_pools,
    checked_users,
    compare_with_full,
)
from unskew.evaluation.collecting.saved_ranks import admit, align
from unskew.evaluation.fitting.models import Fitted
from unskew.evaluation.settings.settings import OVER_ALL_PAIRS, Settings
from unskew.metrics import Metric
from unskew.progress import Stage, stage
from unskew.ranking import (
    Contest,
    Engine,
    ListScorer,
    Predictions,
    Ranks,
    Scorer,
    default_block_size,
    look_up,
    predict,
    prepare_contest,
    rank,
)
from unskew.ranking.contest import in_full


@dataclass(frozen=True, eq=False)
class Gathered:
    """Evidence of a run.

    Parameters
    ----------
    ranked : Evidence or None
        The positives, for metrics over them.
    rated : Evidence or None
        All rows with a rating, for metrics over all pairs.
    contest : Contest or None
        Who was ranked among what; None when all ranks were made before.
    block_size : int or None
    correction : tuple of CorrectionCheck or None
        How far corrected numbers are from those of full ranking; None without a correction.
    exposures : Exposures or None
        All rows of a randomly exposed test, positive or not.
    """

    ranked: Evidence | None
    rated: Evidence | None
    contest: Contest | None
    block_size: int | None
    correction: tuple[CorrectionCheck, ...] | None = None
    exposures: Exposures | None = None


@dataclass(frozen=True, eq=False)
class Gathering:
    """Ranks and predicts what the metrics of a run need."""

    fitted: Mapping[str, Fitted]
    split: Split
    train: Interactions
    settings: Settings
    engine: Engine
    progress: Stage | None = None

    def run(self) -> Gathered:
        """Rank the positives, and rate all rows, as far as metrics ask for it."""
        if self.split.exposed:
            return self._expose()
        kinds = {metric.kind for metric in self.settings.metrics}
        graded = "graded" in kinds
        if graded and isinstance(self.split.rule, Sampled):
            raise ConfigError(
                f"graded metrics are over all candidates, so {self.split.rule} ones do not do; use unseen"
            )
        contest, block, ranked, rated = None, None, None, None
        ranks: dict[str, Ranks] = {}
        if kinds - OVER_ALL_PAIRS:
            contest, ranks, block = self._rank(self.settings.positive)
            ranked = self._evidence(contest, ranks)
        if kinds & OVER_ALL_PAIRS:
            # without a condition the positives are all rows, and their ranks serve both
            again = ranked is None or self.settings.positive is not None
            if graded and again:
                own, ranks, block = self._rank(None)
                contest = own if contest is None else contest
            rated = self._rate(ranks if graded else {})
            contest = contest if contest is not None or ranked is not None else self._contest(None)
        checks = None if ranked is None else self._check_correction(ranked, contest, block)
        return Gathered(ranked, rated, contest, block, checks)

    def _expose(self) -> Gathered:
        """Rank all rows of a randomly exposed test."""
        contest, ranks, block = self._rank(None)
        check_population(self.split, contest)
        exposures = Exposures(self._evidence(contest, ranks))
        return Gathered(exposures.positives, None, contest, block, None, exposures)

    def _rank(self, positive: str | None) -> tuple[Contest | None, dict[str, Ranks], int | None]:
        settings = replace(self.settings, positive=positive)
        scorers = self._scorers(positive)
        ready = {name: model.ranker for name, model in self.fitted.items() if isinstance(model.ranker, Ranks)}
        contest, made, block = None, {}, None
        if scorers:
            contest = self._contest(positive, scorers)
            check_correction(self.split.rule, settings.metrics, contest.catalogue_size)
            block = settings.block_size or default_block_size(contest.catalogue_size)
            for name, scorer in scorers.items():
                if self.fitted[name].ranker is None:
                    continue
                made[name] = rank(
                    scorer,
                    contest,
                    name=name,
                    ties=settings.ties,
                    engine=self.engine,
                    block_size=block,
                    seed=settings.seed,
                    progress=None if self.progress is None else stage(self.progress, name, "ranking"),
                )
        joined = {
            name: made[name] if name in made else admit(name, ready[name], self.split, settings)
            for name in self.fitted
            if name in made or name in ready
        }
        if not joined:
            metric = next(metric for metric in settings.metrics if metric.kind != "loss")
            raise ConfigError(
                f"{metric} needs scores of all candidates, and no model has them: a table of predictions that lacks "
                f"some cannot rank; give {Option('scores')} or {Option('factors')}"
            )
        joined = align(joined, self.settings.users)
        check_pools(joined, self.split.rule)
        return contest, joined, block

    def _contest(
        self,
        positive: str | None,
        scorers: Mapping[str, Scorer] | None = None,
        ranks: Mapping[str, Ranks] | None = None,
    ) -> Contest:
        chosen = self._scorers(positive) if scorers is None else scorers
        others = [model.predictor for name, model in self.fitted.items() if name not in chosen]
        also = [ids for ids in map(self._tested_items, others) if ids is not None]
        also += [self.split.item_vocabulary.ids[np.unique(made.items)] for made in (ranks or {}).values()]
        ready = [model.ranker.users for model in self.fitted.values() if isinstance(model.ranker, Ranks)]
        # an exposed item that nobody knows is refused, and a rating that nobody predicts has no loss
        ranked = not self.split.exposed and (scorers is not None or bool(ranks))
        return prepare_contest(
            chosen,
            self.split,
            positive=positive,
            seed=self.settings.seed,
            also=also,
            users=self.settings.users if ranked or self.split.exposed else "common",
            also_users=np.unique(np.concatenate(ready)) if ready and (ranked or self.split.exposed) else None,
            tested=ranked,
        )

    def _tested_items(self, predictor: Scorer | Predictions | None) -> Any:
        """Ids of the test items that something knows which predicts but does not rank; None where it does not say."""
        items = self.split.item_vocabulary
        if isinstance(predictor, Predictions):
            return items.ids[np.unique(predictor.items[~np.isnan(predictor.predicted)])]
        if not isinstance(predictor, ListScorer) or predictor.item_ids is None:
            return None
        codes = items.encode(canonical(np.asarray(predictor.item_ids), f"item_ids of {predictor.name}"))
        return items.ids[np.intersect1d(codes[codes >= 0], self.split.test.items)]

    def _scorers(self, positive: str | None) -> dict[str, Scorer]:
        """What scores all items, tables of predictions that cover all candidates included, in the models' order."""
        chosen: dict[str, Scorer] = {}
        plain = {name: model.scorer for name, model in self.fitted.items() if model.scorer is not None}
        for name, model in self.fitted.items():
            if name in plain:
                chosen[name] = plain[name]
            elif model.table is not None and self._ranks and self._covers(name, model.table, plain, positive):
                chosen[name] = model.table
        return chosen

    @property
    def _ranks(self) -> bool:
        """Whether a metric needs ranks; without one, a table of predictions is only looked up."""
        return any(metric.kind != "loss" for metric in self.settings.metrics)

    def _covers(self, name: str, table: ListScorer, plain: Mapping[str, Scorer], positive: str | None) -> bool:
        """Whether a table has a score for every candidate of every judged user."""
        tables: list[Any] = [m.table.item_ids for m in self.fitted.values() if m.table is not None]
        tested = [self._tested_items(m.predictor) for m in self.fitted.values() if m.table is None]
        also = [ids for ids in (*tables, *tested) if ids is not None]
        try:
            with_table, without = (
                prepare_contest(models, self.split, positive=positive, also=also, users="common", tested=False)
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
        width = np.int64(contest.catalogue_size)
        within = np.isin(owner * width + place[columns], listed_by * width + contest.listed)
        candidate = (within if contest.among else ~within) & (place[columns] >= 0)
        return np.array_equal(np.bincount(owner[candidate], minlength=len(contest.users)), contest.candidates)

    def _evidence(self, contest: Contest | None, ranks: Mapping[str, Ranks]) -> Evidence:
        first = next(iter(ranks.values()))
        starts = np.flatnonzero(np.append(True, first.users[1:] != first.users[:-1]))
        users = first.users[starts]
        everybody = np.ones(len(self.split.user_vocabulary), dtype=bool)
        return Evidence(
            split=self.split,
            train=self.train,
            users=users,
            offsets=np.append(starts, len(first)).astype(np.int64),
            items=first.items,
            ranks=ranks,
            known_users=everybody if contest is None else contest.known_users,
            dropped=self._without_rank(first, users) if contest is None else contest.dropped,
            unlisted=self.settings.unlisted,
            values=None if self.split.test.values is None else first.values,
            correction=Correction.under(self.split.rule),
        )

    def _check_correction(
        self, evidence: Evidence, contest: Contest | None, block: int | None
    ) -> tuple[CorrectionCheck, ...] | None:
        """Rank some users in full, where scores are at hand, and compare."""
        if evidence.correction is None:
            return None
        if contest is None:
            return ()
        chosen = checked_users(len(evidence.users), self.settings.seed)
        whole = in_full(contest, chosen)
        rows = np.isin(evidence.user, chosen)
        checks = []
        for name, scorer in self._scorers(self.settings.positive).items():
            if name not in evidence.ranks:
                continue
            full = rank(
                scorer,
                whole,
                name=name,
                ties=self.settings.ties,
                engine=self.engine,
                block_size=block,
                seed=self.settings.seed,
                progress=None if self.progress is None else stage(self.progress, name, "checking"),
            )
            listed = full.in_list() if evidence.unlisted == "zero" else None
            for metric in self.settings.metrics:
                assert isinstance(metric, Metric)
                true = metric.row_gains(full.above, full.spread, full.candidates, listed)
                mine = evidence.gains(name, metric)[rows]
                checks.append(compare_with_full(name, metric, mine, true, whole.offsets))
        return tuple(checks)

    def _without_rank(self, ranks: Ranks, users: Ints) -> dict[str, int]:
        """What saved ranks lack; they do not tell why."""
        test, positive = self.split.test, self.settings.positive
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

    def _rate(self, ranks: Mapping[str, Ranks]) -> Evidence:
        """All rows with a rating, and what the models that predict say of them."""
        self._check_rated()
        contest = self._contest(None, ranks=ranks)
        assert contest.values is not None
        for name, made in ranks.items():
            if not (np.array_equal(made.users, contest.row_users) and np.array_equal(made.items, contest.items)):
                raise DataError(f"ranks of {name!r} do not have all rated test rows; make them without a condition")
        losses = any(metric.kind == "loss" for metric in self.settings.metrics)
        predicted = {name: self._predict(name, contest) for name in self._predicting()} if losses else {}
        missing = int(np.sum(np.any([np.isnan(column) for column in predicted.values()], axis=0))) if predicted else 0
        if missing:
            self._check_missing(predicted, contest, missing)
        return Evidence(
            split=self.split,
            train=self.train,
            users=contest.users,
            offsets=contest.offsets,
            items=contest.items,
            ranks=ranks,
            known_users=contest.known_users,
            dropped={**contest.dropped, "rows_without_prediction": missing},
            unlisted=self.settings.unlisted,
            values=contest.values,
            predictions={
                name: Predictions(contest.row_users, contest.items, contest.values, column)
                for name, column in predicted.items()
            },
            pairs=self._pairs(contest, ranks),
        )

    def _check_rated(self) -> None:
        if self.split.test.values is not None:
            return
        metric = next(metric for metric in self.settings.metrics if metric.kind in OVER_ALL_PAIRS)
        raise DataError(
            f"{self.split.test.name} has no column 'rating', which {metric} needs; name it with {Option('rating_col')}"
        )

    def _predicting(self) -> list[str]:
        return [name for name, model in self.fitted.items() if model.predictor is not None]

    def _predict(self, name: str, contest: Contest) -> Floats:
        """Predictions of a model for the rows of a contest; NaN where it has none."""
        predictor = self.fitted[name].predictor
        if isinstance(predictor, Predictions):
            predictor.check(self.split, name)
            return predictor.of(contest.row_users, contest.items)
        if isinstance(predictor, ListScorer):
            return look_up(predictor, self.split, contest.row_users, contest.items)
        assert predictor is not None
        return predict(predictor, contest, name=name)

    def _check_missing(self, predicted: Mapping[str, Floats], contest: Contest, rows: int) -> None:
        """Refuse rows without a prediction, unless they may be left out, some remain, and no estimator needs all."""
        name = max(predicted, key=lambda name: int(np.sum(np.isnan(predicted[name]))))
        missing = np.isnan(predicted[name])
        everywhere = rows == len(contest)
        if self.settings.allow_missing and not everywhere:
            for metric, estimator in self.settings.pairs:
                if metric.kind == "loss" and estimator.counts_empty_users:
                    raise ConfigError(
                        f"{estimator} of {metric} is over all pairs, so every test row needs a prediction, and "
                        f"{rows:,} have none; use snips, or predict them"
                    )
            return
        row = int(np.argmax(missing))
        user, item = contest.user_ids[contest.row_users[row]], contest.catalogue_ids[contest.columns[row]]
        what = f"model {name!r} has no prediction for {int(missing.sum()):,} of {len(contest):,} test rows"
        looked_up = isinstance(self.fitted[name].predictor, Predictions | ListScorer)
        hint = (
            ("are its user and item ids those of the test?" if looked_up else "it knows none of the items in the test")
            if everywhere
            else f"predict them, or leave them out for all models with {Option('allow_missing', True)}"
        )
        raise DataError(f"{what}, the first is user {user}, item {item}; {hint}")

    def _pairs(self, contest: Contest, ranks: Mapping[str, Ranks]) -> Floats:
        """How many candidates each user has, by code, judged or not."""
        if isinstance(self.split.rule, Listed):
            listed = np.zeros(len(self.split.user_vocabulary))
            listed[contest.users] = contest.candidates
            return listed
        seen = self.split.train.seen_counts * (not isinstance(self.split.rule, All))
        catalogue = contest.catalogue_size
        if ranks:  # those made before may be among items that no model here knows
            first = next(iter(ranks.values()))
            catalogue = int(first.candidates[0] + seen[first.users[0]])
        return np.asarray(float(catalogue) - seen)
