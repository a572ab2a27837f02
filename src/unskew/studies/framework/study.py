"""Study, Table and Context: a paper's experiments as tables that can be computed again, and what they are given."""

import hashlib
import time
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np

from unskew.blas import one_thread
from unskew.data.sources import Source, data_folder, get_source, status_of
from unskew.data.sources.status import content_sha256
from unskew.data.sources.text import find, other_form
from unskew.errors import ConfigError, DataError, Option, did_you_mean
from unskew.progress import Stage, counted, prefixed
from unskew.studies.framework.causes import Cause, with_causes
from unskew.studies.framework.claims import in_small_version
from unskew.studies.framework.result import Findings, Fingerprint, StudyResult, TableResult

_T = TypeVar("_T")
_Size_co = TypeVar("_Size_co", covariant=True)


@dataclass(frozen=True, eq=False)
class Size(Generic[_Size_co]):
    """A size of a study that can be changed for one run: ``Context(sizes={DRAWS: 3})``.

    Parameters
    ----------
    full, fast : any
        Its value in the full and in the small version; without the second, both have the first.
    trials : bool
        Whether it is the number of trials, which ``Context(trials=...)`` sets too.
    """

    full: _Size_co
    fast: _Size_co | None = None
    trials: bool = False


@dataclass(frozen=True, eq=False)
class Context:
    """What the function of a table is given.

    Parameters
    ----------
    seed : int
        All draws come from `rng`, which depends on it.
    fast : bool
        Whether a small version will do.
    tune : bool
        Whether settings are searched for again, instead of taken as recorded in the study.
    trials : int, optional
        How many trials, where the study leaves that open.
    folder : Path, optional
        Where data sets are kept, each in a folder of its name; by default `data_folder`.
    progress : callable, optional
        Called as ``progress(stage, done, total)``.
    cache : Path, optional
        A folder where trained models are kept, so that another table, or a run after a stop, need not train them again.
    sizes : mapping, optional
        Sizes of this run, instead of those of the full or the small version.
    """

    seed: int = 0
    fast: bool = False
    tune: bool = False
    trials: int | None = None
    folder: Path | None = None
    progress: Stage | None = None
    cache: Path | None = None
    sizes: Mapping[Size[Any], Any] = field(default_factory=dict)
    _kept: dict[str, Any] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        if self.seed < 0:
            raise ConfigError(f"seed {self.seed} must be 0 or more")
        if self.trials is not None and self.trials < 2:
            raise ConfigError(f"trials {self.trials} must be at least 2; a spread needs two")

    def rng(self, *purpose: str | int) -> np.random.Generator:
        """A generator of its own for each purpose, so that one table's draws do not move another's."""
        words = [zlib.crc32(str(word).encode()) for word in purpose]
        return np.random.default_rng([self.seed, *words])

    def size(self, size: Size[_T]) -> _T:
        """The size asked for, else that of the full or the small version."""
        asked = self.sizes.get(size, self.trials if size.trials else None)
        if asked is None:
            return size.fast if self.fast and size.fast is not None else size.full
        value: _T = asked
        return value

    def report(self, stage: str, done: int, total: int) -> None:
        """Report how far a stage is."""
        if self.progress is not None:
            self.progress(stage, done, total)

    def counted(self, stage: str, pieces: Collection[_T]) -> Iterator[_T]:
        """Each piece of a stage's work in turn, while reporting how far the stage is."""
        return counted(self.progress, stage, pieces)

    def once(self, name: str, make: Callable[[], _T]) -> _T:
        """A value that several tables need, made by the first of them."""
        if name not in self._kept:
            self._kept[name] = make()
        value: _T = self._kept[name]
        return value

    def cached(self, *parts: str) -> Path | None:
        """A folder of the cache, created if missing; None without a cache."""
        if self.cache is None:
            return None
        folder = self.cache.joinpath(*parts)
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise DataError(
                f"{folder}: cannot be made ({error.strerror or error}); choose another {Option('cache')}"
            ) from error
        return folder

    def place(self, name: str) -> Path:
        """The folder of a data set."""
        return (self.folder or data_folder()) / name

    def find(self, name: str) -> Source | None:
        """The data set, if all of it is available; read it with ``source.read(context.place(name))``."""
        return get_source(name) if self.presence(name) == "present" else None

    def presence(self, name: str) -> str:
        """Whether a data set is ``present``, ``partly`` available or ``absent``."""
        return status_of(get_source(name), self.place(name)).presence

    def absence(self, name: str) -> str:
        """What to do about a data set that is not available, for the note of a cell."""
        source, place = get_source(name), self.place(name)
        missing = f"{name} is not here" if self.presence(name) == "absent" else f"a file of {name} is not here"
        if other := other_form(place) if self.presence(name) == "absent" else "":
            missing += f"{other}; expected: {' or '.join(', '.join(form.files) for form in source.forms)}"
        by_hand = f"see {source.home}, and put its files into {place}"
        if source.download is None:
            return f"{missing}: {by_hand}"
        return f"{missing}: 'unskew datasets get {name}' fetches it, or {by_hand}"

    def fingerprint(self, name: str, *, part: bool = False) -> Fingerprint | None:
        """The sha256 of a data set's content; None when it is not available.

        That of its one file, unpacked and with LF line ends; of several files, that of the lines ``sha256  name``. Of a
        data set with several forms, it is that of the first form that is available. With `part`, a part of it is
        enough.
        """
        source = get_source(name) if part else self.find(name)
        if source is None:
            return None
        forms = [form.files for form in source.forms if form.whole or part]
        paths = {file: path for form in forms for file in form if (path := find(self.place(name), file)) is not None}
        if not part:
            paths = next(({file: paths[file] for file in form} for form in forms if paths.keys() >= form.keys()), {})
        digests = {file: content_sha256(path) for file, path in sorted(paths.items())}
        if not digests:
            return None
        if len(digests) == 1:
            return Fingerprint(name, *digests.values())
        lines = "".join(f"{digest}  {file}\n" for file, digest in sorted(digests.items()))
        return Fingerprint(name, hashlib.sha256(lines.encode()).hexdigest())


