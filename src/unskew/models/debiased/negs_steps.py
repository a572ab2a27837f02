"""Steps of negative sampling: the hardest of some drawn items."""

import numpy as np
import torch
from torch import Tensor

from unskew.arrays import Ints
from unskew.models.debiased.method import Method, Setting, Slopes
from unskew.models.debiased.negs import NegS


class Sampled(Method):
    """The steps of `negs`."""

    def __init__(self, model: NegS, setting: Setting) -> None:
        super().__init__(model, setting)
        self.hardest, self.drawn, self.rng = model.hardest, model.drawn, setting.rng
        rows = setting.labelled.rows
        positive = rows.labels > 0
        self.users, self.items = rows.users[positive], rows.items[positive]
        self.starts = np.searchsorted(rows.users[positive], np.arange(setting.labelled.shape[0] + 1))

    def step(self, block: slice) -> tuple[float, float]:
        """Take a step on the log loss of the block's positives and of the items drawn for them."""
        factors = self.backbone.factors(self.backbone.parameters)
        slopes = Slopes(factors)
        scores = factors[0][block] @ factors[1].T
        first, last = int(self.starts[block.start]), int(self.starts[block.stop])
        owners = self.users[first:last] - block.start
        positives = torch.from_numpy(owners * scores.shape[1] + self.items[first:last])
        chosen = self.choose(scores, owners).view(-1).div_(self.hardest)
        flat = scores.view(-1)
        likes = flat[positives]
        loss = float(torch.nn.functional.softplus(-likes).sum())
        loss += float(torch.vdot(torch.nn.functional.softplus(flat), chosen))
        slope = torch.sigmoid(flat).mul_(chosen)
        slope.index_add_(0, positives, torch.sigmoid(-likes), alpha=-1)
        slopes.add(block, slope.view(scores.shape))
        self.descend(block, *slopes.result(1.0))
        return loss, float(last - first)

    def choose(self, scores: Tensor, owners: Ints) -> Tensor:
        """How often each pair is among the H highest scored of the U items drawn for a positive of its user.

        Only those H are drawn, as ranks in the user's list: the ranks of U uniform draws are uniform numbers; the H
        smallest of them are uniform below the next one, which has a beta distribution.

        Parameters
        ----------
        scores : Tensor (users, items)
        owners : array of int
            The row of each positive.

        Returns
        -------
        Tensor (users, items)
        """
        n_items = scores.shape[1]
        drawn = self.rng.random((len(owners), self.hardest), dtype=np.float32)
        if self.hardest < self.drawn:
            drawn *= self.rng.beta(self.hardest + 1, self.drawn - self.hardest, size=(len(owners), 1)).astype(
                np.float32
            )
        drawn *= n_items
        places = np.minimum(drawn.astype(np.int64), n_items - 1)  # a number just below n may round to n
        places += owners[:, None] * n_items
        by_rank = np.bincount(places.reshape(-1), minlength=scores.numel()).reshape(tuple(scores.shape))
        counts = by_rank.astype(np.float32)
        if self.hardest < self.drawn:  # else a rank can be used as an item
            np.put_along_axis(counts, np.argsort(-scores.numpy(), axis=1, kind="stable"), by_rank, axis=1)
        return torch.from_numpy(counts)
