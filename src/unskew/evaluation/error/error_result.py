"""What an error audit found, row by row."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from unskew.arrays import Floats
from unskew.evaluation.error.likeness import Likened
from unskew.evaluation.error.standins import Likeness

ORACLE, POPULAR = "oracle", "popular"
POWER = 0.8
"""Of the smallest detectable difference."""
POPULATION, OWN_USERS = "population", "own users"


def labelled(estimator: str, propensity: str) -> str:
    """As in tables."""
    return f"{estimator}, true P" if propensity == "true" else estimator


@dataclass(frozen=True)
class ValueRow:
    """How wrong an estimate of one recommender is in the simulated world.

    `truth`, `bias` (mean of estimate minus truth), `error` (root mean square) and `coverage` of the interval are over
    all runs. `about` says whose true value coverage is of: that of the `population` the users come from, or of the
    `own users`. `role` is ``reference``, or how a model of the user took part.
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

    `observed` is the difference on the user's own held-out rows; None for the reference pair, which exists in the world
    alone. `level` is the mean value of the two, to see the size of a difference. `wrong_winner` is the probability that
    the one that seems worse is the better one: counted over runs for the reference, by a normal approximation at the
    observed difference otherwise. `smallest` is the smallest true difference that the interval detects with power 80 %.
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
    def label(self) -> str:
        """The estimator, and that its propensities are the true ones."""
        return labelled(self.estimator, self.propensity)


@dataclass(frozen=True)
class ModelRow:
    """How a model of the user took part in the simulation.

    `how` is ``trained`` or ``stand-in``. A stand-in has a `taste` and a `lean`, and `wanted` and `reached` tell how
    like the model it is: the naive value of `metric`, and the popularity of its lists.
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
    def is_near(self) -> bool:
        """Whether a stand-in is like its model; true for what was trained."""
        return self.wanted is None or self.reached is None or self.wanted.is_near(self.reached)


@dataclass(frozen=True, eq=False)
class ErrorAudit:
    """How wrong an evaluation on a log like this can be.

    Parameters
    ----------
    likened : Likened
        The world.
    depth : str
    runs, model_runs : int
        Simulated evaluations of the reference pair, and of the user's models (0 when there are none to judge).
    level : float
        Of the intervals.
    holdout : float
        Share of the rows that is held out in the world.
    values : tuple of ValueRow
    pairs : tuple of PairRow
    models : tuple of ModelRow
    missing : str
        What the user could give to learn more; empty when nothing.
    seconds : float
        How long it took; not part of the JSON.
    errors : mapping
        The error of each difference in each run, by (a, b, metric, label); for the charts.
    """

    likened: Likened
    depth: str
    runs: int
    model_runs: int
    level: float
    holdout: float
    values: tuple[ValueRow, ...]
    pairs: tuple[PairRow, ...]
    models: tuple[ModelRow, ...] = ()
    missing: str = ""
    seconds: float = 0.0
    errors: Mapping[tuple[str, str, str, str], Floats] = field(default_factory=dict)

    @property
    def metrics(self) -> list[str]:
        """Words of the metrics."""
        return list(dict.fromkeys(row.metric for row in self.pairs))

    @property
    def reference(self) -> list[PairRow]:
        """Rows of the oracle against the popular list."""
        return [row for row in self.pairs if row.reference]

    @property
    def own(self) -> list[PairRow]:
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
            "pairs": [asdict(row) for row in self.pairs],
            "models": [asdict(row) for row in self.models],
        }
