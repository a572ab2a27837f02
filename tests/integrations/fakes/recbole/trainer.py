class Trainer:
    def __init__(self, config, model):
        self.config, self.model = config, model

    def fit(self, train_data, saved=True, show_progress=False):
        return None, None
