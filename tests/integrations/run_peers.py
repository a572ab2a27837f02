"""Run the metrics of other packages and compare them with the formulas of the study ``peers``.

``make integrations`` runs all of them, each in an environment of its own in ``.integrations/``, on the small example of
``peers.json`` and on the lists of a simulated world; ``python tests/integrations/run_peers.py recpack`` runs some.
With ``--record`` the numbers become those that the tests know, with versions, date and seconds.
"""

import argparse
import datetime as dt
import importlib.util
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from unskew.studies.peers import formulas
from unskew.studies.peers.formulas import Lists

HERE = Path(__file__).resolve().parent
RECORD, RUNNER = HERE / "peers.json", HERE / "peer_packages.py"
EQUAL = 2e-6  # WarpRec has single precision


def _load(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(name, HERE / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


recipes = _load("run_recipes")
SEED: int = _load("peer_packages").SEED
INSTALL: dict[str, tuple[tuple[str, ...], ...]] = {
    "ir_measures": (("ir_measures==0.4.3",),),
    "rectools": (("rectools==0.19.0",),),
    "recpack": ((recipes.TORCH, "recpack==0.3.6"),),
    "torch_geometric": ((recipes.TORCH, "torch_geometric==2.8.1"),),
    "warprec": (
        (recipes.TORCH, "torchmetrics", "pydantic", "numpy"),
        ("--no-deps", "--ignore-requires-python", "warprec==2.2.8"),
    ),
}

Numbers = dict[str, list[float]]


def of_formulas(example: dict[str, Any]) -> dict[str, Numbers]:
    """The numbers of our formulas, by package and metric, one per model."""
    train, test = (_matrix(example, part) for part in ("train", "test"))
    weight, propensity = np.array(example["weight"]), formulas.popularity_propensity(train.sum(axis=0))
    # the draws of pandas, which RecTools calls, are those of numpy's old generator
    kept = formulas.without_excess(test, np.random.RandomState(SEED))
    lists = [Lists(np.array(top), test) for top in example["top"]]
    fewer = [Lists(np.array(top), kept) for top in example["top"]]
    return {
        "ir_measures": {"R": [*map(formulas.recall, lists)], "nDCG": [*map(formulas.ndcg, lists)]},
        "rectools": {"Recall": [*map(formulas.recall, fewer)], "NDCG": [*map(formulas.ndcg, fewer)]},
        "recpack": {"IPSHitRateK": [formulas.ips_hits(each, test.sum(axis=0)) for each in lists]},
        "torch_geometric": {
            "LinkPredRecall": [formulas.weighted_recall(each, weight) for each in lists],
            "LinkPredNDCG": [formulas.weighted_ndcg(each, weight) for each in lists],
        },
        "warprec": {
            "IPSRecall": [formulas.ips_recall(each, propensity) for each in lists],
            "SNIPSRecall": [formulas.weighted_recall(each, 1 / propensity) for each in lists],
            "IPSDCG": [formulas.ips_dcg(each, propensity) for each in lists],
            "SNIPSDCG": [formulas.snips_dcg(each, propensity) for each in lists],
        },
    }


def largest_gap(first: Numbers, second: Numbers) -> float:
    """The largest relative difference; infinite where the metrics differ."""
    if first.keys() != second.keys():
        return float("inf")
    return max(float(np.max(np.abs(np.array(first[name]) / np.array(second[name]) - 1))) for name in first)


def world_example() -> dict[str, Any]:
    """The lists of all models of the study in one of its worlds."""
    from unskew.studies.peers.judge import served, top_lists, untied
    from unskew.studies.peers.methods import Given
    from unskew.studies.truth.judge import fit_models
    from unskew.studies.truth.worlds import draw

    parts = served(draw("mixed", 400, 360, (0, 0)).parts(np.random.default_rng(1), positives=True))
    models = fit_models(parts, (0, 0)).values()
    tops = [top_lists(untied(each, np.random.default_rng(2)).matrix, parts.trained) for each in models]
    return {
        "n_items": parts.trained.shape[1],
        "train": [np.flatnonzero(row).tolist() for row in parts.trained],
        "test": [np.flatnonzero(row).tolist() for row in parts.held],
        "top": [top.tolist() for top in tops],
        "weight": Given(parts.trained, parts.held, (0,)).weight.tolist(),
    }


def run_there(name: str, example: Path) -> dict[str, Any]:
    """What a package gives in its environment."""
    words = [str(recipes.python_of(f"peer-{name}")), "-W", "ignore", str(RUNNER), name, str(example)]
    result: dict[str, Any] = json.loads(subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True).stdout)
    return result


def check(name: str, record: dict[str, Any], world: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Compare a package with the formulas on both examples; return a line on it, and what may be recorded."""
    problem = recipes.prepare(f"peer-{name}", INSTALL[name])
    if problem:
        return problem, {}
    gaps, results = [], {}
    for label, example in (("example", record["example"]), ("world", world)):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "example.json")
            path.write_text(json.dumps(example))
            results[label] = run_there(name, path)
        gaps.append(largest_gap(results[label]["numbers"], of_formulas(example)[name]))
    small = results["example"]
    line = f"{name} {small['version']}, Python {small['python']}: largest relative difference {max(gaps):.1e}"
    found = {**small, "seconds": round(results["world"]["seconds"], 3)}
    return ("FAILED: " if max(gaps) > EQUAL else "") + line, found


def main() -> int:
    """Run the packages that are named, or all; the exit code is 1 if one of them differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="PACKAGE", help=f"of {', '.join(INSTALL)}; all by default")
    parser.add_argument("--record", action="store_true", help="keep the numbers for the tests")
    given = parser.parse_args()
    unknown = [name for name in given.names if name not in INSTALL]
    if unknown:
        parser.error(f"no package {unknown[0]!r}; there are {', '.join(INSTALL)}")
    record, world = json.loads(RECORD.read_text(encoding="utf-8")), world_example()
    lines = []
    for name in given.names or INSTALL:
        line, found = check(name, record, world)
        lines.append(line)
        if given.record and found:
            record["packages"][name] = found
            record["date"] = dt.datetime.now(tz=dt.UTC).date().isoformat()
    if given.record:
        RECORD.write_text(json.dumps(record) + "\n", encoding="utf-8")
    print("\n".join(lines))
    return int(any(line.startswith("FAILED") for line in lines))


def _matrix(example: dict[str, Any], part: str) -> Any:
    marks = np.zeros((len(example[part]), example["n_items"]), dtype=bool)
    for user, items in enumerate(example[part]):
        marks[user, items] = True
    return marks


if __name__ == "__main__":
    sys.exit(main())
