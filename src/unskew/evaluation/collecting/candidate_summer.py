"""`CandidateSummer`: sums over all candidates of every model, and the ranks of the slice."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property

import numpy as np

from unskew.arrays import Bools, Floats, Ints, Matrix, offsets_of, runs_of
from unskew.data.vocabulary import canonical
from unskew.errors import DataError, Option
from unskew.estimators import Blend, Dm, Imputing
from unskew.evaluation.collecting.imputed import Drawn, Imputed
from unskew.evaluation.collecting.sample import Sample
from unskew.evaluation.collecting.slice_draw import refuse_selected, test_draw
from unskew.evaluation.fitting.relevance import Relevance, drawn_rows
from unskew.evaluation.run import Run
from unskew.imputation import FittedImputation, LabelledRows, SliceFit
from unskew.metrics import AnyMetric
from unskew.ranking import CandidateSums, Contest, Moments, Scorer, candidate_moments, everyone, rank, sum_models
from unskew.ranking.block_scores import BlockScores
from unskew.ranking.contest import rows_of
from unskew.ranking.list_scorer import ListScorer

RESEMBLANCE_USERS = 100


@dataclass(frozen=True, eq=False)
class CandidateSummer:
    """Sums over all candidates, model by model."""

    run: Run
    contest: Contest  # of the held-out positives
    scorers: Mapping[str, Scorer]
    block: int | None

    def imputed(self, positives: Sample, relevance: Relevance) -> Imputed:
        """The sums of every model with every chance that an estimator names."""
        sums: dict[tuple[str, str], CandidateSums] = {}
        shifted: dict[tuple[str, str], tuple[CandidateSums, ...]] = {}
        for q, fitted in relevance.chances.items():
            for name, (first, *others) in self._sums(q, fitted).items():
                sums[q, name] = first
                if others:
                    shifted[q, name] = tuple(others)
        inherited = {each.name: getattr(positives, each.name) for each in fields(Sample)}
        return Imputed(
            **inherited,
            everyone=self.everyone.users.astype(np.int64),
            candidates=self.everyone.candidates,
            sums=sums,
            relevance=relevance,
            drawn=self._drawn(relevance),
            shifted=shifted,
            resemblance=self._resemblance(relevance),
        )

    @cached_property
    def everyone(self) -> Contest:
        """The contest of all users, without held-out rows."""
        return everyone(self.contest, self.run.split)

    @cached_property
    def codes(self) -> Ints:
        """Item code of each place of the catalogue, -1 for an item that only a model has."""
        ids = canonical(self.contest.catalogue_ids, "items of the catalogue")
        return self.run.split.item_vocabulary.encode(ids)

    def _metrics(self, q: str, *, listed: bool = True) -> list[AnyMetric]:
        """The metrics of the estimators that use these chances."""
        asked = {
            str(metric): metric
            for metric, estimator in self.run.settings.pairs
            if isinstance(estimator, Imputing) and estimator.q == q and (listed or metric.kind != "list")
        }
        return list(asked.values())

    def _sums(self, q: str, fitted: FittedImputation) -> dict[str, tuple[CandidateSums, ...]]:
        """The sums of every model; with chances that are fitted to the slice, those with shifted chances too."""
        settings = self.run.settings
        moving = any(isinstance(estimator, Blend | Dm) and estimator.q == q for estimator in settings.estimators)
        if moving and isinstance(fitted, SliceFit):
            moved = fitted

            def chances(users: Ints) -> Sequence[Matrix]:
                return moved.shifted_blocks(users, self.codes)
        else:

            def chances(users: Ints) -> Sequence[Matrix]:
                return [fitted.block(users, self.codes)]

        return sum_models(
            self.scorers,
            self.everyone,
            chances,
            self._metrics(q),
            ties=settings.ties,
            engine=self.run.engine,
            block_size=self.block,
            unlisted=settings.unlisted,
            progress=self.run.doing("summing", "all models"),
        )

    def _resemblance(self, relevance: Relevance) -> dict[tuple[str, str], float]:
        """The mean over some users of the rank correlation of chances and scores over the catalogue."""
        from scipy.stats import rankdata

        users = self.everyone.users
        some = users[np.linspace(0, len(users) - 1, min(RESEMBLANCE_USERS, len(users))).astype(int)]
        correlations = {}
        placed: dict[tuple[str, bytes], Floats] = {}  # most models know the same users
        for name, scorer in self.scorers.items():
            binding = self.everyone.bindings.get(name)
            if binding is None:
                continue
            known = some[binding.rows[some] >= 0]
            if not len(known) or isinstance(scorer, ListScorer):
                continue
            source = BlockScores(scorer, binding, self.everyone.user_ids, self.everyone.catalogue_ids, name)
            scores = rankdata(source.of(known), axis=1)
            for q, fitted in relevance.chances.items():
                key = q, known.tobytes()
                if key not in placed:
                    placed[key] = rankdata(fitted.block(known, self.codes), axis=1)
                correlations[q, name] = _mean_correlation(scores, placed[key])
        return correlations

    def _drawn(self, relevance: Relevance) -> Drawn | None:
        rows = drawn_rows(self.run.split)
        if rows is None:
            return None
        rows = self._known(rows)
        contest = self._contest_of(rows)
        popularity = np.where(self.codes >= 0, np.log1p(self.run.split.train.item_counts)[self.codes], 0.0)
        draw = test_draw(rows, self.everyone, contest.columns, popularity)
        refuse_selected(draw, rows.name)
        ranks = {
            name: rank(
                scorer,
                contest,
                name=name,
                ties=self.run.settings.ties,
                engine=self.run.engine,
                block_size=self.block,
                seed=self.run.settings.seed,
                progress=self.run.doing("ranking the slice", name),
            )
            for name, scorer in self.scorers.items()
        }
        blended = {e.q for e in self.run.settings.estimators if isinstance(e, Blend)}
        moments: dict[tuple[str, str], Moments] = {}
        for q in blended:
            for word, each in self._moments(q, relevance.chances[q], least_spread(rows.label)).items():
                moments[q, word] = each
        return Drawn(rows, ranks, moments, draw)

    def _moments(self, q: str, fitted: FittedImputation, least: float) -> dict[str, Moments]:
        settings = self.run.settings

        def spread(users: Ints) -> Floats:
            chance = fitted.block(users, self.codes)
            return np.maximum(chance * (1 - chance), least)

        return candidate_moments(
            self.scorers,
            self.everyone,
            spread,
            self._metrics(q, listed=False),
            ties=settings.ties,
            engine=self.run.engine,
            block_size=self.block,
            unlisted=settings.unlisted,
            progress=self.run.doing("summing", "all models"),
        )

    def _known(self, rows: LabelledRows) -> LabelledRows:
        """The rows of users and items that are judged; refuse a slice of other items."""
        places = self._places[rows.items]
        if (places < 0).any():
            item = self.run.split.item_vocabulary.ids[rows.items[int(np.argmax(places < 0))]]
            raise DataError(
                f"{rows.name}: item {item} of the slice is neither in train nor known to a model; name all items that "
                f"could be drawn with {Option('catalogue')}"
            )
        kept = np.isin(rows.users, self.everyone.users)
        if not kept.any():
            raise DataError(f"{rows.name}: no user of the slice is judged; are the user ids those of train?")
        split = self.run.split
        logged = (split.train.user_counts > 0) | (split.test.user_counts > 0)
        if not logged[rows.users].any():  # some may be new, but not all: then the ids are others
            raise DataError(f"{rows.name}: no user of the slice is in train or test; are the user ids those of train?")
        return replace(rows, users=rows.users[kept], items=rows.items[kept], label=rows.label[kept])

    @cached_property
    def _places(self) -> Ints:
        """Place in the catalogue of each item code, or -1."""
        places = np.full(len(self.run.split.item_vocabulary), -1, dtype=np.int32)
        places[self.codes[self.codes >= 0]] = np.flatnonzero(self.codes >= 0)
        return places

    def _contest_of(self, rows: LabelledRows) -> Contest:
        """The contest of the slice's rows, among the same candidates."""
        users, counts = runs_of(rows.users)
        whole = self.everyone
        excluded_offsets: Ints = np.zeros(len(users) + 1, np.int64)
        excluded = whole.listed[:0]
        if len(whole.listed):
            excluded_offsets, excluded = rows_of(self.run.split.train.by_user, users, self._places)
        return replace(
            whole,
            users=users,
            offsets=offsets_of(counts),
            items=rows.items.astype(np.int32),
            columns=self._places[rows.items],
            listed_offsets=excluded_offsets,
            listed=excluded,
            candidates=(whole.catalogue_size - np.diff(excluded_offsets)).astype(np.int32),
            values=rows.label,
        )


