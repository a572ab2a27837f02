"""Steps of negative sampling: the hardest of some drawn items."""

import numpy as np
import torch
from torch import Tensor

from unskew.models.debiased.method import Method, Setting, Slopes
from unskew.models.debiased.negs import NegS


class Sampled(Method):
    """Of `negs`.

    Parameters
    ----------
    model : NegS
    setting : Setting
    """

    def __init__(self, model: NegS, setting: Setting) -> None:
        super().__init__(model, setting)
        self.hardest, self.drawn, self.generator = model.hardest, model.drawn, setting.generator
        rows = setting.labelled.rows
        positive = rows.labels > 0
        self.users, self.items = (torch.from_numpy(codes[positive]) for codes in (rows.users, rows.items))
        self.starts = np.searchsorted(rows.users[positive], np.arange(setting.labelled.shape[0] + 1))

    def step(self, block: slice) -> tuple[float, float]:
        """The log loss of the block's positives and of what was drawn for them."""
        factors = self.backbone.factors(self.backbone.parameters)
        slopes = Slopes(factors)
        scores = factors[0][block] @ factors[1].T
        first, last = int(self.starts[block.start]), int(self.starts[block.stop])
        owners = self.users[first:last] - block.start
        n_items = scores.shape[1]
        positives = owners * n_items + self.items[first:last]
        negatives = owners[:, None] * n_items + self.choose(scores, owners)
        # how often each pair was chosen, as a negative: positives may be drawn too
        chosen = torch.bincount(negatives.view(-1), minlength=scores.numel()).to(scores.dtype).div_(self.hardest)
        flat = scores.view(-1)
        likes = flat[positives]
        loss = float(torch.nn.functional.softplus(-likes).sum())
        loss += float(torch.vdot(torch.nn.functional.softplus(flat), chosen))
        slope = torch.sigmoid(flat).mul_(chosen)
        slope.index_add_(0, positives, torch.sigmoid(-likes), alpha=-1)
        slopes.add(block, slope.view(scores.shape))
        self.descend(block, *slopes.result(1.0))
        return loss, float(last - first)

    def choose(self, scores: Tensor, owners: Tensor) -> Tensor:
        """For each positive, the H highest scored of U uniform draws from the catalogue.

        Only the H are drawn: the k-th highest scored of U draws stands at the rank ⌊n x⌋ of its user's list, where x is
        the k-th smallest of U uniform numbers, and those come one after the other from exponential gaps.

        Parameters
        ----------
        scores : Tensor (users, items)
        owners : Tensor of int
            The row of each positive.

        Returns
        -------
        Tensor of int (positives, H)
        """
        n_items = scores.shape[1]
        if self.hardest == self.drawn:
            return torch.randint(n_items, (len(owners), self.drawn), generator=self.generator)
        left = torch.arange(self.drawn, self.drawn - self.hardest, -1)
        gaps = torch.empty(len(owners), self.hardest).exponential_(generator=self.generator).div_(left)
        ranks = gaps.cumsum_(1).neg_().expm1_().mul_(-n_items).long().clamp_(max=n_items - 1)
        # numpy sorts far faster than torch
        order = torch.from_numpy(np.argsort(scores.neg().numpy(), axis=1))
        return order.view(-1)[ranks.add_(owners[:, None] * n_items)]
