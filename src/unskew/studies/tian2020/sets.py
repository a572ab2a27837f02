"""The data sets of the study, and the worlds that were calibrated to them."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from unskew.calibration import Calibration, LogFacts, calibrate
from unskew.data import Interactions
from unskew.data.sources import get_source
from unskew.errors import DataError, Option
from unskew.simulators.lda import Lda
from unskew.simulators.preference_world import PreferenceWorld
from unskew.studies.framework.study import Context
from unskew.studies.tian2020.printed import COUNTS, WORLDS

FOLDER = Path(__file__).parent / "parameters"
"""Calibrations that come with the package, a file a data set."""
FULL_SEARCH, FAST_SEARCH = (60, 150, 25), (8, 8, 4)
"""Evaluations of each single objective, of the joint one, and how many of the first are quasi-random."""
FAST_USERS = 500
NOT_HERE = "the parameters were never published, so worlds are calibrated anew"


@dataclass(frozen=True)
class DataSet:
    """A data set that worlds are calibrated to.

    Parameters
    ----------
    name : str
    source : str
        The source that reads it.
    paper : str
        The paper's set whose numbers stand beside: itself, or the one it stands in for.
    stands_in : bool
        Whether it is not the paper's own.
    """

    name: str
    source: str
    paper: str
    stands_in: bool = False

    @property
    def note(self) -> str:
        """What to know of a number beside the paper's."""
        of = f"{self.name} stands in for {self.paper}, and " if self.stands_in else ""
        return f"{of}{NOT_HERE}"


SETS: Mapping[str, DataSet] = {
    each.name: each
    for each in (
        DataSet("ml-1m", "ml-1m", "ML1M"),
        DataSet("amazon-digital-music", "amazon-digital-music", "AZM5", stands_in=True),
        DataSet("steam-200k", "steam-200k", "STMV1", stands_in=True),
        DataSet("amazon-digital-music-5core", "amazon-digital-music", "AZM5"),
        DataSet("steam-australian", "steam-australian", "STMV1"),
    )
}
"""The first three come with parameters; the last two are the paper's own, where the user has them."""
NEEDS = tuple(dict.fromkeys(each.source for each in SETS.values()))


def parameters(data: str, cache: Path | None = None) -> Calibration | None:
    """The calibration of a data set: that of the package, else what was put into a cache; None when there is neither.

    Parameters
    ----------
    data : str
        One of `SETS`.
    cache : Path, optional
    """
    places = [FOLDER] if cache is None else [FOLDER, _kept(cache)]
    for place in places:
        if (place / f"{data}.json").exists():
            return Calibration.read(place / f"{data}.json")
    return None


def calibration_of(context: Context, data: str) -> Calibration | None:
    """The worlds of a data set, calibrated anew when asked; None without parameters."""
    if not context.tune:
        return context.once(f"tian2020 parameters {data}", lambda: parameters(data, context.cache))
    return context.once(f"tian2020 tuned {data}", lambda: _tuned(context, data))


def sets_at_hand(context: Context) -> tuple[str, ...]:
    """Data sets with parameters."""
    return tuple(data for data in SETS if calibration_of(context, data) is not None)


def world_of(context: Context, data: str, kind: str) -> PreferenceWorld:
    """The calibrated world, of fewer users in the small version; topics tell how often an item was chosen."""
    calibration = calibration_of(context, data)
    if calibration is None:
        raise DataError(f"{data} has no parameters; {absence_of(context, data)}")
    world = calibration.world(kind)
    if isinstance(world, Lda):
        world = replace(world, graded=True)
    return replace(world, users=min(world.users, FAST_USERS)) if context.fast else world


def log_of(context: Context, data: str) -> Interactions | None:
    """The log that worlds are compared with; None when it is not at hand, or the files here are of another set."""
    return context.once(f"tian2020 log {data}", lambda: _read(context, data))


def absence_of(context: Context, data: str) -> str:
    """Why a data set takes no part, and what to do about it."""
    if log_of(context, data) is None:
        return context.absence(SETS[data].source)
    if context.cache is None:
        return (
            f"{data} is here, but no parameters are: leave {Option('no_cache')} out, and {Option('tune', True)} "
            "searches for them"
        )
    source = get_source(SETS[data].source)
    worlds = " ".join(Option("world", kind).flag for kind in WORLDS)
    place = _kept(context.cache) / f"{data}.json"
    return (
        f"{data} is here, but no parameters are: 'unskew calibrate {source.name} {worlds} "
        f"{Option('out', place).flag}' makes them, or add {Option('tune', True)} to this command"
    )


def provenance(context: Context) -> tuple[str, ...]:
    """Where the parameters come from, data set by data set, and what is missing."""
    told = []
    for data, each in SETS.items():
        found = calibration_of(context, data)
        if found is None:
            if not each.stands_in:
                told.append(f"{data}, the paper's {each.paper}: {absence_of(context, data)}.")
            continue
        short = " A short search, so provisional." if found.settings["joint"] < FULL_SEARCH[1] else ""
        what = f"stands in for {each.paper}" if each.stands_in else f"the paper's {each.paper}"
        told.append(
            f"{data} ({what}; {found.log.users:,} users, {found.log.items:,} items, {found.log.rows:,} rows): worlds "
            f"by '{found.command}'.{short}"
        )
    return tuple(told)


def _read(context: Context, data: str) -> Interactions | None:
    each = SETS[data]
    if context.presence(each.source) == "absent":
        return None
    log = get_source(each.source).read(context.place(each.source))
    facts = LogFacts.of(log)
    own = (facts.users, facts.items, facts.rows) == COUNTS[each.paper]
    return log if own is not each.stands_in else None


def _tuned(context: Context, data: str) -> Calibration | None:
    """Search, or go on with a search; what it found is kept where `parameters` looks."""
    log = log_of(context, data)
    if log is None or (context.fast and data not in _packaged()):
        return None
    singles, joint, starts = FAST_SEARCH if context.fast else FULL_SEARCH
    name = f"{data}-{'fast-' if context.fast else ''}seed{context.seed}"
    folder = context.cached("tian2020", "calibrations", name)
    found = calibrate(
        log,
        WORLDS,
        singles=singles,
        joint=joint,
        starts=starts,
        seed=context.seed,
        folder=folder,
        coarse=context.fast,
        progress=context.progress,
    )
    if context.cache is not None and not context.fast:
        place = _kept(context.cache)
        place.mkdir(parents=True, exist_ok=True)
        found.to_json(place / f"{data}.json")
    return found


def _packaged() -> set[str]:
    return {path.stem for path in FOLDER.iterdir()}


def _kept(cache: Path) -> Path:
    return cache / "tian2020" / "parameters"
