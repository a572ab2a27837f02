import numpy as np

from lenskit.data import ItemList, ItemListCollection, UserIDKey


def recommend(pipeline, queries, n=None, *, n_jobs=None):
    lists = []
    for user in queries:
        scored = pipeline.run("scorer", query=user, items=ItemList(pipeline._counts.index.to_numpy()))
        known = np.flatnonzero(~np.isnan(scored.scores()))
        order = known[np.argsort(-scored.scores()[known])][:n]
        lists.append((UserIDKey(user), ItemList(scored.ids()[order], scores=scored.scores()[order], ordered=True)))
    return ItemListCollection(lists)
