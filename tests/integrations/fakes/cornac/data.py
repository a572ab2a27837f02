from collections import OrderedDict

import numpy as np


class Dataset:
    @classmethod
    def from_uir(cls, data, seed=None):
        made = cls()
        made.uid_map, made.iid_map = OrderedDict(), OrderedDict()
        rows = [
            (made.uid_map.setdefault(user, len(made.uid_map)), made.iid_map.setdefault(item, len(made.iid_map)))
            for user, item, _ in data
        ]
        made.num_users, made.num_items = len(made.uid_map), len(made.iid_map)
        made.matrix = np.zeros((made.num_users, made.num_items))
        made.matrix[tuple(zip(*rows, strict=True))] = 1
        return made
