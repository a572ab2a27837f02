"""Names of entries that differ in their seed only, such as ``als/seed0`` and ``als/seed1``."""

import re

_MEMBER = re.compile(r"(.+)/seed[-_]?(\w+)")


def base_of(name: str) -> str | None:
    """The model that an entry is a seed of: ``als`` for ``als/seed0``; None for a name without a seed."""
    match = _MEMBER.fullmatch(name)
    return None if match is None else match[1]


def seed_of(name: str) -> int:
    """The number of the seed in the name of an entry: 1 for ``als/seed1``; 0 for a name without one.

    Examples
    --------
    >>> seed_of("als/seed12"), seed_of("als"), seed_of("als/seed_b")
    (12, 0, 0)
    """
    match = _MEMBER.fullmatch(name)
    return int(match[2]) if match is not None and match[2].isdecimal() else 0
