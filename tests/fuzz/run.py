"""Try N hostile inputs in worker processes that may die, and print how many had which outcome.

``python tests/fuzz/run.py N [--seed S] [--family F] [--index I]``; with an index, that input alone, and what it is.
"""

import argparse
import faulthandler
import json
import os
import resource
import sys
import tempfile
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from pathlib import Path
from signal import SIGABRT
from threading import Lock
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from judging import BAD, GOOD, Case, Judge

WORKERS = 2
LIMIT = 60.0
"""Seconds after which an input hangs."""
MEMORY = 6 << 30
"""Bytes of address space that inputs may take, above what the loaded packages have."""
DOCS = Path(__file__).parents[2] / "docs" / "_data" / "hostile"
BATCH = 20
SHOWN = 5  # failures of a family and class that are printed in full


@dataclass
class Worker:
    """A process that tries inputs, and the inputs that it has got."""

    process: Any
    channel: Connection
    errors: Path
    waiting: deque[Case] = field(default_factory=deque)
    since: float = 0.0
    compiles: bool = False
    died: bool = False


def main() -> int:
    """Run, print a table, and return 1 if an input had a bad outcome."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("n", type=int, help="number of inputs")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--family", help="only inputs of this family")
    parser.add_argument("--index", type=int, help="only the input with this index, which is printed too")
    parser.add_argument("--docs", action="store_true", help="keep the table for the documentation")
    given = parser.parse_args()
    for variable in ("POLARS_MAX_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
        os.environ.setdefault(variable, "1")  # one core per worker
    from families import FAMILIES

    if given.family is not None and given.family not in FAMILIES:
        parser.error(f"no family {given.family!r}; there are {', '.join(FAMILIES)}")
    if given.index is not None:
        if given.family is None:
            parser.error("--index needs --family")
        cases = [Case(given.family, given.seed, given.index)]
        print(json.dumps(Judge().recipe(cases[0]), indent=1)[:20_000])
    else:
        cases = list(planned(given.n, given.seed, given.family))
    start = time.monotonic()
    counts = print_outcomes(cases, shown=given.index is not None)
    taken = time.monotonic() - start
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    each = 1000 * (used.ru_utime + used.ru_stime) / max(len(cases), 1)
    print(f"{len(cases):,} inputs in {taken:.0f} s, each {each:.1f} ms of one core")
    if given.docs:
        DOCS.mkdir(exist_ok=True)
        kept = {"seed": given.seed, "seconds": round(taken), "counts": counts}
        (DOCS / f"fuzz-{given.seed}.json").write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n")
    return int(any(tally[name] for tally in counts.values() for name in BAD))


def planned(n: int, seed: int, family: str | None = None) -> Iterator[Case]:
    """The inputs of a run: of each family by its share, in turns, so that a run that is stopped has some of each."""
    from families import FAMILIES

    shares = {name: FAMILIES[name].share for name in ([family] if family else FAMILIES)}
    whole = sum(shares.values())
    numbers = {name: -(-n * share // whole) for name, share in shares.items()}
    batches = [
        (start / number, name, start, min(start + BATCH, number))
        for name, number in numbers.items()
        for start in range(0, number, BATCH)
    ]
    for _, name, start, end in sorted(batches):
        yield from (Case(name, seed, index) for index in range(start, end))


def print_outcomes(cases: list[Case], *, shown: bool = False) -> dict[str, Counter[str]]:
    """Try the inputs, print the failures and a table, and return it: by family, how many had each outcome."""
    counts: dict[str, Counter[str]] = {}
    for case, (outcome, words) in outcomes(cases):
        tally = counts.setdefault(case.family, Counter())
        tally[outcome] += 1
        if outcome in BAD and tally[outcome] <= SHOWN:
            print(f"\n{outcome}: {words.rstrip()}\n    {case.command}", flush=True)
        elif shown:
            print(f"{outcome}: {words}")
    columns = (*GOOD, *BAD)
    print("\n" + f"{'family':<12}" + "".join(f"{name:>14}" for name in columns))
    for name, tally in [*sorted(counts.items()), ("all", sum(counts.values(), Counter()))]:
        print(f"{name:<12}" + "".join(f"{tally[column]:>14,}" for column in columns))
    return counts


def outcomes(cases: list[Case], workers: int = WORKERS) -> Iterator[tuple[Case, tuple[str, str]]]:
    """Try the inputs in processes; one that dies or takes too long is replaced, and its input is named."""
    left: deque[Case] = deque(cases)
    again: set[Case] = set()
    pool = [_start() for _ in range(min(workers, -(-len(cases) // BATCH)))]
    try:
        while left or any(worker.waiting for worker in pool):
            for place, worker in enumerate(pool):
                if not worker.waiting and left:
                    _send(worker, [left.popleft() for _ in range(min(BATCH, len(left)))])
                late = not worker.died and _is_late(worker)
                if worker.waiting and (late or worker.died):
                    case, words = _name_the_dead(worker)
                    pool[place] = _start()
                    left.extendleft(reversed(worker.waiting))
                    if late and case not in again:  # a busy machine gets a second try
                        again.add(case)
                        left.appendleft(case)
                    else:
                        yield case, ("hang" if late else "crash", words)
            yield from _received(pool)
    finally:
        for worker in pool:
            _end(worker)


def _name_the_dead(worker: Worker) -> tuple[Case, str]:
    """End a process that does not answer; its input, and what the process wrote."""
    words = _end(worker)
    if worker.process.exitcode == 1:
        raise RuntimeError(f"no input could be made, because of an error of this program: {words}")
    return worker.waiting.popleft(), words


def _received(pool: list[Worker]) -> Iterator[tuple[Case, tuple[str, str]]]:
    """The outcomes that have come; waits for some time if none has."""
    by_channel: dict[Any, Worker] = {worker.channel: worker for worker in pool if not worker.died}
    for channel in wait(list(by_channel), timeout=0.5):
        worker = by_channel[channel]
        try:
            outcome = worker.channel.recv()
        except (EOFError, ConnectionError):
            worker.died = True
            continue
        worker.since = time.monotonic()
        if isinstance(outcome, bool):
            worker.compiles = outcome
        else:
            yield worker.waiting.popleft(), outcome


def _is_late(worker: Worker) -> bool:
    limit = (
        10 * LIMIT if worker.compiles else LIMIT
    )  # loops are compiled once per machine, which is not an input's fault
    return time.monotonic() - worker.since > limit


def _send(worker: Worker, batch: list[Case]) -> None:
    worker.waiting.extend(batch)
    worker.since = time.monotonic()
    worker.channel.send(batch)


def _start() -> Worker:
    here, there = get_context("spawn").Pipe()
    handle, errors = tempfile.mkstemp(prefix="unskew-fuzz-", suffix=".txt")
    os.close(handle)
    process = get_context("spawn").Process(target=_work, args=(there, errors), daemon=True)
    process.start()
    there.close()
    worker = Worker(process, here, Path(errors))
    if not here.poll(10 * LIMIT):
        raise RuntimeError("a worker does not start")
    here.recv()
    return worker


def _end(worker: Worker) -> str:
    """End a process, and return the traceback that it wrote when it died."""
    if not worker.died:
        if worker.waiting:
            os.kill(worker.process.pid, SIGABRT)  # so that it writes where it was
        else:
            worker.channel.send([])
        worker.process.join(10)
        worker.process.kill()
    worker.process.join()
    worker.channel.close()
    words = worker.errors.read_text(errors="replace") if worker.errors.exists() else ""
    worker.errors.unlink(missing_ok=True)
    return f"exit code {worker.process.exitcode}\n{words[:2500]}"


def _work(channel: Connection, errors: str) -> None:
    """The loop of a process: try what comes, and send back what happened."""
    with Path(errors).open("w") as stream:
        os.dup2(stream.fileno(), 2)  # panics of compiled libraries go there too
        faulthandler.enable(stream)
        judge = Judge()
        _load_packages()
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))
        lock = Lock()

        def send(message: object) -> None:
            with lock:
                channel.send(message)

        send(None)
        try:
            _report_compilations(send)
            while batch := channel.recv():
                for case in batch:
                    send(judge.judge(case.family, judge.recipe(case)))
        finally:
            judge.close()


def _report_compilations(send: Callable[[bool], None]) -> None:
    """Send whether something is being compiled; commands listen too, so that `announced` would not be called."""
    from numba.core import event

    class Compilations(event.Listener):
        def __init__(self) -> None:
            self.running = 0

        def on_start(self, event: Any) -> None:
            self.running += 1
            send(True)

        def on_end(self, event: Any) -> None:
            self.running -= 1
            send(self.running > 0)

    event.register("numba:compile", Compilations())


def _load_packages() -> None:
    """Load what inputs use, so that its memory is not counted as theirs."""
    import numba  # noqa: F401
    import polars as pl
    import pyarrow as pa  # noqa: F401
    import scipy.sparse
    import scipy.stats  # noqa: F401

    pl.DataFrame({"a": [1]}).lazy().select(pl.col("a").sum()).collect()


if __name__ == "__main__":
    raise SystemExit(main())
