import numpy as np


class Recommender:
    def __init__(self, verbose=False):
        self.is_fitted = False
        self.num_users = self.num_items = self.uid_map = self.iid_map = None

    @property
    def user_ids(self):
        return list(self.uid_map)

    @property
    def item_ids(self):
        return list(self.iid_map)

    def fit(self, train_set, val_set=None):
        self.num_users, self.num_items = train_set.num_users, train_set.num_items
        self.uid_map, self.iid_map, self.train_set = train_set.uid_map, train_set.iid_map, train_set
        self.is_fitted = True
        return self

    def score(self, user_idx, item_idx=None):
        raise AssertionError

    def rate(self, user_idx, item_idx, clipping=True):
        return self.score(user_idx)[item_idx]

    def recommend(self, user_id, k=-1):
        scores = np.ravel(self.score(self.uid_map[user_id]))
        return [self.item_ids[column] for column in np.argsort(-scores)[:k]]


class BPR(Recommender):
    _ann_supported = True

    def __init__(self, k=10, max_iter=100, seed=None, verbose=False):
        super().__init__(verbose)
        self.k, self.seed = k, seed

    def fit(self, train_set, val_set=None):
        super().fit(train_set)
        rng = np.random.default_rng(self.seed)
        self.u_factors, self.i_factors = (rng.normal(size=(n, self.k)) for n in (self.num_users, self.num_items))
        self.i_biases = rng.normal(size=self.num_items)
        return self

    def score(self, user_idx, item_idx=None):
        return self.i_biases + self.i_factors @ self.u_factors[user_idx]

    def get_vector_measure(self):
        return "dot product aka. inner product"

    def get_user_vectors(self):
        return np.hstack([self.u_factors, np.ones((self.num_users, 1))])

    def get_item_vectors(self):
        return np.hstack([self.i_factors, self.i_biases[:, None]])


class EASE(Recommender):
    def fit(self, train_set, val_set=None):
        super().fit(train_set)
        inverse = np.linalg.inv(train_set.matrix.T @ train_set.matrix + 500 * np.eye(self.num_items))
        self.B = -inverse / np.diag(inverse)
        np.fill_diagonal(self.B, 0)
        return self

    def score(self, user_idx, item_idx=None):
        return self.train_set.matrix[[user_idx]] @ self.B  # one row, as the sparse product gives it
