"""Run the recipes of the page on other packages' models, each in an environment that has only its package.

``make integrations`` runs all of them; ``python tests/integrations/run_recipes.py implicit cornac`` runs some. An
environment is made once, in ``.integrations/``. The versions that ran are printed at the end.
"""

import argparse
import importlib.util
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "guide" / "other-models.md"
ENVIRONMENTS = ROOT / ".integrations"
TORCH = "torch==2.13.0"  # exact, so that no resolver takes another build of it

# the commands of pip, one after the other; those with --no-deps are for packages whose pins exclude all others
INSTALL: dict[str, tuple[tuple[str, ...], ...]] = {
    "implicit": (("implicit==0.7.3",),),
    "lenskit": ((TORCH, "lenskit==2025.8.1"),),  # the newest for Python 3.11; those of 2026 need 3.12.5
    "rectools": (("rectools==0.19.0",),),
    "recbole": (
        (
            TORCH,
            "numpy<2",
            "pandas<3",
            "tqdm",
            "colorlog",
            "colorama",
            "pyyaml",
            "tensorboard",
            "tabulate",
            "texttable",
        ),
        ("--no-deps", "recbole==1.2.1", "thop", "plotly"),
    ),
    "cornac": (("cornac==3.0.1",),),
    "lightfm": (
        ("setuptools<70", "wheel", "cython<3", "numpy", "scipy", "requests", "scikit-learn"),
        ("--no-deps", "--no-build-isolation", "--no-use-pep517", "lightfm==1.17"),
    ),
    "surprise": (("scikit-surprise==1.1.5", "pandas"),),
    "skrecsys": (("skrecsys==0.9.0",),),
}
SHOWN = ("torch", "numpy", "pandas", "unskew")
PRELUDE = """
from unskew import Interactions, Split, evaluate
split = Split(Interactions.read("train.csv"), Interactions.read("test.csv"))
log = split.train.to_polars()
"""
SETUP = {
    "recbole": """
os.makedirs("data/mine", exist_ok=True)
log.rename({"user": "user_id:token", "item": "item_id:token"}).write_csv("data/mine/mine.inter", separator="\\t")
"""
}

# each compares what was evaluated with what the package itself recommends to some users
CHECKS = {
    "implicit": """
for model in (als, cosine):
    scorer = read_model(model, "it", split)
    for user in (0, 7, 70):
        _, theirs = model.recommend(user, matrix[user], N=5, filter_already_liked_items=False)
        assert np.allclose(-np.sort(-scorer.score(np.array([user]))[0])[: len(theirs)], theirs, rtol=1e-4, atol=1e-6)
""",
    "lenskit": """
scorer = read_model(pipeline, "it", split)
for row, user in enumerate(scorer.user_ids[:9]):
    theirs = lists.lookup(user)
    columns = np.searchsorted(scorer.item_ids, theirs.ids())
    assert np.allclose(scorer.score(np.array([row]))[0, columns], theirs.scores(), rtol=1e-4)
assert set(lists.to_df()["user_id"]) == set(scorer.user_ids)
""",
    "rectools": """
for model in (svd, ease):
    scorer = read_model((model, dataset), "it", split)
    users = dataset.user_id_map.external_ids[:9]
    theirs = model.recommend(users, dataset, k=5, filter_viewed=False)
    for row, user in enumerate(users):
        best = -np.sort(-scorer.score(np.array([row]))[0])[:5]
        assert np.allclose(best, theirs.loc[theirs.user_id == user, "score"], rtol=1e-4, atol=1e-6)
""",
    "recbole": """
from recbole.utils.case_study import full_sort_scores
users = test_data.uid_list[:4].numpy()
ours = read_model((model, dataset), "it", split).score(users - 1)
theirs = full_sort_scores(users, model, test_data, device=model.device)[:, 1:]
ours, theirs = ours.detach().cpu().numpy(), theirs.detach().cpu().numpy()
assert np.isfinite(theirs).any() and np.allclose(ours[np.isfinite(theirs)], theirs[np.isfinite(theirs)], rtol=1e-4)
""",
    "cornac": """
for model in (bpr, ease):
    scorer = read_model(model, "it", split)
    theirs = model.recommend(model.user_ids[3], k=5)
    scores = scorer.score(np.array([3]))[0]
    assert set(theirs) <= {model.item_ids[k] for k in np.flatnonzero(scores >= np.sort(scores)[-5] - 1e-6)}
""",
    "lightfm": """
ours = read_model((model, dataset), "it", split).score(np.array([2]))[0]
theirs = model.predict(np.full(len(ours), 2), np.arange(len(ours)))
assert np.allclose(ours, theirs, rtol=1e-4, atol=1e-5)
""",
    "surprise": """
scorer = read_model(model, "it", rated)
theirs = model.predict(scorer.user_ids[3], scorer.item_ids[5]).est
assert scorer.score(np.array([3]))[0, 5] == theirs
""",
    "skrecsys": """
users = knn.user_ids_[:5]
theirs = knn.predict(np.array([(user, knn.item_ids_[4]) for user in users]))
assert np.allclose(read_model(knn, "it", split).score(np.arange(5))[:, 4], theirs)
""",
}


