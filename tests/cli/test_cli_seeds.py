"""Entries that differ in their seed only, on the command line."""

import json
from pathlib import Path

import numpy as np


def seeds_of(world):
    """Words of two models with three seeds each: the factors of the world with noise."""
    rng, factors = np.random.default_rng(0), world.array("user_factors")
    words = []
    for model, noise in (("mine", 0.1), ("theirs", 2.0)):
        for seed in range(3):
            file = world.factors(f"{model}{seed}.npz", user_factors=factors + noise * rng.normal(size=factors.shape))
            words += ["--factors", f"{model}/seed{seed}={file}"]
    return words


def test_six_entries_are_two_models_and_the_switch_takes_them_apart(unskew, world):
    more = [*seeds_of(world), "-m", "auc", "-e", "snips", "--json", world / "seeds.json"]
    outcome = unskew(*world.evaluate(*more, model=False))
    assert outcome.code == 0, outcome.err
    assert "mine (3 seeds)" in outcome.out
    assert "/seed" not in outcome.out
    assert "have as few as 3 seeds" in outcome.err
    record = json.loads(Path(world / "seeds.json").read_text())
    assert {row["model"] for row in record["seeds"]["estimates"]} == {"mine", "theirs"}
    apart = unskew(*world.evaluate(*more, "--no-group-seeds", model=False))
    assert apart.code == 0, apart.err
    assert "mine/seed0" in apart.out
    assert "seeds" not in json.loads(Path(world / "seeds.json").read_text())


def test_words_with_seeds_are_trained_with_seeds_of_their_own(unskew, world):
    words = [w for k in (0, 1, 2) for w in ("--model", f"als/seed{k}=als(factors=2)")]
    more = [*words, "--model", "als_alone=als(factors=2)", "-m", "adg", "-e", "snips", "--json", "-", "--seed"]
    first, second = (
        {row["model"]: row["value"] for row in json.loads(unskew(*world.evaluate(*more, seed)).out)["estimates"]}
        for seed in ("0", "1")
    )
    assert len({first[f"als/seed{k}"] for k in (0, 1, 2)}) == 3
    assert first["als/seed0"] == first["als_alone"]
    assert [second[f"als/seed{k}"] for k in (0, 1)] == [first[f"als/seed{k}"] for k in (1, 2)]


def test_windows_do_not_take_the_switch(unskew, world):
    outcome = unskew("evaluate", "--windows", world / "none", "--model", "popular", "--no-group-seeds")
    assert outcome.code == 2
    assert "--no-group-seeds is for one split" in outcome.err


def test_a_gate_compares_the_two_files_also_if_they_are_seeds_of_one_model(unskew, world):
    words = seeds_of(world)
    train, test = world / "train.csv", world / "test.csv"
    outcome = unskew("gate", words[1], words[3], "--train", train, "--test", test, "-m", "auc", "-e", "snips")
    assert outcome.code in {0, 1, 3}, outcome.err
    assert "mine/seed0" in outcome.out
    assert "mine/seed1" in outcome.out
