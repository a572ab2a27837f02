"""What goes wrong in a run: a kill, a full disk, a folder that disappears, a clock that jumps.

An `Injury` is put into a process that was forked for one command. Nothing in the package knows of it: files are watched
by audit events of the interpreter, and limits are those of the operating system.
"""

import itertools
import os
import resource
import shutil
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
CHANGES = {"os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.truncate", "os.chmod", "shutil.rmtree"}
HOUR = 3600.0


@dataclass(frozen=True)
class Injury:
    """One thing that goes wrong.

    Parameters
    ----------
    kind : str
        ``none``; ``count`` (only counts the changes of files); ``kill at change`` number `at`; ``kill after`` `at`
        microseconds of processor time; ``kill at byte`` `at` of a file; ``disk full`` at this byte of a file;
        ``folder gone`` before change number `at`; ``few files``, at most `at` open; ``clock``, with the seed `at`.
    at : int
    """

    kind: str = "none"
    at: int = 0

    def __str__(self) -> str:
        return f"{self.kind}: {self.at:,}" if self.at else self.kind

    @property
    def kills(self) -> bool:
        """Whether the process ends without a word."""
        return self.kind.startswith("kill")

    def inflict(self, folder: Path, out: Path, counted: Path) -> None:
        """Prepare the running process, which works in `folder` and writes to `out`."""
        if self.kind == "count":
            watch(folder, lambda number: counted.write_text(str(number)))
        elif self.kind == "kill at change":
            watch(folder, lambda number: os.kill(os.getpid(), signal.SIGKILL) if number == self.at else None)
        elif self.kind == "folder gone":
            watch(folder, lambda number: shutil.rmtree(out, ignore_errors=True) if number == self.at else None)
        elif self.kind == "kill after":
            signal.setitimer(signal.ITIMER_PROF, self.at / 1e6)  # whose signal nobody catches
        elif self.kind in {"kill at byte", "disk full"}:
            signal.signal(signal.SIGXFSZ, signal.SIG_DFL if self.kills else signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            resource.setrlimit(resource.RLIMIT_FSIZE, (self.at, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
        elif self.kind == "few files":
            resource.setrlimit(resource.RLIMIT_NOFILE, (self.at, self.at))
        elif self.kind == "clock":
            let_clocks_jump(self.at)


def watch(folder: Path, seen: Callable[[int], Any]) -> None:
    """Call with the number of each change of a file below the folder, before it happens."""
    numbers = itertools.count(1)
    base, busy = str(folder), False

    def hook(event: str, details: tuple[Any, ...]) -> None:
        nonlocal busy
        writes = event == "open" and isinstance(details[2], int) and details[2] & WRITING
        if busy or not (writes or event in CHANGES) or not isinstance(details[0], str | os.PathLike):
            return
        if os.path.abspath(os.fspath(details[0])).startswith(base + os.sep):  # noqa: PTH100  # it need not exist
            busy = True
            try:
                seen(next(numbers))
            finally:
                busy = False

    sys.addaudithook(hook)


def let_clocks_jump(seed: int) -> None:
    """Let all clocks of the module `time` jump by up to three hours, back and forth, at every call."""
    jumps = itertools.cycle([(seed * 7919 + k * 104729) % 21600 - 10800 for k in range(97)])
    for name in ("time", "monotonic", "perf_counter", "process_time", "thread_time"):
        true: Callable[[], float] = getattr(time, name)

        def jumping(true: Callable[[], float] = true) -> float:
            return true() + next(jumps)

        for module in list(sys.modules.values()):  # also where a module imported the function by its name
            for key, value in list(getattr(module, "__dict__", {}).items()):
                if value is true and not getattr(module, "__name__", "").startswith("threading"):
                    setattr(module, key, jumping)