@dataclass(frozen=True)
class Table:
    """A table or figure of a paper.

    Parameters
    ----------
    name : str
        The word for it, as in ``table1``.
    title : str
        What it shows, in a line.
    run : callable
        Computes it.
    needs : tuple of str
        Names of the data sets it is computed from.
    """

    name: str
    title: str
    run: Callable[[Context], Findings]
    needs: tuple[str, ...] = ()


@dataclass(frozen=True)
class Study:
    """A paper whose tables and figures can be computed again.

    Parameters
    ----------
    name : str
        The word for it, as in ``schnabel2016``.
    title, reference : str
        Of the paper.
    tables : tuple of Table
        In the order in which they are run and shown.
    of_paper : bool
        Whether it is about a paper. The claims of a study of our own decide its exit status.
    causes : tuple of Cause
        Why sentences of the paper fail and numbers disagree, as far as experiments showed.
    """

    name: str
    title: str
    reference: str
    tables: tuple[Table, ...]
    of_paper: bool = True
    causes: tuple[Cause, ...] = ()

    def table(self, name: str) -> Table:
        """The table of that name."""
        for table in self.tables:
            if table.name == name:
                return table
        names = [table.name for table in self.tables]
        raise ConfigError(f"{self.name} has no {name!r}{did_you_mean(name, names)}")

    def run(self, context: Context, tables: Sequence[str] | None = None) -> StudyResult:
        """Compute the tables named, or all."""
        chosen = self.tables if tables is None else tuple(map(self.table, tables))
        results = tuple(self._compute(table, context) for table in chosen)
        return StudyResult(self.name, self.title, self.reference, context.fast, context.seed, results, self.of_paper)

    def _compute(self, table: Table, context: Context) -> TableResult:
        start = time.perf_counter()
        with one_thread():
            findings = table.run(replace(context, progress=prefixed(context.progress, table.name)))
        if context.fast:
            findings = replace(findings, claims=in_small_version(findings.claims))
        findings = with_causes(findings, [cause for cause in self.causes if cause.table == table.name])
        part = findings.used is not None
        names = table.needs if findings.used is None else findings.used
        prints = (context.fingerprint(name, part=part) for name in names)
        data = tuple(each for each in prints if each is not None)
        seconds = time.perf_counter() - start
        return TableResult(self.name, table.name, table.title, context.fast, context.seed, seconds, data, findings)
