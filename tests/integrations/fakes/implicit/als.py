import numpy as np


class AlternatingLeastSquares:
    def __init__(self, factors=100, random_state=None):
        self.factors, self.random_state = factors, random_state
        self.item_factors = self.user_factors = None

    def fit(self, user_items, show_progress=True, callback=None):
        left, values, right = np.linalg.svd(user_items.toarray(), full_matrices=False)
        kept = slice(0, self.factors)
        self.user_factors = (left[:, kept] * values[kept]).astype(np.float32)
        self.item_factors = right[kept].T.astype(np.float32)

    def recommend(self, userid, user_items, N=10, filter_already_liked_items=True):
        scores = self.item_factors @ self.user_factors[userid]
        ids = np.argsort(-scores)[:N]
        return ids.astype(np.int32), scores[ids]

    def similar_items(self, itemid, N=10):
        scores = self.item_factors @ self.item_factors[itemid]
        return np.argsort(-scores)[:N], np.sort(scores)[::-1][:N]