def least_spread(label: Floats) -> float:
    """The smallest variance of a label that a slice allows: that of the mean label, over the number of rows.

    Chances of 0 and 1 leave no doubt, but n rows without a surprise do not rule out one surprise in n.
    """
    n = len(label)
    return (float(label.sum()) + 0.5) / (n + 1) / n


def _mean_correlation(a: Floats, b: Floats) -> float:
    """The mean over rows of the correlation of two matrices; 0 for a row without spread."""
    a, b = a - a.mean(axis=1, keepdims=True), b - b.mean(axis=1, keepdims=True)
    size = np.sqrt((a**2).sum(axis=1) * (b**2).sum(axis=1))
    return float(np.mean(np.where(size > 0, (a * b).sum(axis=1) / np.where(size > 0, size, 1.0), 0.0)))


def labels_of(sample: Sample, positive: str | None) -> Bools:
    """Whether each row of a sample is positive."""
    from unskew.data.exposed import has_labels

    test = sample.split.sorted_test
    if positive is not None:
        positives = test.holds(positive)
    elif has_labels(test):
        assert test.values is not None
        positives = test.values > 0
    else:
        return np.ones(sample.rows, dtype=bool)
    from unskew.data.pairs import pair_keys, row_keys

    width = len(sample.split.item_vocabulary)
    keys = np.sort(row_keys(test.take(positives), width))
    asked = pair_keys(sample.row_users, sample.items, width)
    return np.isin(asked, keys)
