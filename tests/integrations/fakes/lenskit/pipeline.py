from collections import namedtuple

import numpy as np

from lenskit.data import ItemList

Node = namedtuple("Node", ["name"])


class Pipeline:
    name = version = None

    def __init__(self, scorer, n):
        self._scorer, self._n = scorer, n

    def nodes(self):
        return [Node(name) for name in ("query", "items", "n", "history-lookup", "candidates", "scorer", "ranker")]

    def run_all(self, *nodes, **inputs):
        return {node: self.run(node, **inputs) for node in nodes}

    def train(self, data):
        self._counts = data["item_id"].value_counts()
        self._users = set(data["user_id"])

    def run(self, nodes=None, /, *, query, items):
        known = query in self._users
        scores = [self._counts.get(item, np.nan) + (query * item) % 7 / 10 if known else np.nan for item in items.ids()]
        return ItemList(items.ids(), scores=np.array(scores, dtype=np.float32))


def topn_pipeline(scorer, *, n=None):
    return Pipeline(scorer, n)
