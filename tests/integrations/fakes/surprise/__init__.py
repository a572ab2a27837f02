"""The part of Surprise 1.1.5 that the recipe uses, with its attributes, arguments and shapes."""

from collections import namedtuple

import numpy as np

Prediction = namedtuple("Prediction", ["uid", "iid", "r_ui", "est", "details"])


class Reader:
    def __init__(self, rating_scale=(1, 5)):
        self.rating_scale = rating_scale


class Trainset:
    def __init__(self, rows):
        self._users, self._items = (list(dict.fromkeys(ids)) for ids in list(zip(*rows, strict=True))[:2])
        self.n_users, self.n_items = len(self._users), len(self._items)
        self.global_mean = float(np.mean([rating for *_, rating in rows]))

    def to_raw_uid(self, iuid):
        return self._users[iuid]

    def to_raw_iid(self, iiid):
        return self._items[iiid]


class Dataset:
    @classmethod
    def load_from_df(cls, df, reader):
        made = cls()
        made._rows = list(df.itertuples(index=False, name=None))
        return made

    def build_full_trainset(self):
        return Trainset(self._rows)


class SVD:
    def __init__(self, n_factors=100, random_state=None):
        self.n_factors, self.random_state = n_factors, random_state

    def fit(self, trainset):
        self.trainset = trainset
        rng = np.random.default_rng(self.random_state)
        self.bu, self.bi = (
            dict(zip(ids, rng.normal(size=len(ids)), strict=True)) for ids in (trainset._users, trainset._items)
        )
        return self

    def estimate(self, u, i):
        return self.trainset.global_mean + self.bu.get(u, 0) + self.bi.get(i, 0)

    def predict(self, uid, iid, r_ui=None, clip=True, verbose=False):
        return Prediction(uid, iid, r_ui, min(max(self.estimate(uid, iid), 1), 5), {"was_impossible": False})

    def test(self, testset, verbose=False):
        return [self.predict(uid, iid, rating) for uid, iid, rating in testset]
