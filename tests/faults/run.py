"""Hurt real commands and look at what they leave: ``python tests/faults/run.py --kills 200 --seed 1``.

Each command runs once without harm. Then it is killed at random points: before a change of a file, after some processor
time, or in the middle of a write. A killed run may leave temporary files, but each output must be absent or whole, and
the same command again must give the bytes of the first run. After a full disk, a folder that is removed, few open files
or a clock that jumps, a run must give these bytes too, or end with exit 2 and one line. Two runs at a time in one
folder must both do so. The table counts what happened; the exit code is 1 if something is bad.
"""

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from fault_runs import HANGS, Ended, Running, Workplace, digests, half_written, leftovers, run, served
from injury import Injury
from victims import RAY, VICTIMS, Victim

sys.path.append(str(Path(__file__).resolve().parents[1] / "golden"))
from golden_worlds import write_worlds

OUTCOMES = ("whole", "refused", "killed", "bad")
FEW_FILES = 64
DOCS = Path(__file__).parents[2] / "docs" / "_data" / "hostile"


@dataclass(eq=False)
class Hospital:
    """Hurts commands and counts the outcomes."""

    place: Workplace
    draws: random.Random
    verbose: bool = False
    counts: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    bad: list[str] = field(default_factory=list)

    def treat(self, name: str, kills: int, *, faults: bool) -> None:
        """Run a command without harm, then hurt it."""
        victim = {**VICTIMS, **RAY}[name]
        healthy = self._healthy(name, victim)
        if healthy is None:
            return
        for injury in self._kills(kills, healthy):
            self._hurt(name, victim, healthy, injury)
        if faults:
            for injury in self._faults(healthy):
                self._hurt(name, victim, healthy, injury)
            self._without_space(name, victim, healthy)
            self._at_a_time(name, victim, healthy)

    def _healthy(self, name: str, victim: Victim) -> "Healthy | None":
        folder, counted = self.place.fresh(victim), self.place.place / "counted"
        counted.unlink(missing_ok=True)
        run(victim.words, folder, Injury("count"), self.place.url, counted)  # compiles what is not in the cache
        folder = self.place.fresh(victim)
        ended = run(victim.words, folder, Injury(), self.place.url)
        whole = digests(folder, victim.outputs)
        if ended.code not in victim.codes or not whole or not counted.exists():
            self._note(name, "none", "bad", f"ended with {ended.code}: {ended.err[-400:]}")
            return None
        self._note(name, "none", "whole")
        largest = max((folder / each).stat().st_size for each in whole)
        shutil.rmtree(folder)
        return Healthy(whole, int(counted.read_text()), ended.seconds, largest)

    def _kills(self, kills: int, healthy: "Healthy") -> Iterator[Injury]:
        draws = self.draws
        for number in range(kills):
            kind = ("kill at change", "kill after", "kill at change", "kill at byte")[number % 4]
            if kind == "kill at change":
                yield Injury(kind, draws.randint(1, healthy.changes))
            elif kind == "kill after":
                yield Injury(kind, max(1, int(1e6 * draws.uniform(0, healthy.seconds))))
            else:
                yield Injury(kind, draws.randint(0, healthy.largest - 1))

    def _faults(self, healthy: "Healthy") -> Iterator[Injury]:
        yield Injury("disk full", self.draws.randint(0, healthy.largest - 1))
        yield Injury("folder gone", self.draws.randint(1, healthy.changes))
        yield Injury("folder gone", 1)
        yield Injury("few files", FEW_FILES)
        yield Injury("clock", self.draws.randint(1, 1000))

    def _hurt(self, name: str, victim: Victim, healthy: "Healthy", injury: Injury) -> None:
        folder = self.place.fresh(victim)
        ended = run(victim.words, folder, injury, self.place.url)
        self._judge(name, victim, healthy, injury, ended, folder)
        if injury.kind == "folder gone":
            (folder / "out").mkdir(exist_ok=True)
        again = run(victim.words, folder, Injury(), self.place.url)
        if again.code not in victim.codes or again.has_traceback:
            self._note(name, str(injury), "bad", f"the next run ended with {again.code}: {again.err[-400:]}")
        elif digests(folder, victim.outputs) != healthy.whole:
            self._note(name, str(injury), "bad", "the next run gives other bytes")
        elif not injury.kills and (left := leftovers(folder)):
            self._note(name, str(injury), "bad", f"left behind: {left}")
        shutil.rmtree(folder)

    def _judge(self, name: str, victim: Victim, healthy: "Healthy", injury: Injury, ended: Ended, folder: Path) -> None:
        here = digests(folder, victim.outputs)
        wrong = half_written(here, healthy.whole, victim.outputs)
        gone = injury.kind == "folder gone" and not here
        if ended.has_traceback or ended.code == HANGS:
            self._note(name, str(injury), "bad", f"ended with {ended.code}: {ended.err[-600:]}")
        elif wrong:
            self._note(name, str(injury), "bad", f"ended with {ended.code}, half written: {wrong}")
        elif injury.kills and ended.code < 0:
            self._note(name, str(injury), "killed")
        elif ended.code in victim.codes and (here == healthy.whole or gone):
            self._note(name, str(injury), "whole")
        elif ended.is_one_line and not injury.kills:
            self._note(name, str(injury), "refused", ended.err.strip().splitlines()[-1])
        else:
            self._note(name, str(injury), "bad", f"ended with {ended.code}, {len(here)} outputs: {ended.err[-400:]}")

    def _without_space(self, name: str, victim: Victim, healthy: "Healthy") -> None:
        """Let it write to a disk of some kilobytes."""
        injury = Injury("small disk", 16)
        folder = self.place.fresh(victim)
        if victim.before.startswith("partition"):  # the data set that is there would be hidden
            return
        mount = ["mount", "-t", "tmpfs", "-o", f"size={injury.at}k", "tmpfs", str(folder / "out")]
        if subprocess.run(mount, capture_output=True, check=False).returncode:
            return  # only root may
        try:
            ended = run(victim.words, folder, injury, self.place.url)
            self._judge(name, victim, healthy, injury, ended, folder)
            if left := leftovers(folder):
                self._note(name, str(injury), "bad", f"left behind: {left}")
        finally:
            subprocess.run(["umount", str(folder / "out")], check=True)
            shutil.rmtree(folder)

    def _at_a_time(self, name: str, victim: Victim, healthy: "Healthy") -> None:
        """Run it twice at a time in one folder; one of them may be refused, and the last whole output is there."""
        folder = self.place.fresh(victim)
        running = [Running(victim.words, folder, Injury(), self.place.url, name=each) for each in ("-a", "-b")]
        ends = [each.wait() for each in running]
        good = [each for each in ends if each.code in victim.codes]
        here = digests(folder, victim.outputs)
        if here == healthy.whole:  # and what they left together must not change the next run
            run(victim.words, folder, Injury(), self.place.url)
            here = digests(folder, victim.outputs)
        calm = all(each in good or each.is_one_line for each in ends) and not any(each.has_traceback for each in ends)
        if here != healthy.whole or not good or not calm:
            told = [f"{each.code}: {each.err[-300:]}" for each in ends]
            self._note(name, "two at a time", "bad", f"{told}; outputs whole: {here == healthy.whole}")
        else:
            refused = [each.err.strip().splitlines()[-1] for each in ends if each not in good]
            self._note(name, "two at a time", "refused" if refused else "whole", *refused)
        shutil.rmtree(folder)

    def _note(self, name: str, injury: str, outcome: str, words: str = "") -> None:
        self.counts[name, "kill" if injury.startswith("kill") else injury.split(":", maxsplit=1)[0], outcome] += 1
        if outcome == "bad":
            self.bad.append(f"{name}, {injury}: {words}")
        if self.verbose or outcome == "bad":
            print(f"{name}, {injury}: {outcome} {words}", flush=True)


