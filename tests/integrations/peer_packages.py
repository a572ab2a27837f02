"""Numbers of other packages on an example; runs in an environment that has the package, and needs nothing of unskew.

``python peer_packages.py PACKAGE example.json`` prints JSON: the versions, the seconds, and by metric one number per
model. The example has, by user, the items of train and of test, and by model and user the items of a list.
"""

import json
import sys
import time
import types
from importlib import import_module, metadata
from importlib.util import find_spec
from pathlib import Path

SEED = 5
"""Of RecTools' draws."""


def ir_measures(example):
    import ir_measures as package
    from ir_measures import R, nDCG

    k = len(example["top"][0][0])
    qrels = [package.Qrel(str(user), str(item), 1) for user, items in enumerate(example["test"]) for item in items]
    numbers = {"R": [], "nDCG": []}
    for lists in example["top"]:
        run = [
            package.ScoredDoc(str(user), str(item), float(k - place))
            for user, items in enumerate(lists)
            for place, item in enumerate(items)
        ]
        found = package.calc_aggregate([R @ k, nDCG @ k], qrels, run)
        numbers["R"].append(found[R @ k])
        numbers["nDCG"].append(found[nDCG @ k])
    return numbers


def rectools(example):
    import pandas as pd
    from rectools.metrics import NDCG, Recall
    from rectools.metrics.debias import DebiasConfig

    k = len(example["top"][0][0])
    config = DebiasConfig(iqr_coef=1.5, random_state=SEED)
    metrics = {
        "Recall": Recall(k, debias_config=config),
        "NDCG": NDCG(k, divide_by_achievable=True, debias_config=config),
    }
    test = pd.DataFrame(pairs(example["test"]), columns=["user_id", "item_id"])
    numbers = {name: [] for name in metrics}
    for lists in example["top"]:
        reco = pd.DataFrame(pairs(lists), columns=["user_id", "item_id"])
        reco["rank"] = reco.groupby("user_id").cumcount() + 1
        for name, metric in metrics.items():
            numbers[name].append(float(metric.calc(reco, test)))
    return numbers


def recpack(example):
    import numpy as np
    from recpack.metrics import IPSHitRateK
    from scipy.sparse import csr_matrix

    k, shape = len(example["top"][0][0]), (len(example["test"]), example["n_items"])
    test = np.array(pairs(example["test"]))
    truth = csr_matrix((np.ones(len(test)), test.T), shape=shape)
    numbers = {"IPSHitRateK": []}
    for lists in example["top"]:
        rows = np.array(pairs(lists))
        scores = np.tile(np.arange(k, 0, -1.0), len(lists))
        metric = IPSHitRateK(k)
        metric.fit(truth)
        metric.calculate(truth, csr_matrix((scores, rows.T), shape=shape))
        numbers["IPSHitRateK"].append(float(metric.value))
    return numbers


def torch_geometric(example):
    import torch
    from torch_geometric.metrics import LinkPredNDCG, LinkPredRecall

    torch.set_default_dtype(torch.float64)
    k = len(example["top"][0][0])
    edges = torch.tensor(pairs(example["test"])).T
    weight = torch.tensor(example["weight"])[edges[1]]
    kinds = {"LinkPredRecall": LinkPredRecall, "LinkPredNDCG": LinkPredNDCG}
    numbers = {name: [] for name in kinds}
    for lists in example["top"]:
        for name, kind in kinds.items():
            metric = kind(k, weighted=True)
            metric.update(torch.tensor(lists), edges, weight)
            numbers[name].append(float(metric.compute()))
    return numbers


def warprec(example):
    import numpy as np
    import torch

    # all of WarpRec needs Python 3.12 and dozens of packages; the modules of its metrics need torch and two more
    if "warprec" not in sys.modules:
        (folder,) = find_spec("warprec").submodule_search_locations
        for name in ("warprec", "warprec.utils", "warprec.evaluation", "warprec.evaluation.metrics"):
            sys.modules[name] = types.ModuleType(name)
            sys.modules[name].__path__ = [str(Path(folder, *name.split(".")[1:]))]
    metrics = import_module("warprec.evaluation.metrics.debiased")
    build_propensity = import_module("warprec.evaluation.propensity").build_propensity

    k, n_users = len(example["top"][0][0]), len(example["test"])
    test = np.array(pairs(example["test"]))
    ground = torch.zeros(n_users, example["n_items"])
    ground[test[:, 0], test[:, 1]] = 1
    counts = np.bincount([item for _, item in pairs(example["train"])], minlength=example["n_items"])
    propensity = build_propensity(counts)
    names = ("IPSRecall", "SNIPSRecall", "IPSDCG", "SNIPSDCG")
    numbers = {name: [] for name in names}
    for lists in example["top"]:
        scores = torch.full_like(ground, -torch.inf)
        scores.scatter_(1, torch.tensor(lists), torch.arange(k, 0, -1.0).repeat(n_users, 1))
        for name in names:
            metric = getattr(metrics, name)(k, n_users, propensity=propensity)
            metric.update(scores, user_indices=torch.arange(n_users), ground=ground)
            (values,) = metric.compute().values()
            numbers[name].append(float(torch.nanmean(values)))
    return numbers


def pairs(lists):
    return [(user, item) for user, items in enumerate(lists) for item in items]


PACKAGES = {
    "ir_measures": ir_measures,
    "rectools": rectools,
    "recpack": recpack,
    "torch_geometric": torch_geometric,
    "warprec": warprec,
}

if __name__ == "__main__":
    name = sys.argv[1]
    example = json.loads(Path(sys.argv[2]).read_text())
    PACKAGES[name](example)  # imports and first calls are not timed
    start = time.process_time()
    numbers = PACKAGES[name](example)
    seconds = time.process_time() - start
    python = ".".join(map(str, sys.version_info[:3]))
    sys.stdout.write(
        json.dumps({"version": metadata.version(name), "python": python, "seconds": seconds, "numbers": numbers})
    )
