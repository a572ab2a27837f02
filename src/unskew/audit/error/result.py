"""`ErrorAudit`: the results of an error audit, by world, value, pair and model."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from math import fsum, sqrt
from typing import TYPE_CHECKING, Any, TypeAlias

from unskew.arrays import Floats
from unskew.audit.error.agreement import Span, span_of_shares, span_of_sizes
from unskew.audit.error.matched_world import Likened
from unskew.audit.error.stand_ins import Likeness

if TYPE_CHECKING:
    from unskew.audit.error.recommendation import Recommendation

ORACLE, POPULAR = "oracle", "popular"
POWER = 0.8
"""Power at which the smallest difference is detectable."""
POPULATION, OWN_USERS = "population", "own users"
PairKey: TypeAlias = tuple[str, str, str, str, bool]


def labelled(estimator: str, propensity: str) -> str:
    """The estimator as tables name it."""
    return f"{estimator}, true P" if propensity == "true" else estimator


@dataclass(frozen=True)
class ValueRow:
    """How wrong an estimate of one recommender is in the simulated world.

    `truth`, `bias` (mean of estimate minus truth), `error` (root mean square) and `coverage` of the interval are over
    all runs. `about` names the true value that the interval should cover: that of the `population` the users come from,
    or that of the `own users`. `role` is ``reference``, or how a model of the user took part.
    """

    recommender: str
    metric: str
    estimator: str
    propensity: str
    runs: int
    about: str
    truth: float | None
    bias: float | None
    error: float | None
    coverage: float | None
    role: str = "reference"

    @property
    def label(self) -> str:
        """The estimator, and that its propensities are the true ones."""
        return labelled(self.estimator, self.propensity)


@dataclass(frozen=True)
class PairRow:
    """How wrong the estimated difference of two recommenders is, first minus second.

    `observed` is the difference on the user's own held-out rows; None for the reference pair, which exists only in the
    world. `level` is the mean value of the two, to judge the size of a difference. `wrong_winner` is the probability
    that the one that seems worse is the better one: counted over runs for the reference, by a normal approximation at
    the observed difference otherwise. `smallest` is the smallest true difference that the interval detects with power
    80 %.
    """

    a: str
    b: str
    metric: str
    estimator: str
    propensity: str
    runs: int
    about: str
    reference: bool
    level: float | None
    true_gap: float | None
    observed: float | None
    bias: float | None
    error: float | None
    coverage: float | None
    wrong_winner: float | None
    smallest: float | None

    @property
    def key(self) -> PairKey:
        """The two recommenders, the metric, the label, and whether it is the reference."""
        return self.a, self.b, self.metric, self.label, self.reference

    @property
    def smallest_share(self) -> float | None:
        """The smallest detectable difference as a share of the value."""
        return self.smallest / self.level if self.smallest is not None and self.level else None

    @property
    def label(self) -> str:
        """The estimator, and that its propensities are the true ones."""
        return labelled(self.estimator, self.propensity)


@dataclass(frozen=True)
class ModelRow:
    """How a model of the user took part in the simulation.

    `how` is ``trained`` or ``stand-in``. A stand-in has parameters, see `StandIn`. `wanted` and `reached` are the naive
    value of `metric` and the popularity of the lists, of the model and of its stand-in.
    """

    model: str
    how: str
    metric: str = ""
    taste: float | None = None
    lean: float | None = None
    shared: float | None = None
    wanted: Likeness | None = None
    reached: Likeness | None = None

    @property
    def popularity_weight(self) -> float | None:
        """How strongly a stand-in favours popular items."""
        return self.lean

    @property
    def is_near(self) -> bool:
        """Whether a stand-in is similar to its model; true for a trained model."""
        return self.wanted is None or self.reached is None or self.wanted.is_near(self.reached)


@dataclass(frozen=True, eq=False)
class WorldResult:
    """One world: how well it fits, whether it is accepted, and the results in it."""

    likened: Likened
    why: str = ""  # why it is refused; empty if it is accepted
    runs: int = 0  # simulated evaluations of the reference pair; 0 in a world that was refused before any
    auc: float | None = None  # true AUC of its perfect recommender
    values: tuple[ValueRow, ...] = ()
    pairs: tuple[PairRow, ...] = ()

    @property
    def accepted(self) -> bool:
        """Whether its results count."""
        return not self.why

    def to_dict(self) -> dict[str, Any]:
        """As in the JSON."""
        return {
            **self.likened.to_dict(),
            "accepted": self.accepted,
            "why": self.why,
            "runs": self.runs,
            "oracle_auc": self.auc,
            "values": [asdict(row) for row in self.values],
            "pairs": [asdict(row) for row in self.pairs],
        }


@dataclass(frozen=True, eq=False)
class ErrorAudit:
    """The results of an error audit: how wrong an evaluation on a log like this can be."""

    worlds: tuple[WorldResult, ...]  # accepted or not
    depth: str
    metrics: tuple[str, ...]
    model_runs: int  # simulated evaluations of the user's models, over all worlds
    level: float  # of the intervals
    holdout: float  # share of the rows that is held out in the worlds
    recommended: "tuple[Recommendation, ...]" = ()  # one per metric; empty if no world is accepted
    models: tuple[ModelRow, ...] = ()  # in the first world in which they were simulated
    missing: str = ""  # a hint on what to give to learn more; may be empty
    seconds: float = 0.0  # not part of the JSON
    errors: Mapping[tuple[str, str, str, str], Floats] = field(default_factory=dict)

    @property
    def accepted(self) -> list[WorldResult]:
        """The accepted worlds."""
        return [world for world in self.worlds if world.accepted]

    @property
    def refused(self) -> list[WorldResult]:
        """The refused worlds."""
        return [world for world in self.worlds if not world.accepted]

    @cached_property
    def likened(self) -> Likened:
        """The accepted world that is nearest to the log, or the nearest of all if none is accepted."""
        worlds = [world.likened for world in self.accepted or self.worlds]
        return min(worlds, key=lambda each: 0.0 if each.loss is None else each.loss)

    @property
    def runs(self) -> int:
        """Simulated evaluations of the reference pair in accepted worlds."""
        return sum(world.runs for world in self.accepted)

    @cached_property
    def values(self) -> tuple[ValueRow, ...]:
        """Values over all accepted worlds: means, and root mean square errors."""
        rows = [row for world in self.accepted for row in world.values]
        keys = dict.fromkeys((row.recommender, row.metric, row.label, row.role) for row in rows)
        return tuple(
            _pooled_value([row for row in rows if (row.recommender, row.metric, row.label, row.role) == key])
            for key in keys
        )

    @cached_property
    def pairs(self) -> tuple[PairRow, ...]:
        """Pairs over all accepted worlds: means, root mean square errors, and the largest detectable difference."""
        keys = dict.fromkeys(row.key for world in self.accepted for row in world.pairs)
        return tuple(_pooled_pair(self.rows_of(key)) for key in keys)

    def rows_of(self, key: PairKey) -> list[PairRow]:
        """The rows with this key, one for each accepted world that has it."""
        return [row for world in self.accepted for row in world.pairs if row.key == key]

    def wrong_span(self, row: PairRow) -> Span | None:
        """The chance of a wrong winner over the accepted worlds."""
        known = [each for each in self.rows_of(row.key) if each.wrong_winner is not None]
        shares = [each.wrong_winner for each in known if each.wrong_winner is not None]
        return span_of_shares(shares, [each.runs for each in known] if row.reference else None)

    def smallest_span(self, row: PairRow) -> Span | None:
        """The smallest detectable difference as a share of the value, over the accepted worlds."""
        known = [each.smallest_share for each in self.rows_of(row.key)]
        return span_of_sizes([share for share in known if share is not None])

    @property
    def reference(self) -> list[PairRow]:
        """Rows of the oracle against the popular list."""
        return [row for row in self.pairs if row.reference]

    @property
    def model_pairs(self) -> list[PairRow]:
        """Rows of the user's models."""
        return [row for row in self.pairs if not row.reference]

    def to_dict(self) -> dict[str, Any]:
        """As in the JSON."""
        return {
            "world": self.likened.to_dict(),
            "depth": self.depth,
            "runs": self.runs,
            "model_runs": self.model_runs,
            "level": self.level,
            "power": POWER,
            "holdout": self.holdout,
            "values": [asdict(row) for row in self.values],
            "pairs": [{**asdict(row), **self._spans(row)} for row in self.pairs],
            "models": [asdict(row) for row in self.models],
            "worlds": [world.to_dict() for world in self.worlds],
            "recommended": [each.to_dict() for each in self.recommended],
        }

    def _spans(self, row: PairRow) -> dict[str, Any]:
        spans = {"wrong_winner_span": self.wrong_span(row), "smallest_share_span": self.smallest_span(row)}
        return {name: None if span is None else asdict(span) for name, span in spans.items()}


def _pooled_value(rows: Sequence[ValueRow]) -> ValueRow:
    if len(rows) == 1:
        return rows[0]
    return replace(
        rows[0],
        runs=sum(row.runs for row in rows),
        truth=_mean([row.truth for row in rows]),
        bias=_mean([row.bias for row in rows]),
        error=_root([row.error for row in rows]),
        coverage=_mean([row.coverage for row in rows]),
    )


def _pooled_pair(rows: Sequence[PairRow]) -> PairRow:
    if len(rows) == 1:
        return rows[0]
    sizes = [row.smallest for row in rows if row.smallest is not None]
    return replace(
        rows[0],
        runs=sum(row.runs for row in rows),
        level=_mean([row.level for row in rows]),
        true_gap=_mean([row.true_gap for row in rows]),
        bias=_mean([row.bias for row in rows]),
        error=_root([row.error for row in rows]),
        coverage=_mean([row.coverage for row in rows]),
        wrong_winner=_mean([row.wrong_winner for row in rows]),
        smallest=max(sizes) if sizes else None,
    )


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fsum(known) / len(known) if known else None


def _root(values: Sequence[float | None]) -> float | None:
    squares = _mean([None if value is None else value * value for value in values])
    return None if squares is None else sqrt(squares)
