import numpy as np
from scipy.sparse import csr_matrix


class CosineRecommender:
    def __init__(self, K=20, num_threads=0):
        self.similarity, self.K, self.num_threads, self.scorer = None, K, num_threads, None

    def fit(self, counts, show_progress=True):
        dense = counts.toarray()
        lengths = np.linalg.norm(dense, axis=0)
        unit = dense / np.where(lengths == 0, 1, lengths)
        self.similarity = csr_matrix((unit.T @ unit).astype(np.float64))

    def recommend(self, userid, user_items, N=10, filter_already_liked_items=True):
        scores = (user_items @ self.similarity).toarray()[0]
        ids = np.argsort(-scores)[:N]
        return ids.astype(np.int32), scores[ids]

    def similar_items(self, itemid, N=10):
        scores = self.similarity[itemid].toarray()[0]
        return np.argsort(-scores)[:N], np.sort(scores)[::-1][:N]
