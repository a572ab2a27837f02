"""Small labelled logs, methods ready to take a step on them, and the formulas written plainly."""

import numpy as np
from torch_or_skip import torch

from unskew.data import Interactions
from unskew.models.debiased.labelled import Labelled
from unskew.models.debiased.method import Setting
from unskew.models.debiased.trainer import backbone_of

N_USERS, N_ITEMS = 7, 6


def log(seed=0, n_users=N_USERS, n_items=N_ITEMS, share=0.6, name="train.csv"):
    """Labels of some pairs; every user has at least one row, the last one no positive."""
    rng = np.random.default_rng(seed)
    seen = rng.random((n_users, n_items)) < share
    seen[:, 0] = True
    users, items = np.nonzero(seen)
    labels = rng.random(len(users)) < 0.4
    labels[:2] = 0, 1
    labels[users == n_users - 1] = 0
    return Interactions.from_arrays(users, items, labels.astype(float), n_users=n_users, n_items=n_items, name=name)


def prepared(model, *, uniform=True, seed=0):
    """A method at its first step, with its setting; numbers are not tiny, so that all terms matter."""
    rows = Labelled.of(log(), str(model), both=False)
    rng = np.random.default_rng(seed)
    backbone = backbone_of(model, rows, rng)
    for part in backbone.parameters:
        part.copy_(torch.from_numpy(rng.normal(size=tuple(part.shape), scale=0.5)))
    sample = rows.part(log(seed=3, share=0.3, name="uniform.csv"), "model") if uniform else None
    setting = Setting(rows, sample, backbone, rng)
    return model.method(setting), setting


def leaves(parts):
    """Copies in double precision whose derivatives are recorded."""
    return [part.detach().clone().double().requires_grad_() for part in parts]


def scores(model, parts, labelled):
    """Scores of all pairs, from the parameters."""
    if model.backbone == "mf":
        users, items, user_bias, item_bias = parts
        return users @ items.T + user_bias[:, None] + item_bias
    users, items = flowed(parts[0], parts[1], labelled, model.layers)
    return users @ items.T + parts[2]


def flowed(users, items, labelled, layers):
    """The mean of powers of the dense normalised adjacency matrix, applied to all nodes at once."""
    edges = torch.from_numpy((labelled.matrix() > 0).astype(float))
    n_users, n_items = edges.shape
    whole = torch.zeros(n_users + n_items, n_users + n_items, dtype=torch.double)
    whole[:n_users, n_users:] = edges
    whole[n_users:, :n_users] = edges.T
    degrees = whole.sum(1)
    root = torch.where(degrees > 0, degrees.clamp(min=1) ** -0.5, 0.0)
    normalised = root[:, None] * whole * root
    nodes = torch.cat([users, items])
    total = sum(torch.linalg.matrix_power(normalised, power) @ nodes for power in range(layers + 1)) / (layers + 1)
    return total[:n_users], total[n_users:]


def loss(kind, score, target):
    """Of each pair, with targets around -1 and 1."""
    if kind == "squared":
        return (score - target) ** 2
    return torch.nn.functional.softplus(score) - score * (1 + target) / 2


def prediction(kind, score):
    """What the error of a pair is measured from."""
    return score if kind == "squared" else torch.tanh(score / 2)


def penalty(parts, factor, block, n_users):
    """λ/2 of the block's users, and the block's share of that of the items."""
    share = (block.stop - block.start) / n_users
    return factor / 2 * ((parts[0][block] ** 2).sum() + share * (parts[1] ** 2).sum())


def moved(before, after, rate):
    """The gradient that a plain step has followed."""
    return [(old.double() - new.double()) / rate for old, new in zip(before, after, strict=True)]


def assert_near(found, expected, tolerance=2e-4):
    """Single precision, differences divided by a learning rate: relative to the largest number."""
    for one, other in zip(found, expected, strict=True):
        scale = max(float(other.abs().max()), 1.0)
        torch.testing.assert_close(one.double(), other.double(), rtol=0, atol=tolerance * scale)
