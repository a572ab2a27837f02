import numpy as np


class BaseRecommender:
    def fit(self, X, y=None):
        self.user_ids_, users = np.unique(X[:, 0], return_inverse=True)
        self.item_ids_, items = np.unique(X[:, 1], return_inverse=True)
        self.interactions_ = np.zeros((len(self.user_ids_), len(self.item_ids_)))
        self.interactions_[users, items] = 1
        self._fit()
        return self

    def predict(self, X):
        users, items = (np.searchsorted(ids, X[:, axis]) for axis, ids in enumerate((self.user_ids_, self.item_ids_)))
        return (self.interactions_ @ self.similarity_)[users, items]

    def recommend(self, X, *, n_recommendations=10, exclude_seen=True):
        scores = (self.interactions_ @ self.similarity_)[np.searchsorted(self.user_ids_, X)]
        order = np.argsort(-scores, axis=1, kind="stable")[:, :n_recommendations]
        return self.item_ids_[order], np.take_along_axis(scores, order, axis=1)


class ItemKNNRecommender(BaseRecommender):
    def _fit(self):
        self.similarity_ = self.interactions_.T @ self.interactions_


class EASE(BaseRecommender):
    def _fit(self):
        n = len(self.item_ids_)
        inverse = np.linalg.inv(self.interactions_.T @ self.interactions_ + 500 * np.eye(n))
        self.similarity_ = -inverse / np.diag(inverse)
        np.fill_diagonal(self.similarity_, 0)