@dataclass(frozen=True)
class Healthy:
    """A run that was not hurt: digests of its outputs, changes of files, processor seconds, bytes of its largest."""

    whole: dict[str, str]
    changes: int
    seconds: float
    largest: int


def _workplace(folder: Path, url: str) -> Workplace:
    """Write the inputs, in another process: Polars starts threads at its first use, which a fork would lose."""
    place = Workplace(folder, folder / "inputs", url)
    place.inputs.mkdir()
    child = os.fork()
    if not child:
        write_worlds(place.inputs)
        os._exit(0)
    os.waitpid(child, 0)
    import unskew.cli.app  # noqa: F401  # once for all runs

    return place


def show(counts: Counter[tuple[str, str, str]]) -> None:
    """Print how often each command came to each outcome, for kills and for other injuries."""
    print(f"\n{'command':24}{'injury':18}" + "".join(f"{outcome:>9}" for outcome in OUTCOMES))
    for name, injury in dict.fromkeys((name, injury) for name, injury, _ in counts):
        numbers = [counts[name, injury, outcome] for outcome in OUTCOMES]
        print(f"{name:24}{injury:18}" + "".join(f"{number or '':>9}" for number in numbers))
    totals = {outcome: sum(n for (*_, each), n in counts.items() if each == outcome) for outcome in OUTCOMES}
    print(f"{'all':24}{'':18}" + "".join(f"{totals[outcome]:>9}" for outcome in OUTCOMES))


def main(given: list[str]) -> int:
    """Read the command line, hurt the commands and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=200, help="kills, over all commands")
    parser.add_argument("--seed", type=int, default=1)
    every = [*VICTIMS, *RAY]
    parser.add_argument("--only", action="append", choices=every, help="a command; repeatable [default: all but Ray]")
    parser.add_argument("--no-faults", action="store_true", help="kill only")
    parser.add_argument("--docs", action="store_true", help="keep the table for the documentation")
    parser.add_argument("--verbose", action="store_true", help="print each run")
    asked = parser.parse_args(given)
    names = asked.only or list(VICTIMS)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # what is imported before a fork must have no threads
    folder = Path(tempfile.mkdtemp(prefix="unskew-faults-"))  # which no forked process removes when it ends
    try:
        with served() as url:
            hospital = Hospital(_workplace(folder, url), random.Random(asked.seed), asked.verbose)
            for number, name in enumerate(names):
                kills = asked.kills // len(names) + (number < asked.kills % len(names))
                hospital.treat(name, kills, faults=not asked.no_faults)
    finally:
        shutil.rmtree(folder)
    show(hospital.counts)
    print(f"seed {asked.seed}: {len(hospital.bad)} bad")
    if asked.docs:
        DOCS.mkdir(exist_ok=True)
        rows = [[*place, number] for place, number in hospital.counts.items()]
        kept = {"kills": asked.kills, "seed": asked.seed, "counts": rows, "bad": len(hospital.bad)}
        (DOCS / "faults.json").write_text(json.dumps(kept, indent=1) + "\n")
    return int(bool(hospital.bad))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
