import numpy as np
from scipy.sparse import coo_matrix


class Dataset:
    def __init__(self):
        self._users, self._items = {}, {}

    def fit(self, users, items):
        self.fit_partial(users, items)

    def fit_partial(self, users=None, items=None):
        for ids, places in ((users, self._users), (items, self._items)):
            for each in ids:
                places.setdefault(each, len(places))

    def mapping(self):
        return self._users, self._users, self._items, self._items

    def build_interactions(self, data):
        rows = [(self._users[user], self._items[item]) for user, item in data]
        users, items = np.array(rows).T
        made = coo_matrix((np.ones(len(rows)), (users, items)), shape=(len(self._users), len(self._items)))
        return made, made
