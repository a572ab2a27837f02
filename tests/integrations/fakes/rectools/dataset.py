import numpy as np
import pandas as pd


class IdMap:
    def __init__(self, external_ids):
        self.external_ids = external_ids
        self.size = len(external_ids)


class Dataset:
    @classmethod
    def construct(cls, interactions_df):
        made = cls()
        made.user_id_map = IdMap(pd.unique(interactions_df["user_id"]))  # in the order of appearance
        made.item_id_map = IdMap(pd.unique(interactions_df["item_id"]))
        users = {user: row for row, user in enumerate(made.user_id_map.external_ids)}
        items = {item: row for row, item in enumerate(made.item_id_map.external_ids)}
        made.matrix = np.zeros((len(users), len(items)))
        made.matrix[interactions_df["user_id"].map(users), interactions_df["item_id"].map(items)] = 1
        return made
