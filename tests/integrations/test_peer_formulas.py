"""The formulas of other packages are theirs: numbers that the packages gave, and ours where both have the metric."""

import json
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from unskew import Interactions, Split, evaluate
from unskew.studies.peers import formulas

HERE = Path(__file__).resolve().parent
spec = spec_from_file_location("run_peers", HERE / "run_peers.py")
assert spec is not None
assert spec.loader is not None
run_peers = module_from_spec(spec)
spec.loader.exec_module(run_peers)
RECORD = json.loads((HERE / "peers.json").read_text(encoding="utf-8"))
EXAMPLE, PACKAGES = RECORD["example"], RECORD["packages"]


@pytest.mark.parametrize("name", list(run_peers.INSTALL))
def test_a_formula_gives_the_numbers_that_its_package_gave(name):
    ours, theirs = run_peers.of_formulas(EXAMPLE)[name], PACKAGES[name]["numbers"]
    assert ours.keys() == theirs.keys()
    for metric, values in theirs.items():
        assert ours[metric] == pytest.approx(values, rel=run_peers.EQUAL), metric


def test_the_recorded_packages_are_those_that_are_installed():
    pins = {name: [word for words in each for word in words] for name, each in run_peers.INSTALL.items()}
    assert PACKAGES.keys() == pins.keys()
    assert all(f"{name}=={PACKAGES[name]['version']}" in words for name, words in pins.items())


def test_the_example_has_what_packages_treat_differently():
    train, test = (run_peers._matrix(EXAMPLE, part) for part in ("train", "test"))
    assert not test.any(axis=1).all()  # a user without a positive
    assert (test.any(axis=0) & ~train.any(axis=0)).any()  # an item that is new in the test
    kept = formulas.without_excess(test, np.random.RandomState(run_peers.SEED))
    assert len(np.flatnonzero((test & ~kept).any(axis=0))) == 2  # RecTools drops positives of two items
    assert (formulas.popularity_propensity(train.sum(axis=0)) == formulas.FLOOR).any()  # WarpRec's floor is reached


@pytest.mark.parametrize("model", range(2))
def test_snips_per_user_is_the_weighted_recall_of_pytorch_geometric(model):
    """The oracle: the package's own number, for weights 1/P that are a column of the test."""
    train, test = (_rows(part) for part in ("train", "test"))
    chance = 1 / np.array(EXAMPLE["weight"])[test[1]]
    n = {"n_users": len(EXAMPLE["test"]), "n_items": EXAMPLE["n_items"]}
    split = Split(
        Interactions.from_arrays(*train, **n), Interactions.from_arrays(*test, propensity=chance / chance.max(), **n)
    )
    scores = np.zeros((n["n_users"], n["n_items"]))
    top = np.array(EXAMPLE["top"][model])
    np.put_along_axis(scores, top, np.arange(top.shape[1], 0, -1.0)[np.newaxis], axis=1)
    report = evaluate(
        {"it": scores},
        split,
        metrics=["recall@5"],
        estimators=["snips(per=user)"],
        propensity="column",
        baselines=False,
    )
    (estimate,) = report.estimates
    assert estimate.value == pytest.approx(PACKAGES["torch_geometric"]["numbers"]["LinkPredRecall"][model], rel=1e-9)


def test_a_package_that_is_not_known_is_refused(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["run_peers.py", "recpak"])
    with pytest.raises(SystemExit, match="2"):
        run_peers.main()
    assert "no package 'recpak'; there are ir_measures," in capsys.readouterr().err


def test_a_gap_is_relative_and_infinite_for_other_metrics():
    assert run_peers.largest_gap({"a": [2.0, 1.0]}, {"a": [2.0, 1.25]}) == pytest.approx(0.2)
    assert run_peers.largest_gap({"a": [1.0]}, {"b": [1.0]}) == np.inf


def _rows(part: str) -> Any:
    return np.nonzero(run_peers._matrix(EXAMPLE, part))
