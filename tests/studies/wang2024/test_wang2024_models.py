"""The models of Wang et al. 2024: what is tried, and fits that are trained once, stored, and read back equal."""

from dataclasses import replace

import numpy as np
import pytest
from made_wang2024 import tiny_log

from unskew.models.debiased import Bias, NegS
from unskew.studies import Context
from unskew.studies.wang2024.models import (
    _CHOSEN_FROM,
    ALL_ENTRIES,
    DRAWN,
    ENTRIES,
    EPOCHS,
    VARIANTS,
    choose,
    describe_variants,
    fits_of,
    grid_of,
    negs_of,
    variant_models,
)

pytest.importorskip("torch", reason="torch is not installed: pip install 'unskew[models]'")
MODEL = Bias(epochs=3)


@pytest.fixture(scope="module")
def parts():
    return tiny_log().parts


def context(folder=None, **changed) -> Context:
    return Context(**{"fast": True, "cache": folder} | changed)


def stored(folder):
    return sorted((folder / "wang2024" / "fits").iterdir())


def factors(fit):
    names = ("user_factors", "item_factors", "user_bias", "item_bias", "user_ids", "item_ids")
    return [np.asarray(getattr(fit.scorer, name)) for name in names]


def assert_same(first, second):
    for one, other in zip(factors(first), factors(second), strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_stored_fit_is_read_back_equal(parts, tmp_path):
    first = fits_of(context(tmp_path), parts, {"a": MODEL})["a"]
    (file,) = stored(tmp_path)
    again = fits_of(context(tmp_path), parts, {"a": MODEL})["a"]
    assert_same(first, again)
    assert (first.auc, first.best_epoch, first.epochs) == (again.auc, again.best_epoch, again.epochs)
    assert first.scorer.name == again.scorer.name == str(MODEL)
    arrays = dict(np.load(file)) | {"course": np.array([0.25, 1, 2])}
    np.savez(file, **arrays)
    assert fits_of(context(tmp_path), parts, {"a": MODEL})["a"].auc == 0.25  # so it is read, not trained


def test_two_runs_are_equal_and_other_names_begin_elsewhere(parts):
    first, second = (fits_of(context(), parts, {"a": MODEL, "b": MODEL}) for _ in range(2))
    assert_same(first["a"], second["a"])
    assert (first["a"].scorer.user_factors != first["b"].scorer.user_factors).any()


def test_one_run_trains_a_model_once(parts):
    run = context()
    assert fits_of(run, parts, {"a": MODEL})["a"] is fits_of(run, parts, {"a": MODEL})["a"]


@pytest.mark.parametrize("change", ["seed", "model", "log"])
def test_another_seed_model_or_log_is_another_fit(parts, tmp_path, change):
    fits_of(context(tmp_path), parts, {"a": MODEL})
    run = context(tmp_path, seed=1) if change == "seed" else context(tmp_path)
    model = replace(MODEL, epochs=4) if change == "model" else MODEL
    fits_of(run, tiny_log(seed=4).parts if change == "log" else parts, {"a": model})
    assert len(stored(tmp_path)) == 2


def test_a_broken_file_is_trained_again(parts, tmp_path):
    first = fits_of(context(tmp_path), parts, {"a": MODEL})["a"]
    (file,) = stored(tmp_path)
    file.write_bytes(file.read_bytes()[:100])
    assert_same(first, fits_of(context(tmp_path), parts, {"a": MODEL})["a"])


def test_the_name_of_a_stored_fit_does_not_change(tmp_path):
    """Fits of earlier versions stay usable."""
    fits_of(context(tmp_path), tiny_log(12, 30).parts, {"a": Bias(epochs=1)})
    assert [file.name for file in stored(tmp_path)] == ["bias-bf3667e8b07ccacd36a7.npz"]


def test_validation_chooses_negs_in_two_steps(parts):
    """Learning rate and λ first, then H/U and U with these."""
    entries = [entry for entry in ALL_ENTRIES if entry.backbone == "MF" and entry.method == "NegS"]
    run = context(sizes={EPOCHS: 1, _CHOSEN_FROM: slice(None), DRAWN: (50, 100)})
    choices = choose(run, parts, "tiny", entries)
    chosen, *by_share = (choices[entry] for entry in entries)
    assert chosen.tried == 4 + 6 - 1  # one of the first is among the second
    assert [choice.tried for choice in by_share] == [2, 2, 2]
    assert chosen.fit.auc >= max(choice.fit.auc for choice in by_share)
    assert len({settings_of(choice.settings) for choice in by_share}) == 1
    assert str(chosen).startswith(f"{chosen.settings} (best of 9: AUC 0.")


def settings_of(word: str) -> tuple[str, ...]:
    """The learning rate and λ in the word of a model."""
    return tuple(sorted(part for part in word.strip(")").split(", ") if "rate" in part or "regularisation" in part))


def test_four_settings_are_tried_of_every_method():
    full = Context()
    assert {len(grid_of(full, entry)) for entry in ENTRIES} == {4}
    assert {len(grid_of(context(), entry)) for entry in ENTRIES} == {1}
    assert {model.epochs for model in grid_of(context(sizes={EPOCHS: 1}), ENTRIES[0])} == {1}


def test_every_share_of_hard_negatives_comes_with_every_number_of_drawn_items():
    by_share = negs_of(Context(), NegS(learning_rate=0.3))
    tried = {share: [(model.hardest, model.drawn) for model in models] for share, models in by_share.items()}
    assert tried == {
        0.1: [(5, 50), (10, 100), (20, 200)],
        0.5: [(25, 50), (50, 100), (100, 200)],
        1.0: [(50, 50), (100, 100), (200, 200)],
    }
    assert {model.learning_rate for models in by_share.values() for model in models} == {0.3}


def test_variants_are_many_differ_and_come_again_by_the_seed():
    models = variant_models(Context())
    assert len(models) == VARIANTS.full >= 20
    assert len({str(model) for model in models.values()}) > 20
    assert models == variant_models(Context())
    assert all(model.epochs <= 40 for model in models.values())
    assert f"{VARIANTS.full} variants of AutoDebias" in describe_variants(Context())
