from enum import Enum

import numpy as np
import pandas as pd


class Distance(Enum):
    DOT = 1
    COSINE = 2
    EUCLIDEAN = 3


class ModelBase:
    def __init__(self):
        self.is_fitted = False

    def fit(self, dataset):
        self._fit(dataset)
        self.is_fitted = True
        return self

    def recommend(self, users, dataset, k, filter_viewed, add_rank_col=True):
        rows = []
        places = {user: row for row, user in enumerate(dataset.user_id_map.external_ids)}
        for user in users:
            scores = self._scores(dataset, places[user])
            if filter_viewed:
                scores = np.where(dataset.matrix[places[user]] > 0, -np.inf, scores)
            order = np.argsort(-scores)[:k]
            order = order[np.isfinite(scores[order]) & self._listed(scores[order])]
            for rank, column in enumerate(order, 1):
                rows.append((user, dataset.item_id_map.external_ids[column], scores[column], rank))
        return pd.DataFrame(rows, columns=["user_id", "item_id", "score", "rank"])

    def recommend_to_items(self, target_items, dataset, k):
        raise AssertionError

    def _listed(self, scores):
        return np.ones(len(scores), dtype=bool)


class PureSVDModel(ModelBase):
    u2i_dist = Distance.DOT

    def __init__(self, factors=10):
        super().__init__()
        self.factors = factors

    def _fit(self, dataset):
        left, values, right = np.linalg.svd(dataset.matrix, full_matrices=False)
        self.user_factors = left[:, : self.factors] * values[: self.factors]
        self.item_factors = right[: self.factors].T

    def get_vectors(self):
        return self.user_factors, self.item_factors

    def _scores(self, dataset, row):
        return self.item_factors @ self.user_factors[row]


class EASEModel(ModelBase):
    def _fit(self, dataset):
        inverse = np.linalg.inv(dataset.matrix.T @ dataset.matrix + 500 * np.eye(dataset.matrix.shape[1]))
        self.weight = -inverse / np.diag(inverse)
        np.fill_diagonal(self.weight, 0)

    def _scores(self, dataset, row):
        return dataset.matrix[row] @ self.weight

    def _listed(self, scores):
        return scores != 0  # some of its models leave out what has no score
