"""Compiled loops: when they are worth loading, and who hears that one is compiled."""

import os
import subprocess
import sys

import numpy as np
import pytest
from numba import njit

from unskew import compiling
from unskew.compiling import COMPILING, announced, announces, is_short
from unskew.estimators import means
from unskew.metrics.exact import positions


def new_loop(k):
    """A loop that no cache has."""
    return njit(lambda x: x + k)


def test_each_compilation_is_reported_and_a_loop_that_is_compiled_is_not():
    heard = []
    loop = new_loop(1)
    with announced(lambda *words: heard.append(words)):
        assert loop(1) == 2
        first = len(heard)
        assert loop(2) == 3
    assert first == len(heard) == 2
    (stage, done, total), (_, done_after, total_after) = heard
    assert stage == COMPILING == "compiling, once"
    assert (done + 1, total) == (done_after, total_after)
    new_loop(2)(1)
    assert len(heard) == 2


def test_only_the_inner_callback_is_called_and_none_is_called_without_one():
    outer, inner = [], []

    @announces
    def work(*, progress=None):
        new_loop(3)(1)

    with announced(lambda *words: outer.append(words)):
        work(progress=lambda *words: inner.append(words))
        assert (len(outer), len(inner)) == (0, 2)
        work()
    assert (len(outer), len(inner)) == (2, 2)
    work(progress=None)
    assert (len(outer), len(inner)) == (2, 2)


def test_an_error_inside_leaves_no_callback_behind():
    with pytest.raises(ValueError, match="inside"), announced(print):
        raise ValueError("inside")
    assert not compiling.callbacks


def test_numba_is_heard_although_it_is_loaded_later():
    code = """
import sys
from unskew.compiling import announced, is_short
heard = []
with announced(lambda *words: heard.append(words)):
    assert "numba" not in sys.modules
    assert is_short(1000)
    import numba
    assert numba.__spec__.loader is numba.__loader__
    numba.njit(lambda x: x + 1)(1)
    assert not is_short(1000)
print(heard)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == "[('compiling, once', 0, 1), ('compiling, once', 1, 1)]\n"


def test_work_is_short_until_the_pieces_of_a_process_add_up(monkeypatch):
    monkeypatch.delitem(sys.modules, "numba")
    monkeypatch.setattr(compiling, "_numpy_steps_left", 100)
    assert not is_short(101)
    assert is_short(60)
    assert not is_short(60)
    assert is_short(40)
    assert not is_short(1)


def test_sums_and_gains_are_the_same_without_compiled_loops(monkeypatch):
    rng = np.random.default_rng(0)
    user = np.sort(rng.integers(0, 40, 500))
    values = rng.normal(size=500) * 10.0 ** rng.integers(-8, 8, 500)
    table = 1 / np.log2(np.arange(2, 32))
    above, tied = rng.integers(0, 40, 500).astype(np.int32), rng.integers(0, 3, 500).astype(np.int32)

    def both():
        sums = [means.sum_by(user, values), means.sum_by(user[::-1], values), means.sum_by(user, values, 50)]
        return [*sums, means.sum_by(user[:0], values[:0]), positions.mean_gain(table, above, tied)]

    compiled = both()
    for module in (means, positions):
        monkeypatch.setattr(module, "is_short", lambda steps: True)
    for ours, theirs in zip(both(), compiled, strict=True):
        assert ours.dtype == theirs.dtype
        assert ours.tobytes() == theirs.tobytes()


LOOP = """
import sys
from unskew.compiling import njit

@njit(cache=True)
def double(x):
    return 2 * x

print(double(int(sys.argv[1])), double(0.5), sum(double.stats.cache_hits.values()))
"""


def run_loop(folder, cache, number=3):
    (folder / "loop.py").write_text(LOOP)
    done = subprocess.run(
        [sys.executable, "loop.py", str(number)],
        cwd=folder,
        env={**os.environ, "NUMBA_CACHE_DIR": str(cache)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_a_damaged_cache_of_loops_is_replaced_and_one_that_cannot_be_written_does_no_harm(tmp_path):
    cache = tmp_path / "cache"
    assert run_loop(tmp_path, cache) == ["6", "1.0", "0"]
    assert run_loop(tmp_path, cache) == ["6", "1.0", "2"]
    files = [path for path in cache.rglob("*") if path.suffix in {".nbi", ".nbc"}]
    assert len(files) == 3
    for length in (0, 40):
        for path in files:
            path.write_bytes(path.read_bytes()[:length])
        assert run_loop(tmp_path, cache) == ["6", "1.0", "0"]
        assert run_loop(tmp_path, cache) == ["6", "1.0", "2"]
    codes = sorted(path for path in files if path.suffix == ".nbc")
    contents = [path.read_bytes() for path in codes]
    for path, content in zip(codes, reversed(contents), strict=True):  # as two processes at a time can leave them
        path.write_bytes(content)
    assert run_loop(tmp_path, cache) == ["6", "1.0", "0"]
    (tmp_path / "file").touch()
    (tmp_path / "__pycache__").touch()
    home = {"HOME": "/proc/nobody", "XDG_CACHE_HOME": "/proc/nobody"}
    with pytest.MonkeyPatch.context() as patch:
        for key, value in home.items():
            patch.setenv(key, value)
        assert run_loop(tmp_path, tmp_path / "file" / "cache") == ["6", "1.0", "0"]
