"""Random rows over all pairs, and the estimators written as loops."""

from dataclasses import replace

import numpy as np
from hypothesis import strategies as st

from unskew.estimators import Aoa, Estimator, Ips, Rows, Snips

FORMS: list[Estimator] = [
    Aoa(), Aoa(per="pair"), Aoa(per="user"), Aoa(per="item"), Ips(), Ips(clip=0.4),
    Snips(), Snips(per="balanced"), Snips(per="user"), Snips(per="item"), Snips(clip=0.4), Snips(per="item", clip=0.7),
]  # fmt: skip


@st.composite
def row_worlds(draw: st.DrawFn, *, unequal: bool | None = None) -> Rows:
    """Up to 6 users and 6 items, with users that have no row; s differs between users when sizes are unequal."""
    n_users, n_items = draw(st.integers(1, 6)), draw(st.integers(1, 6))
    cells = st.tuples(st.integers(0, n_users - 1), st.integers(0, n_items - 1))
    pairs = draw(st.sets(cells, min_size=1, max_size=n_users * n_items))
    differ = draw(st.booleans()) if unequal is None else unequal
    return make_rows(sorted(pairs), n_users, draw(st.integers(0, 2**32 - 1)), unequal=differ)


def make_rows(pairs: list[tuple[int, int]], n_users: int, seed: int, *, unequal: bool) -> Rows:
    rng = np.random.default_rng(seed)
    users, user = np.unique([u for u, _ in pairs], return_inverse=True)
    item = np.unique([i for _, i in pairs], return_inverse=True)[1]
    numbers = rng.integers(6, 60, len(users)) if unequal else np.full(len(users), 6)
    rest = np.full(n_users - len(users), 6.0)
    return Rows(
        worth=rng.uniform(0, 4, len(pairs)),
        propensity=rng.uniform(0.05, 1, len(pairs)),
        user=user,
        item=item,
        size=1 / numbers[user] if unequal else None,
        total=np.ones(n_users) if unequal else np.concatenate([numbers, rest]).astype(float),
    )


def take(rows: Rows, order: np.ndarray) -> Rows:
    """The same rows in another order."""
    columns = {name: getattr(rows, name) for name in ("worth", "propensity", "user", "item", "size")}
    return replace(rows, **{name: column[order] for name, column in columns.items() if column is not None})


def sizes_of(rows: Rows) -> np.ndarray:
    """s of each row."""
    return np.ones(len(rows)) if rows.size is None else rows.size


def weight_of(estimator: Estimator, rows: Rows, row: int) -> float:
    if isinstance(estimator, Aoa):
        return 1.0
    clip = getattr(estimator, "clip", 0.0)
    return 1 / max(float(rows.propensity[row]), clip * max(rows.propensity.tolist()))


def by_loops(estimator: Estimator, rows: Rows) -> float:
    """The value, row by row."""
    everything = range(len(rows))
    if isinstance(estimator, Ips):
        return sum(weight_of(estimator, rows, r) * rows.worth[r] for r in everything) / sum(rows.total.tolist())
    per = {"auto": "pair"}.get(estimator.per, estimator.per)  # type: ignore[attr-defined]
    group = {"pair": np.zeros(len(rows), int), "item": rows.item}.get(per, rows.user)
    above, below, ratios = [], [], []
    for which in sorted(set(group.tolist())):
        members = [r for r in everything if group[r] == which]
        gained = sum(weight_of(estimator, rows, r) * rows.worth[r] for r in members)
        stood = sum(weight_of(estimator, rows, r) * sizes_of(rows)[r] for r in members)
        above.append(gained / len(members))
        below.append(stood / len(members))
        ratios.append(gained / stood)
    return sum(above) / sum(below) if per == "balanced" else sum(ratios) / len(ratios)


def reweighted(estimator: Estimator, rows: Rows, user_weight: np.ndarray) -> float:
    """The value when the k-th user stands for so many; users without a row come last."""
    each = user_weight[rows.user]
    weight = np.ones(len(rows))
    if not isinstance(estimator, Aoa):
        clip = getattr(estimator, "clip", 0.0)
        weight = 1 / np.maximum(rows.propensity, clip * rows.propensity.max())
    if isinstance(estimator, Ips):
        return float(np.sum(each * weight * rows.worth) / np.sum(user_weight * rows.total))
    per = {"auto": "pair"}.get(estimator.per, estimator.per)  # type: ignore[attr-defined]
    if per == "user":
        own = [_ratio(rows, weight, rows.user == user) for user in range(int(rows.user.max()) + 1)]
        return float(np.average(own, weights=user_weight[: len(own)]))
    if per == "item":
        return float(np.mean([_ratio(rows, each * weight, rows.item == item) for item in np.unique(rows.item)]))
    if per == "balanced":
        weight = weight / np.bincount(rows.user)[rows.user]
    return _ratio(rows, each * weight, np.ones(len(rows), bool))


def _ratio(rows: Rows, weight: np.ndarray, which: np.ndarray) -> float:
    return float(np.sum(weight[which] * rows.worth[which]) / np.sum(weight[which] * sizes_of(rows)[which]))