def recipes(page: Path = PAGE) -> dict[str, str]:
    """The code of each recipe, by the package it is for."""
    found = {}
    for info, body in _load(ROOT / "docs" / "_ext" / "blocks.py").fenced(page.read_text(encoding="utf-8")):
        if info == "{code-block} python":
            caption, code = body.split("\n", 1)
            found[caption.removeprefix(":caption: ")] = code
    return found


def run_here(name: str) -> None:
    """Run the recipe of a package in this process, which has the package, and compare with it."""
    import numpy as np

    from unskew.integrations import read_model

    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        _load(ROOT / "docs" / "example.py").write_files()
        names: dict[str, object] = {"np": np, "os": os, "read_model": read_model}
        code_of = {"prelude": PRELUDE, "setup": SETUP.get(name, ""), "recipe": recipes()[name], "check": CHECKS[name]}
        for part, code in code_of.items():
            exec(compile(code, f"{name}, {part}", "exec"), names)
        print(names["report"])
        os.chdir(ROOT)


def python_of(name: str) -> Path:
    """The interpreter of an environment."""
    return ENVIRONMENTS / name / "bin" / "python"


def prepare(name: str, commands: tuple[tuple[str, ...], ...]) -> str:
    """Make an environment with these commands of pip, unless it is there; return what went wrong, or nothing."""
    python, done = python_of(name), ENVIRONMENTS / name / "installed"
    pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    if not done.exists():
        subprocess.run([sys.executable, "-m", "venv", str(python.parents[1])], check=True)
        for words in commands:
            if subprocess.run([*pip, *words], check=False).returncode:
                return f"FAILED: pip install {' '.join(words)}"
        done.touch()
    return ""


def run_there(name: str) -> str:
    """Run the recipe of a package in its environment; return the versions, or what went wrong."""
    python = python_of(name)
    problem = prepare(name, (*INSTALL[name], ("--editable", str(ROOT))))
    if problem:
        return problem
    if subprocess.run([str(python), "-W", "ignore", __file__, "--here", name], check=False).returncode:
        return "FAILED: the recipe"
    wanted = [words.partition("=")[0] for each in INSTALL[name] for words in each if "==" in words]
    asked = f"import importlib.metadata as m\nfor n in {[*wanted, *SHOWN]!r}:\n    try: print(n, m.version(n))\n"
    asked += "    except m.PackageNotFoundError: pass"
    listed = subprocess.run([str(python), "-c", asked], capture_output=True, text=True, check=True).stdout
    return ", ".join(dict.fromkeys(listed.splitlines()))


def main() -> int:
    """Run the recipes that are named, or all; the exit code is 1 if one of them failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="PACKAGE", help=f"of {', '.join(INSTALL)}; all by default")
    parser.add_argument("--here", action="store_true", help="run in this environment, which has the package")
    given = parser.parse_args()
    unknown = [name for name in given.names if name not in INSTALL]
    if unknown:
        parser.error(f"no recipe for {unknown[0]!r}; there are {', '.join(INSTALL)}")
    if given.here:
        for name in given.names:
            run_here(name)
        return 0
    results = {}
    for name in given.names or INSTALL:
        print(f"== {name}", flush=True)
        results[name] = run_there(name)
    for name, result in results.items():
        print(f"{name:10} {result}")
    return int(any(result.startswith("FAILED") for result in results.values()))


def _load(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    sys.exit(main())
