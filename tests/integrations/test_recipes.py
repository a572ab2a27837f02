"""The recipes for other packages' models run against recorded parts of those packages."""

import os
import re
import sys
from collections.abc import Iterator
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from unskew.integrations import FAMILIES, read_model
from unskew.testing import check_scorer

HERE = Path(__file__).resolve().parent
FAKES = HERE / "fakes"
spec = spec_from_file_location("run_recipes", HERE / "run_recipes.py")
assert spec is not None
assert spec.loader is not None
run_recipes = module_from_spec(spec)
spec.loader.exec_module(run_recipes)
RECIPES = run_recipes.recipes()

# the class of each model of a recipe, as the report records it
ORIGINS = {
    "implicit": {"als": "implicit.AlternatingLeastSquares", "cosine": "implicit.CosineRecommender"},
    "lenskit": {
        "pipeline": "lenskit.Pipeline",
        "lists": "lenskit.ItemListCollection",
        "frame": "ListScorer",
        "arrow": "ListScorer",
    },
    "rectools": {"svd": "rectools.PureSVDModel", "ease": "rectools.EASEModel", "lists": "ListScorer"},
    "recbole": {"bpr": "recbole.BPR"},
    "cornac": {"bpr": "cornac.BPR", "ease": "cornac.EASE"},
    "lightfm": {"warp": "lightfm.LightFM"},
    "surprise": {"svd": "surprise.SVD", "predictions": "surprise.Prediction"},
    "skrecsys": {"knn": "skrecsys.ItemKNNRecommender", "ease": "skrecsys.EASE"},
}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("log")
    run_recipes._load(run_recipes.ROOT / "docs" / "example.py").write_files(folder)
    return folder


@pytest.fixture(params=list(RECIPES))
def ran(request: pytest.FixtureRequest, files: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Any]]:
    """The name of a package, and the names that its recipe defined."""
    name = request.param
    if name == "recbole":  # its fake is a model of torch too
        pytest.importorskip("torch", reason="torch is not installed: pip install 'unskew[models]'")
    monkeypatch.chdir(files)
    monkeypatch.syspath_prepend(str(FAKES))
    before = {each for each in sys.modules if each.partition(".")[0] == name}
    for each in before:  # a package that happens to be installed
        monkeypatch.delitem(sys.modules, each)
    names: dict[str, Any] = {"np": np, "os": os, "read_model": read_model, "package": name}
    for code in (run_recipes.PRELUDE, run_recipes.SETUP.get(name, ""), RECIPES[name]):
        exec(compile(code, f"{name}, recipe", "exec"), names)
    yield names
    for each in [each for each in sys.modules if each.partition(".")[0] == name]:
        del sys.modules[each]


def test_every_recipe_has_an_environment_a_check_and_at_most_ten_lines() -> None:
    assert set(RECIPES) == set(run_recipes.INSTALL) == set(run_recipes.CHECKS) == set(ORIGINS)
    assert {path.name for path in FAKES.iterdir() if path.name != "__pycache__"} == set(RECIPES)
    for name, code in RECIPES.items():
        assert len([line for line in code.splitlines() if line.strip()]) <= 10, name


def test_a_recipe_judges_the_models_of_its_package(ran: dict[str, Any]) -> None:
    report, name = ran["report"], ran["package"]
    assert report.to_dict()["run"]["models"] == ORIGINS[name]
    assert {estimate.model for estimate in report.estimates} == set(ORIGINS[name])
    if name != "recbole":  # its check asks a function of the package that the fake does not have
        exec(compile(run_recipes.CHECKS[name], f"{name}, check", "exec"), ran)


def test_a_scorer_of_a_package_keeps_the_contract_of_scorers(ran: dict[str, Any]) -> None:
    split = ran.get("rated", ran["split"])
    if ran["package"] in {"surprise", "lenskit"}:
        pytest.skip("it is called user by user, so all users take too long")
    models = [ran[name] for name in ("als", "cosine", "knn", "svd", "ease", "bpr", "model") if name in ran]
    assert models
    for model in models:
        pair = (model, ran["dataset"]) if ran["package"] in {"rectools", "recbole", "lightfm"} else model
        scorer = read_model(pair, "it", split)
        shape = getattr(scorer, "shape", (None, None))
        check_scorer(scorer, n_users=shape[0], n_items=shape[1])


def test_the_page_names_every_family() -> None:
    page = run_recipes.PAGE.read_text(encoding="utf-8")
    for family in FAMILIES:
        if family.packages and family.name[0].isupper():
            assert family.name.partition(",")[0] in page


def test_the_page_of_other_libraries_names_the_versions_that_recipes_run_with() -> None:
    page = (run_recipes.ROOT / "docs" / "other-libraries.md").read_text(encoding="utf-8")
    table, rest = page.partition("## WarpRec")[0], " ".join(page.split())
    pinned = dict(
        words.split("==") for each in run_recipes.INSTALL.values() for line in each for words in line if "==" in words
    )
    compared = dict(re.findall(r"\b([A-Z]\w+) (\d+\.\d+\.\d+)\b", table))
    recipes = {name: pinned[name.lower()] for name in compared if name.lower() in pinned}
    assert {"LensKit", "RecTools", "RecBole", "Cornac"} <= set(recipes)
    for name, version in recipes.items():
        assert version == compared[name] or f"{name}: its recipe is pinned to {version}" in rest
