"""The part of LightFM 1.17 that the recipe uses, with its attributes, arguments and shapes."""

import numpy as np


class LightFM:
    def __init__(self, no_components=10, loss="logistic", random_state=None):
        self.no_components, self.random_state = no_components, random_state
        self.item_embeddings = None

    def fit(self, interactions, epochs=1):
        rng = np.random.default_rng(self.random_state)
        for axis, n in zip(("user", "item"), interactions.shape, strict=True):
            setattr(self, f"{axis}_embeddings", rng.normal(size=(n, self.no_components)).astype(np.float32))
            setattr(self, f"{axis}_biases", rng.normal(size=n).astype(np.float32))
        return self

    def _check_initialized(self):
        if self.item_embeddings is None:
            raise ValueError("You must fit the model before trying to obtain predictions.")

    def get_item_representations(self, features=None):
        self._check_initialized()
        return self.item_biases, self.item_embeddings

    def get_user_representations(self, features=None):
        self._check_initialized()
        return self.user_biases, self.user_embeddings

    def predict(self, user_ids, item_ids):
        products = (self.user_embeddings[user_ids] * self.item_embeddings[item_ids]).sum(axis=1)
        return products + self.user_biases[user_ids] + self.item_biases[item_ids]
