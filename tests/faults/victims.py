"""The commands that are hurt, as data: the words, the files they read and the files they promise."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Victim:
    """A command over the files of ``golden_worlds``.

    Parameters
    ----------
    words : str
        As typed after ``unskew``.
    outputs : tuple of str
        Files and folders that are complete or absent.
    before : str
        A command that makes what it reads.
    codes : tuple of int
        Its exit codes.
    """

    words: str
    outputs: tuple[str, ...]
    before: str = ""
    codes: tuple[int, ...] = (0,)


FILES = "--train train.csv --test test.csv"
STEPS = "--model 'bpr(iterations=300, every=100, batch=100, factors=4)'"
BOTH = ("out/run.json", "out/run.html")
WRITES = "--json out/run.json --html out/run.html --threads 1"

RAY = {
    "evaluate, ray": Victim(
        f"evaluate {FILES} --factors one.npz --engine ray --block-size 8 --json out/run.json", ("out/run.json",)
    )
}
"""Not hurt unless it is named, because each run starts a cluster."""
VICTIMS = {
    "evaluate": Victim(f"evaluate {FILES} --factors one.npz --model popular {WRITES}", BOTH),
    "evaluate, checkpoints": Victim(
        f"evaluate {FILES} --validation validation.csv {STEPS} -m recall@5 -e aoa --checkpoints out/kept {WRITES}", BOTH
    ),
    "evaluate, parts": Victim(
        f"evaluate --train parts/train --test parts/test --model popular -m recall@5 --work out/work {WRITES}",
        BOTH,
        before="split log.csv parts --fractions 80/20 --partitions 3",
    ),
    "evaluate, copied parts": Victim(
        f"evaluate --train loose --test loose --candidates all --model popular -m recall@5 --partitions 3 "
        f"--work out/work {WRITES}",
        BOTH,
        before="split log.csv loose --fractions 80/20 --format parquet",
    ),
    "gate": Victim(
        f"gate one.npz two.npz {FILES} -m recall@5 --threads 1 --json out/gate.json --markdown out/gate.md",
        ("out/gate.json", "out/gate.md"),
        codes=(0, 1, 3),
    ),
    "audit": Victim(f"audit train.csv --test test.csv --factors one.npz --k 5 --depth none {WRITES}", BOTH),
    "audit, simulated": Victim(
        f"audit log.csv --depth quick --world uniform-pop --runs 4 --evaluations 4 {WRITES}", BOTH
    ),
    "calibrate": Victim(
        "calibrate log.csv --coarse --world ibp-pop --singles 3 --joint 2 --starts 2 --threads 1 --folder out/record "
        "--out out/found.json --html out/found.html",
        ("out/found.json", "out/found.html"),
    ),
    "reproduce": Victim(
        "reproduce schnabel2016/fig1 --fast --json out/run.json --html out/run.html --cache out/cache",
        BOTH,
        codes=(0, 1),
    ),
    "simulate": Victim(
        "simulate 'marketplace(users=80, items=40)' out/drawn --quiet",
        tuple(f"out/drawn/{name}" for name in ("train.parquet", "test.parquet", "truth.parquet", "world.json")),
    ),
    "split": Victim(
        "split log.csv out/parts --fractions 70/15/15 --seed 1",
        tuple(f"out/parts/{name}.csv" for name in ("train", "validation", "test")),
    ),
    "split, partitions": Victim(
        "split log.csv out/parts --fractions 80/20 --partitions 3", ("out/parts/train", "out/parts/test")
    ),
    "partition": Victim("partition log.csv out/parts --partitions 3", ("out/parts",)),
    "partition, again": Victim(
        "partition log.csv out/parts --partitions 3",
        ("out/parts",),
        before="partition log.csv out/parts --partitions 3",
    ),
    "datasets get": Victim(
        "datasets get made --folder out/data", ("out/data/made/file.dat", "out/data/made/deep/more.dat")
    ),
}
