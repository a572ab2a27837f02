"""`Family`: a kind of hostile input, how one is made, and what must hold when it is tried."""

import random
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any, ClassVar

Recipe = dict[str, Any]
"""An input as plain data: texts, numbers, lists and objects of JSON; bytes are texts of Latin-1."""


class Silent(Exception):  # noqa: N818
    """An input was accepted, and the result is not what the input says."""


class HalfWritten(Exception):  # noqa: N818
    """A file was left over that is not a whole result."""


class Traceback(Exception):  # noqa: N818
    """An error that the program itself calls a bug."""


class Family(ABC):
    """A family of inputs.

    A new family is a subclass in a file of its own in this folder; it is found by its name. An input is made from a
    generator of random numbers alone, so that family, seed and index name it.
    """

    name: ClassVar[str] = ""
    share: ClassVar[int] = 1
    """How many of the inputs are of this family, relative to others; those that take long have a small one."""
    members: ClassVar[dict[str, type["Family"]]] = {}

    def __init_subclass__(cls) -> None:
        if cls.name:
            cls.members[cls.name] = cls

    def __init__(self, folder: Path) -> None:
        """Keep a folder for files that the program writes once, and that inputs change."""
        self.folder = folder

    @abstractmethod
    def make(self, rng: random.Random) -> Recipe:
        """An input."""

    @abstractmethod
    def attempt(self, recipe: Recipe, folder: Path) -> None:
        """Give the input to the program, in an empty folder.

        An `UnskewError` means that it was refused. Without an error it was accepted, and what came out was compared
        with another reading of the input; `Silent` says that they differ.
        """
