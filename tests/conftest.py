"""Makes ``tests`` importable, so that every test finds ``oracles``, and settles Hypothesis for all."""

import os
from contextlib import nullcontext
from dataclasses import replace

import pytest
from hypothesis import settings

# The first example of a test may compile; a deadline would measure that. Where a run decides whether a change
# lands, the same examples are tried each time; --hypothesis-profile=thorough looks for rarer ones.
settings.register_profile("unskew", deadline=None, derandomize="CI" in os.environ)
settings.register_profile("thorough", deadline=None, max_examples=1000)
settings.load_profile("unskew")


@pytest.fixture(autouse=True)
def compiled_silently(monkeypatch: pytest.MonkeyPatch) -> None:
    """A command inside a test prints the same whether its loops are in the cache or not."""
    monkeypatch.setattr("unskew.cli.app.noted_compilation", lambda quiet: nullcontext())


@pytest.fixture
def short_auto(monkeypatch: pytest.MonkeyPatch) -> None:
    """``gamma=auto`` with few steps, for tests of all but its numbers."""
    from unskew.evaluation.fitting import gamma

    monkeypatch.setattr(gamma, "REFERENCES", [replace(model, iterations=50) for model in gamma.REFERENCES])


@pytest.fixture
def passed_check(monkeypatch: pytest.MonkeyPatch) -> None:
    """``auto`` corrects, although the log may be too small for it to do so."""
    from unskew.evaluation.fitting import automatic
    from unskew.evaluation.fitting.self_check import SelfCheck

    passed = SelfCheck("snips", error=0.5, tau=0.9, naive_tau=0.8)
    monkeypatch.setattr(automatic, "self_check", lambda *_: passed)
    monkeypatch.setattr(automatic, "RELEVANCE_ALONE", float("-inf"))


@pytest.fixture(scope="session")
def gaussian_process() -> None:
    """Skip where optuna and torch are not installed, because the test searches with their Gaussian process."""
    from unskew.calibration.suggest import gp_is_here

    if not gp_is_here():
        pytest.skip("optuna and torch are not installed: pip install 'unskew[tune]'")
