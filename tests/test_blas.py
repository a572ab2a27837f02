"""Linear algebra is kept to one thread, also in libraries that are loaded later."""

import json
import os
import subprocess
import sys
import threading

import pytest
from threadpoolctl import threadpool_info

from unskew.blas import later_libraries_limited, one_thread

LATER = """
import json, os, sys
os.environ.pop("OPENBLAS_NUM_THREADS", None)
from threadpoolctl import threadpool_info
from unskew.blas import later_libraries_limited

def threads():
    return {each["filepath"]: each["num_threads"] for each in threadpool_info()}

assert "scipy" not in sys.modules and "numpy" not in sys.modules
with later_libraries_limited():
    import scipy.linalg
    inside = threads()
print(json.dumps([[*inside.values()], [*threads().values()], "OPENBLAS_NUM_THREADS" in os.environ]))
"""


def threads() -> set[int]:
    return {each["num_threads"] for each in threadpool_info()}


def test_libraries_that_are_loaded_inside_begin_with_one_thread_and_get_theirs_back() -> None:
    cores = os.cpu_count() or 1
    if cores < 2:
        pytest.skip("one core: there is nothing to limit")
    clean = {key: text for key, text in os.environ.items() if not key.endswith("_NUM_THREADS")}
    done = subprocess.run([sys.executable, "-c", LATER], env=clean, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    inside, after, is_set = json.loads(done.stdout)
    assert inside == [1] * len(inside)
    assert after == [cores] * len(after)
    assert not is_set


def test_contexts_in_several_threads_restore_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    entered, leave = threading.Event(), threading.Event()

    def other() -> None:
        with later_libraries_limited():
            entered.set()
            leave.wait(10)

    thread = threading.Thread(target=other)
    with later_libraries_limited():
        thread.start()
        assert entered.wait(10)
        assert os.environ["OPENBLAS_NUM_THREADS"] == os.environ["OMP_NUM_THREADS"] == "1"
    assert os.environ["OMP_NUM_THREADS"] == "1"  # the other context goes on
    leave.set()
    thread.join()
    assert os.environ["OMP_NUM_THREADS"] == "3"
    assert "OPENBLAS_NUM_THREADS" not in os.environ


def test_one_thread_limits_what_is_loaded() -> None:
    before = threads()
    with one_thread():
        assert threads() == {1}
    assert threads() == before
