"""`Record`: the trials of a calibration, kept on disk so that it can continue after it was killed."""

import json
from collections.abc import Iterable, Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from unskew.calibration.attempt import Trial
from unskew.data.locks import held
from unskew.data.writing import not_written, written
from unskew.errors import DataError

_SETTINGS, _TRIALS = "settings.json", "trials.jsonl"


class Record:
    """Trials in the order in which they ended, in a folder or only in memory.

    A folder with another calibration is refused; one with the same `settings`, which decide the numbers, is continued.
    """

    def __init__(self, folder: Path | None, settings: Mapping[str, Any]) -> None:
        self.folder = folder
        self.settings = settings
        self.stream: IO[str] | None = None
        self.trials: list[Trial] = []
        self.lock = ExitStack()

    def __enter__(self) -> Self:
        if self.folder is not None:
            with ExitStack() as stack:
                _make_folder(self.folder)
                stack.enter_context(held(self.folder))
                _check_settings(self.folder, self.settings)
                self.trials = _read_trials(self.folder / _TRIALS)
                try:
                    self.stream = (self.folder / _TRIALS).open("a", encoding="utf-8")
                except OSError as error:
                    raise DataError(f"{self.folder}: cannot be written to ({error.strerror}); name another") from error
                self.lock = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self.lock, suppress(OSError):  # what a full disk did not take was reported by `add`
            if self.stream is not None:
                self.stream.close()

    def add(self, trial: Trial) -> None:
        """Keep a trial; it is on disk when this returns."""
        self.trials.append(trial)
        if self.stream is not None:
            try:
                self.stream.write(trial.to_line() + "\n")
                self.stream.flush()
            except OSError as error:
                assert self.folder is not None
                raise not_written(self.folder / _TRIALS, error) from error

    def of(self, kind: str, searches: Iterable[str]) -> list[Trial]:
        """Trials of a world by search and number; the order in time would depend on chance."""
        wanted = list(searches)
        trials = [trial for trial in self.trials if trial.kind == kind and trial.search in wanted]
        return sorted(trials, key=lambda trial: (wanted.index(trial.search), trial.number))


def _make_folder(folder: Path) -> None:
    if folder.exists() and not folder.is_dir():
        raise DataError(f"{folder}: this is a file; name a folder for the record of the calibration")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"{folder}: cannot be made ({error.strerror}); name a folder that can") from error


def _check_settings(folder: Path, settings: Mapping[str, Any]) -> None:
    place = folder / _SETTINGS
    if not place.exists():
        if (folder / _TRIALS).exists():
            raise DataError(f"{folder}: it has {_TRIALS} but no {_SETTINGS}; name another folder")
        with written(place) as stream:
            json.dump(dict(settings), stream, indent=1)
        return
    try:
        before = dict(json.loads(place.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError, RecursionError) as error:
        raise DataError(f"{place}: not the settings of a calibration; name another folder") from error
    now = json.loads(json.dumps(dict(settings)))
    apart = [
        f"{key} was {_short(before.get(key))}, now {_short(now[key])}" for key in now if before.get(key) != now[key]
    ]
    if apart:
        raise DataError(f"{folder}: holds another calibration ({'; '.join(apart)}); name another folder, or remove it")


def _read_trials(path: Path) -> list[Trial]:
    """Return the trials of all complete lines, and cut off an incomplete last line."""
    if not path.exists():
        return []
    data = path.read_bytes()
    whole = data[: data.rfind(b"\n") + 1]
    if len(whole) < len(data):
        with path.open("r+b") as stream:
            stream.truncate(len(whole))
    trials = []
    for number, line in enumerate(whole.decode("utf-8", errors="replace").splitlines(), start=1):
        try:
            trials.append(Trial.from_line(line))
        except DataError as error:
            raise DataError(f"{path}, line {number}: {error}; remove the folder and begin again") from error
    return trials


def _short(value: object) -> str:
    text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    return text if len(text) <= 60 else f"{text[:12]}..."
