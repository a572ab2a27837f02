"""A command that compiles says so, once; one that does not is silent."""

import os
import subprocess
import sys

import pytest


def environment_of(cache):
    return {**os.environ, "NUMBA_CACHE_DIR": str(cache), "TERM": "xterm", "COLUMNS": "100"}


def run(cache, *words):
    """A command line in its own process, with this folder as the cache of compiled loops."""
    command = [sys.executable, "-m", "unskew", *words]
    return subprocess.run(command, env=environment_of(cache), capture_output=True, text=True, check=True, timeout=120)


def test_compiling_is_announced_in_one_line_but_not_again_when_the_loops_are_there(world, tmp_path):
    words = world.evaluate("-m", "mrr", "-e", "aoa")
    first = run(tmp_path / "cache", *words).stderr.splitlines()
    assert first[0] == "compiling, once; this takes some seconds"
    assert [line for line in first if "compiling" in line] == first[:1]
    assert "compiling" not in run(tmp_path / "cache", *words).stderr
    assert run(tmp_path / "other", *words, "--quiet").stderr == ""


@pytest.mark.skipif(sys.platform == "win32", reason="a terminal of this kind")
def test_a_terminal_shows_a_bar(world, tmp_path, on_terminal):
    command = [sys.executable, "-m", "unskew", *world.evaluate("-m", "mrr", "-e", "aoa")]
    shown = on_terminal(command, environment_of(tmp_path / "cache"))
    assert "compiling, once " in shown
    assert "━" in shown
    assert "this takes some seconds" not in shown


def test_a_short_default_run_compiles_nothing(world, tmp_path):
    done = run(tmp_path / "cache", *world.evaluate())
    assert "compiling" not in done.stderr
    assert not (tmp_path / "cache").exists()
