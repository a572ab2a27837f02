import torch


class BPR(torch.nn.Module):
    type = "ModelType.GENERAL"

    def __init__(self, config, dataset):
        super().__init__()
        torch.manual_seed(0)
        self.device = config["device"]
        self.user_embedding = torch.nn.Embedding(dataset.user_num, 4)
        self.item_embedding = torch.nn.Embedding(dataset.item_num, 4)

    def calculate_loss(self, interaction):
        raise AssertionError

    def predict(self, interaction):
        raise AssertionError

    def full_sort_predict(self, interaction):
        users = self.user_embedding(interaction["user_id"])
        return torch.matmul(users, self.item_embedding.weight.transpose(0, 1)).view(-1)
