"""`Judge`: tries an input and says which class its outcome is of."""

import json
import random
import shutil
import tempfile
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from families import FAMILIES
from families.family import Family, HalfWritten, Recipe, Silent, Traceback

from unskew.errors import UnskewError, UnskewWarning

GOOD = ("accepted", "refused")
BAD = ("traceback", "memory", "crash", "hang", "silent", "half-written")
CORPUS = Path(__file__).parent / "corpus"


@dataclass(frozen=True)
class Case:
    """An input by its name: the recipe is made from nothing else."""

    family: str
    seed: int
    index: int

    @property
    def command(self) -> str:
        """What tries this input again."""
        return f"python tests/fuzz/run.py 1 --family {self.family} --seed {self.seed} --index {self.index}"


class Judge:
    """Tries inputs one after the other, each in an empty folder."""

    def __init__(self) -> None:
        self.place = Path(tempfile.mkdtemp(prefix="unskew-fuzz-"))
        self.families: dict[str, Family] = {}

    def close(self) -> None:
        """Remove all files."""
        shutil.rmtree(self.place, ignore_errors=True)

    def family(self, name: str) -> Family:
        """The family of that name, with the files that it has prepared."""
        if name not in self.families:
            folder = self.place / f"of-{name}"
            folder.mkdir()
            self.families[name] = FAMILIES[name](folder)
        return self.families[name]

    def recipe(self, case: Case) -> Recipe:
        """The input of that name."""
        return self.family(case.family).make(random.Random(f"{case.family}/{case.seed}/{case.index}"))

    def judge(self, name: str, recipe: Recipe) -> tuple[str, str]:
        """The class of the outcome, and what to say about a bad one."""
        family, folder = self.family(name), self.place / "input"
        folder.mkdir()
        try:
            with strict():
                family.attempt(recipe, folder)
        except BaseException as error:  # noqa: BLE001  # a panic of a library in Rust is not an Exception
            return _class_of(error)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        return "accepted", ""


@contextmanager
def strict() -> Iterator[None]:
    """Any warning is an error, such as that of an overflow; only warnings of the program about its numbers are not."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", UnskewWarning)
        yield


def _class_of(error: BaseException) -> tuple[str, str]:
    """The class of an error."""
    if isinstance(error, KeyboardInterrupt):
        raise error
    for kind, name in ((Silent, "silent"), (HalfWritten, "half-written"), (Traceback, "traceback")):
        if isinstance(error, kind):
            return name, str(error)
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, MemoryError):  # also where it became a refusal, because memory was asked for
            return "memory", "".join(traceback.format_exception(cause)[-6:])
        cause = cause.__cause__ or cause.__context__
    if isinstance(error, UnskewError):
        return "refused", str(error)
    return "traceback", "".join(traceback.format_exception(error)[-8:])


@dataclass(frozen=True)
class Kept:
    """An input of the corpus: it once had a bad outcome."""

    name: str
    family: str
    outcome: str  # the class that it must have; empty for any that is not bad
    recipe: Recipe


def corpus() -> list[Kept]:
    """The inputs of the corpus, one file per family."""
    return [
        Kept(f"{path.stem}, {name}", path.stem, entry.get("outcome", ""), entry["recipe"])
        for path in sorted(CORPUS.glob("*.json"))
        for name, entry in json.loads(path.read_text(encoding="utf-8")).items()
    ]
