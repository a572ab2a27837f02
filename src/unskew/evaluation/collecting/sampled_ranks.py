"""`Correction`: sampled ranks corrected towards full ranking, and the error of that correction."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from threading import Lock
from typing import Any

import numpy as np

from unskew.arrays import Floats, Ints, offsets_of, spans
from unskew.blas import one_thread
from unskew.data.candidates import Candidates, Sampled
from unskew.errors import DataError
from unskew.metrics import Metric
from unskew.metrics.auc import LinearMetric
from unskew.metrics.exact.sampled_correction import BiasVariance, SampledRows, unbiased_gains
from unskew.ranking import Contest, Ranks

CHECKED_USERS = 500  # users who are ranked in full to measure the error


@dataclass(frozen=True, eq=False)
class Correction:
    """Corrected gains of sampled ranks; tables are made once per metric, because all models share them."""

    rule: Sampled
    _tables: dict[str, BiasVariance] = field(default_factory=dict)
    _lock: Any = field(default_factory=Lock)

    @classmethod
    def under(cls, rule: Candidates) -> "Correction | None":
        """The correction that a candidate rule asks for; None if it does not."""
        return cls(rule) if isinstance(rule, Sampled) and rule.corrected else None

    def gains(self, metric: Metric, ranks: Ranks, offsets: Ints, listed: Ints | None) -> Floats:
        """Corrected gain of each row; items that are not listed gain nothing under a cut-off.

        `offsets` are those of the users' rows; `listed` is as in `Metric.row_gains`.
        """
        rows = rows_of(ranks, offsets)
        if self.rule.correction == "unbiased" or isinstance(metric, LinearMetric) or rows.whole:
            # a linear gain has an estimate without any bias, whose variance the other form would hardly lower
            gains = unbiased_gains(metric, rows)
        else:
            gains = self._table(metric, rows).gains(metric, rows)
        if listed is not None and metric.cutoff is not None:
            gains[ranks.above >= listed] = 0.0
        return gains

    def _table(self, metric: Metric, rows: SampledRows) -> BiasVariance:
        with self._lock:
            if str(metric) not in self._tables:
                with one_thread():
                    self._tables[str(metric)] = BiasVariance.of(metric, rows)
            return self._tables[str(metric)]


def rows_of(ranks: Ranks, offsets: Ints) -> SampledRows:
    """The ranks as rows of the correction, with draws separated from the user's other positives."""
    assert ranks.pool is not None
    behind = ranks.ties == "pessimistic"
    return SampledRows.from_ranks(offsets, ranks.above, ranks.spread, ranks.candidates, ranks.pool, behind=behind)


def check_pools(ranks: Mapping[str, Ranks], rule: Candidates) -> None:
    """Refuse ranks without the number of items their candidates were drawn from, or with different numbers."""
    if not isinstance(rule, Sampled) or not rule.corrected:
        return
    first = next(iter(ranks.values())).pool
    for name, given in ranks.items():
        _, row_user, positives = np.unique(given.users, return_inverse=True, return_counts=True)
        drawn = given.candidates - positives[row_user]
        if given.pool is None or not np.array_equal(drawn, np.minimum(rule.n, given.pool)):
            raise DataError(
                f"ranks of {name!r} do not say how many items the candidates were drawn from, which {rule} needs; make "
                "them again with rank()"
            )
        if first is not None and not np.array_equal(first, given.pool):
            raise DataError(
                f"ranks of {next(iter(ranks))!r} and {name!r} were drawn from different items; make them with one "
                "prepare_contest that is given all models"
            )


@dataclass(frozen=True)
class CorrectionCheck:
    """A corrected metric and the true one, as means over users who were ranked in full.

    `difference` is corrected minus full.
    """

    model: str
    metric: str
    users: int
    corrected: float
    full: float
    difference: float
    std_error: float | None

    def to_dict(self) -> dict[str, Any]:
        """As in the JSON file."""
        return asdict(self)


def checked_users(judged: int, seed: int) -> Ints:
    """Places of the judged users who are ranked in full: all, or a seeded sample of them."""
    if judged <= CHECKED_USERS:
        return np.arange(judged)
    return np.sort(np.random.default_rng([seed, 3]).choice(judged, CHECKED_USERS, replace=False))


def compare_with_full(model: str, metric: Metric, corrected: Floats, full: Floats, offsets: Ints) -> CorrectionCheck:
    """Compare corrected and true gains of the same rows, averaged by user."""
    counts = np.diff(offsets)
    estimated, true = (np.add.reduceat(gains, offsets[:-1]) / counts for gains in (corrected, full))
    gaps = estimated - true
    error = float(np.std(gaps, ddof=1) / np.sqrt(counts.size)) if counts.size > 1 else None
    return CorrectionCheck(
        model, str(metric), counts.size, float(estimated.mean()), float(true.mean()), float(gaps.mean()), error
    )


def correction_lines(checks: Sequence[CorrectionCheck]) -> Iterator[str]:
    """Yield one line per metric on the differences between corrected numbers and those of full ranking."""
    for metric in dict.fromkeys(check.metric for check in checks):
        rows = [check for check in checks if check.metric == metric]
        gaps = ", ".join(f"{check.model} {_gap(check)}" for check in rows)
        yield f"{metric}: corrected minus full ranking, on {rows[0].users:,} users: {gaps}"


def _gap(check: CorrectionCheck) -> str:
    error = "" if check.std_error is None else f" (standard error {check.std_error:.4f})"
    return f"{check.difference:+.4f}{error}"


def in_full(contest: Contest, chosen: Ints) -> Contest:
    """The contest of some judged users among their positives and all items that could have been drawn.

    Parameters
    ----------
    contest : Contest
        A contest under a corrected `sampled` rule.
    chosen : array
        Numbers of the judged users, from 0, ascending.
    """
    assert contest.touched is not None
    starts, ends = contest.offsets[chosen], contest.offsets[chosen + 1]
    rows = spans(starts, ends - starts)
    touched_offsets, places = contest.touched
    barred = [
        np.setdiff1d(places[touched_offsets[k] : touched_offsets[k + 1]], contest.columns[start:end])
        for k, start, end in zip(chosen, starts, ends, strict=True)
    ]
    lengths = np.array([len(excluded) for excluded in barred])
    return replace(
        contest,
        users=contest.users[chosen],
        offsets=offsets_of(ends - starts),
        items=contest.items[rows],
        columns=contest.columns[rows],
        listed_offsets=offsets_of(lengths),
        listed=np.concatenate(barred).astype(np.int32),
        among=False,
        candidates=(contest.catalogue_size - lengths).astype(np.int32),
        values=None if contest.values is None else contest.values[rows],
        touched=None,
    )
