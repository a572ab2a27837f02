class Config:
    def __init__(self, model=None, dataset=None, config_dict=None):
        self._settings = {"model": model, "dataset": dataset, "device": "cpu", **config_dict}

    def __getitem__(self, name):
        return self._settings[name]
