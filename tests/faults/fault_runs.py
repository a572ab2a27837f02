"""Runs a command in a forked process that is hurt, and looks at what it leaves."""

import atexit
import contextlib
import hashlib
import http.server
import io
import os
import re
import resource
import shlex
import shutil
import signal
import sys
import time
import traceback
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from injury import Injury
from victims import Victim

LONGEST, HANGS = 180.0, -999
"""Seconds after which a run hangs, and the code of one that does."""
TEMPORARY = re.compile(r"(^|/)(\.unskew-[^/]*\.part|\.download-[^/]*|[^/]*\.part\.npz)(/|$)")
SECONDS = re.compile(rb'"seconds": [-+.e0-9]+|<dt>seconds</dt><dd>[^<]*|-?\b\d+(\.\d+)? (s|seconds|minutes)\b')
MEMBERS = {"file.dat": b"1\t2\n" * 20_000, "deep/more.dat": b"3\n" * 5_000}


@dataclass(frozen=True)
class Ended:
    """How a run ended: its exit code, or the negative number of a signal, what it printed, and processor seconds."""

    code: int
    out: str
    err: str
    seconds: float

    @property
    def is_one_line(self) -> bool:
        """Whether it ended with exit 2 and one line that is not about a bug; warnings and notes may come before."""
        last = self.err.strip().splitlines()[-1:] or [""]
        told = [line for line in self.err.splitlines() if line.startswith("unskew: ")]
        return self.code == 2 and told == last and not self.has_traceback

    @property
    def has_traceback(self) -> bool:
        """Whether a bug shows."""
        return any(words in self.err for words in ("Traceback (most recent", "this is a bug", "Exception ignored"))


@dataclass(eq=False)
class Workplace:
    """Where runs work: each gets a fresh copy of the inputs."""

    place: Path
    inputs: Path
    url: str = ""
    number: int = 0

    def fresh(self, victim: Victim) -> Path:
        """A new folder with the inputs, the folder ``out`` and what the command before made."""
        self.number += 1
        folder = self.place / f"run-{self.number}"
        shutil.copytree(self.inputs, folder)
        (folder / "out").mkdir()
        if victim.before:
            ended = run(victim.before, folder, Injury(), self.url)
            if ended.code:
                raise RuntimeError(f"{victim.before}: {ended.err}")
        return folder


def run(words: str, folder: Path, injury: Injury, url: str = "", counted: Path | None = None) -> Ended:
    """Run a command in a forked process in the folder; the process is hurt first."""
    return Running(words, folder, injury, url, counted).wait()


class Running:
    """A command that runs in a forked process, so that packages are imported once for all runs."""

    def __init__(
        self, words: str, folder: Path, injury: Injury, url: str = "", counted: Path | None = None, name: str = ""
    ) -> None:
        self.started = time.monotonic()
        self.paths = [folder.parent / f"{folder.name}{name}.{stream}" for stream in ("stdout", "stderr")]
        self.child = os.fork()
        if not self.child:
            _child(words, folder, injury, url, counted or folder / ".counted", self.paths)

    def wait(self) -> Ended:
        """Wait for its end, and end what it started."""
        code: int | None = None
        seconds = 0.0
        while code is None:
            done, status, used = os.wait4(self.child, os.WNOHANG)
            if done:
                code, seconds = os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime
            elif time.monotonic() - self.started > LONGEST:
                os.killpg(self.child, signal.SIGKILL)
                os.waitpid(self.child, 0)
                code = HANGS
            else:
                time.sleep(0.005)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.child, signal.SIGKILL)
        texts = [path.read_text(encoding="utf-8", errors="replace") if path.exists() else "" for path in self.paths]
        for path in self.paths:
            path.unlink(missing_ok=True)
        return Ended(code, *texts, seconds)


def _child(words: str, folder: Path, injury: Injury, url: str, counted: Path, paths: list[Path]) -> None:
    status = 99
    try:
        os.setsid()
        for stream, path in zip((1, 2), paths, strict=True):
            os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), stream)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.chdir(folder)
        os.environ["UNSKEW_CACHE"] = str(folder / "cache")
        if url:
            _offer(url)
        from unskew.__main__ import main

        sys.argv = ["unskew", *shlex.split(words)]
        injury.inflict(folder, folder / "out", counted)
        try:
            main()
            status = 0
        except SystemExit as leave:
            status = leave.code if isinstance(leave.code, int) else int(leave.code is not None)
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
    except BaseException:  # noqa: BLE001  # it must not run on in two processes
        traceback.print_exc()
    finally:
        os._exit(status)


def digests(folder: Path, outputs: tuple[str, ...]) -> dict[str, str]:
    """The outputs that are there, with a digest of their bytes but for seconds; files of folders one by one."""
    here = {}
    for name in outputs:
        path = folder / name
        files = sorted(each for each in path.rglob("*") if each.is_file()) if path.is_dir() else [path]
        for file in files:
            if file.is_file():
                content = SECONDS.sub(b"", file.read_bytes())
                here[str(file.relative_to(folder))] = hashlib.sha256(content).hexdigest()
    return here


def half_written(here: dict[str, str], whole: dict[str, str], outputs: tuple[str, ...]) -> list[str]:
    """Outputs that are neither absent nor as they are without an injury; a folder has all its files or none."""
    wrong = [name for name, digest in here.items() if whole.get(name) != digest]
    for name in outputs:
        inside = {each for each in whole if each.startswith(f"{name}/")}
        if inside and inside & set(here) not in (set(), inside):
            wrong.append(f"{name}/: only some of its files")
    return wrong


def leftovers(folder: Path) -> list[str]:
    """Temporary files of runs that were killed."""
    return [str(path) for path in folder.rglob("*") if TEMPORARY.search(str(path.relative_to(folder)))]


def _offer(url: str) -> None:
    """Let the data set of the server be the one that every name means."""
    from unskew.data import sources
    from unskew.data.sources import Form, Source

    digest = {name: hashlib.sha256(content).hexdigest() for name, content in MEMBERS.items()}
    made = Source(
        name="made",
        title="Made",
        licence="none",
        citation="nobody",
        home="https://example.org",
        forms=(Form({"file.dat": digest["file.dat"]}),),
        reader=lambda folder: None,  # type: ignore[arg-type,return-value]
        extras={"deep/more.dat": digest["deep/more.dat"]},
        download=f"{url}/made.zip",
        how_to_get="Ask the owner",
    )
    sources.get_source = lambda name: made


class _Answers(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as archive:
            for name, content in MEMBERS.items():
                archive.writestr(zipfile.ZipInfo(f"made/{name}"), content)
        self.send_response(200)
        self.send_header("Content-Length", str(len(buffer.getvalue())))
        self.end_headers()
        with contextlib.suppress(ConnectionError):  # the client was killed
            self.wfile.write(buffer.getvalue())

    def log_message(self, *_: object) -> None:
        pass


@contextlib.contextmanager
def served() -> Iterator[str]:
    """The address of a server on this machine that has a data set; in a process of its own, because runs are forked."""
    os.environ["no_proxy"] = "127.0.0.1"
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Answers)
    child = os.fork()
    if not child:
        try:
            server.serve_forever(0.1)
        finally:
            os._exit(0)
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        server.server_close()
