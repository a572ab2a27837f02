import csv
from pathlib import Path

import numpy as np
import torch


class Interaction:
    def __init__(self, interaction):
        self.interaction = interaction

    def __getitem__(self, index):
        if isinstance(index, str):
            return self.interaction[index]
        return Interaction({name: values[index] for name, values in self.interaction.items()})

    def to(self, device):
        return Interaction({name: values.to(device) for name, values in self.interaction.items()})


class Dataset:
    uid_field, iid_field = "user_id", "item_id"

    def __init__(self, rows):
        places = {"user_id": {"[PAD]": 0}, "item_id": {"[PAD]": 0}}
        numbers = {"user_id": [], "item_id": []}
        for row in rows:
            for field, token in row.items():
                name = field.partition(":")[0]
                numbers[name].append(places[name].setdefault(token, len(places[name])))
        self.field2id_token = {name: np.array(list(each)) for name, each in places.items()}
        self.inter_feat = Interaction({name: torch.tensor(each) for name, each in numbers.items()})
        self.user_num, self.item_num = (len(each) for each in places.values())

    def join(self, df):
        return df

    def __getitem__(self, index):
        return self.inter_feat[index]


class Loader:
    def __init__(self, dataset):
        self._dataset = dataset

    @property
    def dataset(self):
        return self._dataset


def create_dataset(config):
    name = config["dataset"]
    with Path(config["data_path"], name, f"{name}.inter").open(encoding="utf-8") as file:
        return Dataset(csv.DictReader(file, delimiter="\t"))


def data_preparation(config, dataset):
    return Loader(dataset), Loader(dataset), Loader(dataset)
