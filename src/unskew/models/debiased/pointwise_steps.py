"""Steps on the observed pairs, weighted by their label."""

import torch

from unskew.models.debiased.method import Pointwise, Setting, Slopes
from unskew.models.debiased.pointwise import PointwiseModel


class Weighted(Pointwise):
    """The steps of `bias` and `ips`.

    Parameters
    ----------
    model : PointwiseModel
    setting : Setting
    negative, positive : float
        Weight of a row with that label.
    """

    def __init__(self, model: PointwiseModel, setting: Setting, negative: float, positive: float) -> None:
        super().__init__(model, setting)
        self.mean, self.half = (positive + negative) / 2, (positive - negative) / 2

    def step(self, block: slice) -> tuple[float, float]:
        """Take a step on the weighted loss."""
        factors = self.backbone.factors(self.backbone.parameters)
        slopes = Slopes(factors)
        loss, weight = 0.0, 0.0
        for rows, labels, predicted in self.tiles(block, factors):
            targets = torch.mul(labels, self.half).add_(self.mean).mul_(labels)  # w y, because y is 1, -1 or 0
            weights = targets.abs()
            total = float(weights.sum())
            # w (p - y)^2 = p (w p - w y) - p w y + w
            loss += total - float(torch.vdot(predicted.view(-1), targets.view(-1)))
            slope = weights.mul_(predicted).sub_(targets)
            loss += float(torch.vdot(predicted.view(-1), slope.view(-1)))
            weight += total
            slopes.add(rows, slope)
        self.descend(block, *slopes.result(self.slope))
        return loss, weight
