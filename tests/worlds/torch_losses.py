"""The losses of gradient descent in torch, to differentiate."""

from typing import Any

import numpy as np
from torch_or_skip import torch

from unskew.models.training.gradient_run import Descent

torch.set_num_threads(1)


def values(run: Descent) -> list[Any]:
    """Users, items and biases."""
    return [kind.now for kind in (run.rows.users, run.rows.items, run.rows.bias)]


def leaves(run: Descent) -> list[torch.Tensor]:
    """The same as variables of torch, in double precision."""
    return [torch.tensor(value.astype(float), requires_grad=True) for value in values(run)]


def penalty(run: Descent, variables: list[torch.Tensor]) -> torch.Tensor:
    """Half of lambda times the squared length of every row that the last batch looked up, each time it did."""
    users, items, bias = variables
    batch = run.batch
    looked_up = (users[torch.tensor(batch.users)], items[torch.tensor(batch.items)], bias[torch.tensor(batch.items)])
    return run.model.regularisation / 2 * sum((rows**2).sum() for rows in looked_up)


def losses(run: Descent, variables: list[torch.Tensor]) -> torch.Tensor:
    """The loss of each sample of the last batch, as Yang et al. (2018) write it."""
    users, items, bias = variables
    batch, word = run.batch, run.model.word
    who = users[torch.tensor(batch.users)][:, None]
    what = torch.tensor(batch.items.reshape(batch.size, -1).astype(np.int64))
    if word in {"cml", "cml-rank"}:
        x = bias[what] - ((who - items[what]) ** 2).sum(dim=2)
        return _hinge(run, x)
    x = (who * items[what]).sum(dim=2) + bias[what]
    if word == "bpr":
        return -torch.nn.functional.logsigmoid(torch.clamp(x[:, 0] - x[:, 1], min=-30))
    return _squared(run, x[:, 0])


def _hinge(run: Descent, x: torch.Tensor) -> torch.Tensor:
    model: Any = run.model
    h = torch.relu(model.margin - x[:, :1] + x[:, 1:])
    if model.word == "cml":
        return h[:, 0]
    with torch.no_grad():
        share = (h > 0).sum(dim=1).double() / h.shape[1]
        weight = torch.log(torch.floor(run.batch.n_items * share + 1e-9) + 1)
    return weight * h.max(dim=1).values


def _squared(run: Descent, x: torch.Tensor) -> torch.Tensor:
    model: Any = run.model
    positive = torch.arange(len(x)) < model.positives
    if model.form == "openrec":
        return (positive.double() - torch.sigmoid(x)) ** 2 / 2
    return torch.where(positive, 1.0, 0.25) * (positive.double() - x) ** 2 / 2
