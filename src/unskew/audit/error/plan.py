"""`Plan`: how much work an error audit does, and in which worlds."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unskew.errors import ConfigError, did_you_mean
from unskew.notation import parse_word

if TYPE_CHECKING:
    from unskew.calibration import Calibration
    from unskew.simulators import PreferenceWorld

NONE = "none"
KINDS = ("lda-pop", "ibp-pop", "lda-unif", "ibp-unif")
"""The kinds of world when none is named.

Likes come from topics (``lda``) or from popularity alone (``ibp``), and users consume the popular ones first (``-pop``)
or anything they like (``-unif``). A log shows what was consumed, not why. So worlds with and without popularity bias in
the observations may resemble it equally well, and all are used.
"""


@dataclass(frozen=True)
class Depth:
    """The amount of work of a depth."""

    searches: int  # per kind of world, for all four kinds; a single kind gets the searches of all four
    evaluations: int  # worlds that each search tries; the first 40 % are shared by the searches of a kind
    runs: int  # simulated evaluations of the reference pair, over all worlds
    model_runs: int  # simulated evaluations of the user's models, which take longer
    rows: int  # a longer log is represented by a sample of its users
    likes: int  # a larger world is drawn with fewer users
    effort: float  # for training models again in each run (`Model.effort`); fewer runs when that is not enough


DEPTHS: Mapping[str, Depth] = {
    "quick": Depth(searches=1, evaluations=16, runs=24, model_runs=20, rows=100_000, likes=250_000, effort=20),
    "standard": Depth(searches=3, evaluations=40, runs=120, model_runs=60, rows=150_000, likes=1_000_000, effort=180),
    "deep": Depth(searches=5, evaluations=120, runs=500, model_runs=300, rows=1_500_000, likes=2_000_000, effort=2400),
}


@dataclass(frozen=True, eq=False)
class Plan:
    """An error audit as it was asked for."""

    name: str  # of the depth
    depth: Depth  # with the numbers that were given in place of its defaults
    kinds: tuple[str, ...] = ()  # of the worlds to calibrate; empty if worlds are given
    given: "Mapping[str, PreferenceWorld]" = field(default_factory=dict)  # by kind; "" for a world in full
    own_users: bool = False  # whether that world sets its number of users
    saved: "Calibration | None" = None
    exact: bool = False  # whether the number of runs was given, and is kept however long they take


def plan_error(
    depth: str = NONE,
    *,
    world: str | None = None,
    parameters: "str | Path | Calibration | None" = None,
    runs: int | None = None,
    evaluations: int | None = None,
) -> Plan | None:
    """Return the plan of an error audit after checking the arguments; None without a simulation.

    `world` is a kind to calibrate, as ``lda-pop``, or a world in full, as ``ibp(alpha=80, c=2, sigma=0.4)``;
    `parameters` are what ``unskew calibrate`` saved. `runs` and `evaluations` replace those of the depth.
    """
    names = (NONE, *DEPTHS)
    if depth not in names:
        raise ConfigError(f"unknown depth {depth!r}: choose {', '.join(names[:-1])} or {names[-1]}")
    asked = {"world": world, "parameters": parameters, "runs": runs, "evaluations": evaluations}
    if depth == NONE:
        extra = [name for name, value in asked.items() if value is not None]
        if extra:
            raise ConfigError(
                f"{extra[0]} is for the simulation, but depth none does not simulate; choose a depth, as standard"
            )
        return None
    for name, number, least in (("runs", runs, 2), ("evaluations", evaluations, 2)):
        if number is not None and number < least:
            raise ConfigError(f"{name} {number}: expected {least} or more")
    chosen = _with(DEPTHS[depth], runs, evaluations)
    where: dict[str, Any] = _saved(parameters, world) if parameters is not None else _world(world)
    return Plan(depth, chosen, exact=runs is not None, **where)


def _with(depth: Depth, runs: int | None, evaluations: int | None) -> Depth:
    if runs is not None:
        depth = replace(depth, runs=runs, model_runs=runs)
    return depth if evaluations is None else replace(depth, evaluations=evaluations)


def _world(word: str | None) -> dict[str, Any]:
    from unskew.calibration import KINDS as ALL
    from unskew.simulators import PreferenceWorld, WorldModel

    if word is None or word in ALL:
        return {"kinds": KINDS if word is None else (word,)}
    parsed = parse_word(word)
    worlds = {member.word: member for member in WorldModel.members()}
    if parsed.name not in worlds:
        raise ConfigError(f"unknown world {word!r}{did_you_mean(word, [*ALL, *worlds])}")
    given = WorldModel.from_word(parsed)
    if not isinstance(given, PreferenceWorld):
        raise ConfigError(f"{parsed.name} has no likes and profile sizes to fit to a log; use {', '.join(ALL)}")
    return {"given": {"": given}, "own_users": any(name == "users" for name, _ in parsed.options)}


def _saved(parameters: "str | Path | Calibration", kind: str | None) -> dict[str, Any]:
    from unskew.calibration import Calibration

    saved = parameters if isinstance(parameters, Calibration) else Calibration.read(parameters)
    chosen = [each.kind for each in saved.worlds] if kind is None else [kind]
    return {"given": {each: saved.world(each) for each in chosen}, "saved": saved}
