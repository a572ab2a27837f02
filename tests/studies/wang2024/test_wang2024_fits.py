"""Debiased models are trained once, kept, and read back equal."""

from dataclasses import replace

import numpy as np
import pytest
from made_wang2024 import tiny_log

from unskew.models.debiased import Bias, Ips
from unskew.studies import Context
from unskew.studies.wang2024 import fits
from unskew.studies.wang2024.fits import fit_many, fits_of, fitted

pytest.importorskip("torch")
MODEL = Bias(epochs=3)


@pytest.fixture
def log():
    return tiny_log()


def context(folder=None, **changed) -> Context:
    return Context(**{"fast": True, "cache": folder} | changed)


def no_training(monkeypatch):
    def refuse(self):
        raise AssertionError("trained again")

    monkeypatch.setattr(fits.Training, "__call__", refuse)


def factors(fit):
    return [np.asarray(getattr(fit.scorer, name)) for name in fits._ARRAYS]


def test_what_is_kept_is_read_back_equal(log, tmp_path, monkeypatch):
    made = fits_of(context(tmp_path), log, {"a": MODEL})["a"]
    no_training(monkeypatch)
    back = fits_of(context(tmp_path), log, {"a": MODEL})["a"]
    for mine, other in zip(factors(made), factors(back), strict=True):
        np.testing.assert_array_equal(mine, other)
    assert (made.auc, made.best_epoch, made.epochs) == (back.auc, back.best_epoch, back.epochs)
    assert made.scorer.name == back.scorer.name == str(MODEL)


def test_two_runs_are_equal_and_other_names_begin_elsewhere(log):
    first, second = (fits_of(context(), log, {"a": MODEL, "b": MODEL}) for _ in range(2))
    for mine, other in zip(factors(first["a"]), factors(second["a"]), strict=True):
        np.testing.assert_array_equal(mine, other)
    assert (first["a"].scorer.user_factors != first["b"].scorer.user_factors).any()


def test_one_run_trains_a_model_once(log, monkeypatch):
    run = context()
    made = fit_many(run, log, {"a": MODEL})
    no_training(monkeypatch)
    assert fit_many(run, log, {"a": MODEL})["a"] is made["a"]


@pytest.mark.parametrize("change", ["seed", "model", "log"])
def test_another_seed_model_or_log_is_another_fit(log, tmp_path, monkeypatch, change):
    fits_of(context(tmp_path), log, {"a": MODEL})
    no_training(monkeypatch)
    run = context(tmp_path, seed=1) if change == "seed" else context(tmp_path)
    model = replace(MODEL, epochs=4) if change == "model" else MODEL
    with pytest.raises(AssertionError, match="trained again"):
        fits_of(run, tiny_log(seed=4) if change == "log" else log, {"a": model})


def test_a_broken_file_is_trained_again(log, tmp_path):
    made = fits_of(context(tmp_path), log, {"a": MODEL})["a"]
    (file,) = (tmp_path / "wang2024" / "fits").iterdir()
    file.write_bytes(file.read_bytes()[:100])
    again = fits_of(context(tmp_path), log, {"a": MODEL})["a"]
    np.testing.assert_array_equal(made.scorer.user_factors, again.scorer.user_factors)


def test_a_model_of_no_name_has_its_word(log):
    scorer = fitted(context(), log, Ips(epochs=2))
    assert scorer.shape == (40, 90)
