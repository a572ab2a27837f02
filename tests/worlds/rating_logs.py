"""Small rated logs for the models of ratings."""

import numpy as np

from unskew.data import Interactions
from unskew.models import Rated


def small(seed=0, n_users=30, n_items=20, share=0.3, weighted=True):
    """Ratings 1 to 5 of two tastes and noise, with random weights."""
    rng = np.random.default_rng(seed)
    truth = 3 + np.outer(rng.normal(size=n_users), rng.normal(size=n_items)) + 0.5 * rng.normal(size=(n_users, 1))
    ratings = np.clip(np.round(truth), 1, 5)
    users, items = np.nonzero(rng.random(ratings.shape) < share)
    weights = rng.uniform(1, 9, len(users)) if weighted else np.full(len(users), n_users * n_items / len(users))
    return Rated(users, items, ratings[users, items], weights, n_users, n_items)


def log_of(rated, **columns):
    """The same rows as a log whose users and items are declared."""
    given = {"values": rated.values, "propensity": 1 / rated.weights} | columns
    return Interactions.from_arrays(
        rated.users, rated.items, n_users=rated.n_users, n_items=rated.n_items, name="train.csv", **given
    )


def numpy_objective(rated, factors, penalty, loss, offsets):
    """The same sum and gradient as the compiled ones, written with numpy from the formula."""
    U, I = rated.n_users, rated.n_items
    scale = penalty * U * I / ((U + I) * (factors + (offsets == "regularised")))

    def evaluate(point):
        V, W = point[: U * factors].reshape(U, factors), point[U * factors : (U + I) * factors].reshape(I, factors)
        a, b, c = point[-U - I - 1 : -I - 1], point[-I - 1 : -1], point[-1]
        full = V @ W.T + a[:, None] + b + c
        errors = full[rated.users, rated.items] - rated.values
        losses, slopes = (np.abs(errors), np.sign(errors)) if loss == "mae" else (errors**2, 2 * errors)
        G = np.zeros((U, I))
        G[rated.users, rated.items] = rated.weights * slopes
        squares, free = np.sum(V**2) + np.sum(W**2), offsets == "free"
        value = np.sum(rated.weights * losses) + scale * (squares + (0 if free else a @ a + b @ b))
        offset_slope = 0 if free else 2 * scale
        parts = (
            G @ W + 2 * scale * V,
            G.T @ V + 2 * scale * W,
            G.sum(axis=1) + offset_slope * a,
            G.sum(axis=0) + offset_slope * b,
            G.sum(),
        )
        return value, np.concatenate([np.ravel(part) for part in parts])

    return evaluate
