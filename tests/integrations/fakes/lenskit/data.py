from collections import namedtuple

import numpy as np
import pandas as pd
import pyarrow as pa

UserIDKey = namedtuple("UserIDKey", ["user_id"])


class ItemList:
    def __init__(self, item_ids=None, *, scores=None, ordered=False):
        self._ids, self._scores, self.ordered = np.asarray(item_ids), scores, ordered

    def __len__(self):
        return len(self._ids)

    def ids(self):
        return self._ids

    def scores(self):
        return self._scores

    def ranks(self):
        return np.arange(1, len(self) + 1, dtype=np.int32) if self.ordered else None


class ItemListCollection:
    key_fields = ("user_id",)

    def __init__(self, lists):
        self._lists = lists

    def __len__(self):
        return len(self._lists)

    def items(self):
        return iter(self._lists)

    def lists(self):
        return (each for _, each in self._lists)

    def lookup(self, user):
        return next((each for key, each in self._lists if key.user_id == user), None)

    def to_df(self):
        parts = [
            {"user_id": key.user_id, "item_id": item, "score": score, "rank": rank}
            for key, each in self._lists
            for item, score, rank in zip(each.ids(), each.scores(), each.ranks(), strict=True)
        ]
        return pd.DataFrame(parts, columns=["user_id", "item_id", "score", "rank"])

    def to_arrow(self):
        rows = [
            [
                {"item_id": int(item), "rank": int(rank), "score": float(score)}
                for item, score, rank in zip(each.ids(), each.scores(), each.ranks(), strict=True)
            ]
            for _, each in self._lists
        ]
        return pa.table({"user_id": [key.user_id for key, _ in self._lists], "items": rows})


def from_interactions_df(df):
    return df
