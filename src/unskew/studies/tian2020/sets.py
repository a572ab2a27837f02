"""The data sets of the study, and the worlds that were calibrated to them."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from unskew.calibration import Calibration, LogFacts, calibrate
from unskew.data import Interactions
from unskew.data.sources import get_source
from unskew.errors import DataError, Option
from unskew.simulators.lda import Lda
from unskew.simulators.preference_world import PreferenceWorld
from unskew.studies.framework.datasets import DataSet, by_name
from unskew.studies.framework.study import Context, Size
from unskew.studies.tian2020.printed import COUNTS, WORLDS

FOLDER = Path(__file__).parent / "parameters"
"""Calibrations that come with the package, one file per data set."""
SEARCH: Size[Any] = Size({"singles": 60, "joint": 150, "starts": 25}, {"singles": 8, "joint": 8, "starts": 4})
"""Evaluations of each single objective, of the joint one, and how many of the first are quasi-random."""
SETS = by_name(
    (
        DataSet("ml-1m", "ML1M"),
        DataSet("amazon-digital-music", "AZM5", stands_in=True),
        DataSet("steam-200k", "STMV1", stands_in=True),
        DataSet("amazon-digital-music-5core", "AZM5", source="amazon-digital-music"),
        DataSet("steam-australian", "STMV1"),
    )
)
"""The first three come with parameters; the last two are the paper's own, where the user has them."""


def note_of(data: str) -> str:
    """The note of a number next to the paper's."""
    replaced = f"{data} replaces {SETS[data].paper}, and " if SETS[data].stands_in else ""
    return f"{replaced}the authors' parameters were not published, so worlds were calibrated for this study"


def sources_of(names: Iterable[str]) -> tuple[str, ...]:
    """The sources that read these data sets, each once."""
    return tuple(dict.fromkeys(SETS[data].reader for data in names))


NEEDS = sources_of(SETS)


def parameters(data: str, cache: Path | None = None) -> Calibration | None:
    """The calibration of a data set: that of the package, else that of a cache; None when there is neither."""
    paths = (place / f"{data}.json" for place in ([FOLDER] if cache is None else [FOLDER, _kept(cache)]))
    return next((Calibration.read(path) for path in paths if path.exists()), None)


def calibration_of(context: Context, data: str) -> Calibration | None:
    """The worlds of a data set, calibrated again when asked; None without parameters."""
    if not context.tune:
        return context.once(f"tian2020 parameters {data}", lambda: parameters(data, context.cache))
    return context.once(f"tian2020 tuned {data}", lambda: _tuned(context, data))


def calibrations(context: Context) -> dict[str, Calibration]:
    """The data sets with parameters, and their worlds."""
    pairs = ((data, calibration_of(context, data)) for data in SETS)
    return {data: calibration for data, calibration in pairs if calibration is not None}


def world_of(context: Context, data: str, kind: str, users: int | None = None) -> PreferenceWorld:
    """The calibrated world, of at most `users` users; topics say how often an item was chosen."""
    calibration = calibration_of(context, data)
    if calibration is None:
        raise DataError(f"{data} has no parameters; {absence_of(context, data)}")
    world = calibration.world(kind)
    if isinstance(world, Lda):
        world = replace(world, graded=True)
    return world if users is None else replace(world, users=min(world.users, users))


def log_of(context: Context, data: str) -> Interactions | None:
    """The log that worlds are compared with; None if it is not available, or the files are of another data set."""

    def read() -> Interactions | None:
        each = SETS[data]
        if context.presence(each.reader) == "absent":
            return None
        log = get_source(each.reader).read(context.place(each.reader))
        facts = LogFacts.of(log)
        is_the_papers = (facts.users, facts.items, facts.rows) == COUNTS[each.paper]
        return log if is_the_papers is not each.stands_in else None

    return context.once(f"tian2020 log {data}", read)


def absence_of(context: Context, data: str) -> str:
    """Why a data set is not used, and what to do about it."""
    if log_of(context, data) is None:
        return context.absence(SETS[data].reader)
    if context.cache is None:
        return (
            f"{data} is available but has no parameters: omit {Option('no_cache')}, and {Option('tune', True)} "
            "searches for them"
        )
    worlds = " ".join(Option("world", kind).flag for kind in WORLDS)
    place = _kept(context.cache) / f"{data}.json"
    return (
        f"{data} is available but has no parameters: compute them with 'unskew calibrate {SETS[data].reader} {worlds} "
        f"{Option('out', place).flag}', or add {Option('tune', True)} to this command"
    )


def provenance(context: Context) -> tuple[str, ...]:
    """Where the parameters come from, data set by data set, and what is missing."""
    notes = []
    for data, each in SETS.items():
        calibration = calibration_of(context, data)
        if calibration is None:
            if not each.stands_in:
                notes.append(f"{data}, the paper's {each.paper}: {absence_of(context, data)}.")
            continue
        log, short = calibration.log, calibration.settings["joint"] < SEARCH.full["joint"]
        what = f"replaces {each.paper}" if each.stands_in else f"the paper's {each.paper}"
        notes.append(
            f"{data} ({what}; {log.users:,} users, {log.items:,} items, {log.rows:,} rows): worlds by "
            f"'{calibration.command}'.{' A short search, so provisional.' if short else ''}"
        )
    return tuple(notes)


def _tuned(context: Context, data: str) -> Calibration | None:
    """Search, or continue a search; the result is kept where `parameters` looks."""
    log = log_of(context, data)
    if log is None or (context.fast and not (FOLDER / f"{data}.json").exists()):
        return None
    name = f"{data}-{'fast-' if context.fast else ''}seed{context.seed}"
    folder = context.cached("tian2020", "calibrations", name)
    seed, coarse, progress = context.seed, context.fast, context.progress
    search = context.size(SEARCH)
    calibration = calibrate(log, WORLDS, **search, seed=seed, folder=folder, coarse=coarse, progress=progress)
    if not context.fast and (place := context.cached("tian2020", "parameters")) is not None:
        calibration.to_json(place / f"{data}.json")
    return calibration


def _kept(cache: Path) -> Path:
    return cache / "tian2020" / "parameters"
