"""`Calibration`: worlds calibrated to a log, to print, as JSON or as a page."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from unskew.data import Interactions
from unskew.data.formats.json_file import Anything, Each, Least, conform, read_json
from unskew.data.writing import AsJson, saved
from unskew.display.text_table import plain_text
from unskew.errors import ConfigError, DataError, UnskewError, did_you_mean
from unskew.simulators.likeness import STATISTICS
from unskew.simulators.preference_world import PreferenceWorld
from unskew.simulators.world import WorldModel

if TYPE_CHECKING:
    from unskew.display.chart import Charts

Trace: TypeAlias = tuple[tuple[int, float], ...]
FORMAT = 1


@dataclass(frozen=True)
class LogFacts:
    """Name, size and fingerprint of a log.

    Parameters
    ----------
    name : str
    rows, users, items : int
        Users and items with a row.
    sha256 : str
    """

    name: str
    rows: int
    users: int
    items: int
    sha256: str

    @classmethod
    def of(cls, log: Interactions) -> "LogFacts":
        """The facts of a log."""
        users, items = int((log.user_counts > 0).sum()), int((log.item_counts > 0).sum())
        return cls(log.name, len(log), users, items, log.sha256)


@dataclass(frozen=True)
class Calibrated:
    """The world of a kind that comes nearest to a log.

    Parameters
    ----------
    kind : str
        As in ``ibp-pop``.
    word : str
        Of the world, with its parameters.
    divergences : dict
        Of each statistic, in nats.
    ratios : dict
        Divergences relative to the best of all worlds, or to a stated scale.
    loss : float
        Mean ratio minus 1; 0 would be as good as the best in all four statistics.
    singles : dict
        The smallest divergence of each statistic that a world of this kind reached.
    evaluations : int
    refused : int
        Number of evaluations whose world was too large to be drawn, or had no row.
    trace : dict
        Objective to (evaluation, value) at each improvement: a divergence, or the mean ratio under ``joint``.
    """

    kind: str
    word: str
    divergences: dict[str, float]
    ratios: dict[str, float]
    loss: float
    singles: dict[str, float]
    evaluations: int
    refused: int
    trace: dict[str, Trace]

    @cached_property
    def world(self) -> PreferenceWorld:
        """The world itself."""
        world = WorldModel.from_word(self.word)
        if not isinstance(world, PreferenceWorld):
            raise DataError(f"{self.word}: not a world with likes, so it cannot be the result of a calibration")
        return world


@dataclass(frozen=True)
class Calibration(AsJson):
    """Worlds calibrated to one log.

    Parameters
    ----------
    log : LogFacts
    worlds : tuple of Calibrated
    best : dict
        The smallest divergence of each statistic that any of the worlds reached.
    settings : dict
        Settings of the search: seed, evaluations of each stage, method, limits.
    versions : dict
        Of the packages that decide the numbers.
    command : str
        The command line that makes it again.
    """

    json_style: ClassVar[Mapping[str, Any]] = {"indent": 1}

    log: LogFacts
    worlds: tuple[Calibrated, ...]
    best: dict[str, float]
    settings: dict[str, Any]
    versions: dict[str, str]
    command: str

    def __getitem__(self, kind: str) -> Calibrated:
        """The result for a kind of world."""
        by_kind = {each.kind: each for each in self.worlds}
        if kind not in by_kind:
            raise ConfigError(f"no world {kind!r} was calibrated{did_you_mean(kind, by_kind)}")
        return by_kind[kind]

    def world(self, kind: str) -> PreferenceWorld:
        """The world of this kind that comes nearest to the log."""
        return self[kind].world

    @property
    def losses(self) -> dict[str, float]:
        """Mean relative loss of each kind."""
        return {each.kind: each.loss for each in self.worlds}

    def __str__(self) -> str:
        """Print the table."""
        from unskew.calibration.showing import print_calibration

        return plain_text(lambda console: print_calibration(self, console), 120)

    def _repr_html_(self) -> str:
        """What notebooks show: the nearest world, the trace of the search and a table."""
        from unskew.calibration.showing import calibration_html

        return calibration_html(self)

    @cached_property
    def charts(self) -> "Charts":
        """The traces of the search by name: ``joint``, and one of each statistic."""
        from unskew.calibration.showing import calibration_charts

        return calibration_charts(self)

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {"calibration": FORMAT, **asdict(self)}

    def to_html(self, path: str | Path | None = None) -> str:
        """As a page, also written to a file when one is named."""
        from unskew.calibration.showing import render_calibration

        return saved(render_calibration(self), path)

    @classmethod
    def read(cls, path: str | Path) -> "Calibration":
        """Read the JSON of a calibration.

        Raises
        ------
        DataError
            When the file is something else, or of another version.
        """
        hint = "'unskew calibrate' makes one"
        data = read_json(path, "the JSON of a calibration", hint)
        if not isinstance(data, dict) or "calibration" not in data:
            raise DataError(f"{path}: not the JSON of a calibration; {hint}")
        number = data.pop("calibration")
        if number != FORMAT:
            raise DataError(f"{path}: a calibration of format {number!r:.20}, not {FORMAT}; make it again")
        conform(data, _SCHEMA, f"{path}: not the JSON of a calibration", hint)
        try:
            return cls._from(data)
        except UnskewError as error:
            raise DataError(f"{path}: not the JSON of a calibration ({error}); {hint}") from error

    @classmethod
    def _from(cls, data: dict[str, Any]) -> "Calibration":
        worlds = []
        for each in data["worlds"]:
            if any(len(step) != 2 for steps in each["trace"].values() for step in steps):
                raise DataError("a step of a trace has an evaluation and a value")
            trace = {key: tuple((int(k), float(v)) for k, v in steps) for key, steps in each["trace"].items()}
            world = Calibrated(**{**each, "trace": trace})
            _ = world.world  # refuses a wrong word
            worlds.append(world)
        return cls(**{**data, "log": LogFacts(**data["log"]), "worlds": tuple(worlds)})


_BY_STATISTIC = dict.fromkeys(STATISTICS, float)
_SCHEMA = {
    "log": {"name": str, "rows": Least(1), "users": Least(1), "items": Least(1), "sha256": str},
    "worlds": [
        {
            "kind": str,
            "word": str,
            "divergences": _BY_STATISTIC,
            "ratios": _BY_STATISTIC,
            "loss": float,
            "singles": _BY_STATISTIC,
            "evaluations": Least(0),
            "refused": Least(0),
            "trace": Each([[float]]),
        }
    ],
    "best": _BY_STATISTIC,
    "settings": Each(Anything),
    "versions": Each(str),
    "command": str,
}


def improvements(values: Mapping[int, float]) -> Trace:
    """The keys and values at which values became better, in the order of the keys.

    Examples
    --------
    >>> improvements({0: 3.0, 1: 4.0, 2: 2.0, 3: 2.0})
    ((0, 3.0), (2, 2.0))
    """
    steps: list[tuple[int, float]] = []
    for number, value in values.items():
        if not steps or value < steps[-1][1]:
            steps.append((number, value))
    return tuple(steps)
