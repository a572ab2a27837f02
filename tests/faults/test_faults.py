"""What is hurt leaves nothing half written, and the same command again gives the same bytes."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from unskew.data.locks import held
from unskew.data.writing import write_parquet
from unskew.studies.framework.cache import read_arrays, write_arrays

HARNESS = Path(__file__).with_name("run.py")
QUICK = ("split", "partition, again", "datasets get")

pytestmark = pytest.mark.skipif(os.name != "posix", reason="runs are forked, and hurt by limits of POSIX")


def harness(*words: str) -> str:
    done = subprocess.run([sys.executable, HARNESS, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.endswith(": 0 bad\n")
    return done.stdout


def test_killed_and_hurt_commands_leave_whole_files_or_none() -> None:
    harness("--kills", "12", "--seed", "3", *(word for name in QUICK for word in ("--only", name)))


@pytest.mark.slow
def test_all_commands_survive_kills_and_faults() -> None:
    harness("--kills", "60", "--seed", "4")


@pytest.mark.slow
def test_a_run_on_ray_survives_kills() -> None:
    pytest.importorskip("ray", reason="Ray is not installed: pip install 'unskew[ray]'")
    harness("--kills", "3", "--seed", "5", "--no-faults", "--only", "evaluate, ray")


def test_a_harness_that_sees_a_half_written_file_says_so(tmp_path: Path) -> None:
    code = f"""
import sys
sys.path.insert(0, {str(HARNESS.parent)!r})
from unskew.data import writing
from contextlib import contextmanager

@contextmanager
def careless(path, mode="w"):
    with open(path, mode) as stream:
        yield stream

writing.written = careless
import run
sys.exit(run.main(["--kills", "8", "--seed", "1", "--only", "split", "--no-faults"]))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "half written" in done.stdout


def test_a_home_that_cannot_be_written_to_does_no_harm(tmp_path: Path) -> None:
    rows = "user,item\n" + "".join(f"{user},{(user * 7 + k) % 9}\n" for user in range(12) for k in range(4))
    (tmp_path / "log.csv").write_text(rows)
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("XDG_", "UNSKEW_"))}
    words = [sys.executable, "-m", "unskew", "evaluate", "--train", "log.csv", "--test", "log.csv"]
    words += ["--candidates", "all"]
    outputs = []
    for name, home in (("a", str(tmp_path)), ("b", "/proc/nobody")):
        command = [*words, "--model", "popular", "-m", "recall@2", "--json", f"{name}.json", "--quiet"]
        done = subprocess.run(
            command, cwd=tmp_path, env={**clean, "HOME": home}, capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stderr) == (0, "")
        outputs.append((tmp_path / f"{name}.json").read_bytes())
    assert outputs[0] == outputs[1]


def test_a_folder_is_held_by_one_process_at_a_time(tmp_path: Path) -> None:
    code = (
        "import sys, pathlib\nfrom unskew.data.locks import held\n"
        "with held(pathlib.Path(sys.argv[1])):\n    print('held')"
    )
    other = [sys.executable, "-c", code, str(tmp_path)]
    with held(tmp_path), held(tmp_path):
        done = subprocess.run(other, capture_output=True, text=True, check=False)
        assert f"{tmp_path}: used by another run; wait until that ends, or name another" in done.stderr
        assert done.returncode != 0
    done = subprocess.run(other, capture_output=True, text=True, check=False)
    assert done.stdout == "held\n"


def test_a_frame_on_a_full_disk_is_an_error_of_the_system() -> None:
    import polars as pl

    if not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full here")
    with Path("/dev/full").open("wb", buffering=0) as stream, pytest.raises(OSError, match="No space left on device"):
        write_parquet(pl.DataFrame({"user": [1]}), stream)


@pytest.mark.parametrize("share", [0.0, 0.3, 0.99])
def test_fits_in_the_cache_that_were_cut_short_are_made_again(tmp_path: Path, share: float) -> None:
    path = tmp_path / "fit.npz"
    write_arrays(path, {"factors": np.arange(600.0)})
    kept = read_arrays(path, ["factors"])
    assert kept is not None
    assert np.array_equal(kept["factors"], np.arange(600.0))
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    assert read_arrays(path, ["factors"]) is None


def test_a_cache_of_fits_on_a_full_disk_leaves_no_file(tmp_path: Path) -> None:
    code = (
        "import resource, signal, sys, pathlib, numpy\n"
        "from unskew.studies.framework.cache import write_arrays\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, resource.RLIM_INFINITY))\n"
        "write_arrays(pathlib.Path(sys.argv[1]) / 'fit.npz', {'factors': numpy.arange(600.0)})"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=False)
    assert "fit.npz: cannot be written (File too large)" in done.stderr
    assert list(tmp_path.iterdir()) == []
