"""The contract of a propensity: numbers in (0, 1] that stay with their rows, and a fit that changes nothing else."""

from typing import Any

import numpy as np

from unskew.arrays import Floats
from unskew.data import Interactions
from unskew.propensities import PropensityModel
from unskew.propensities.propensity import Propensity
from unskew.testing.contracts.require import (
    errors_as_sentences,
    fail,
    is_line,
    near,
    piece_of,
    require,
    require_arguments,
    require_array,
    require_method,
    same_bytes,
)

USERS, ITEMS, ROWS = 30, 22, 300
"""Size of the logs of `propensity_logs`: users 0 to 29, items 0 to 21."""


def check_propensity(
    model: PropensityModel | str, *, logs: tuple[Interactions, Interactions] | None = None, seed: int = 0
) -> None:
    """Check that a propensity keeps its contract.

    `fit` gives a new object and changes neither the model nor the logs, and gives the same numbers again. The fitted
    propensity has one number per row in (0, 1], or NaN where it knows none, not everywhere; the number of a row does
    not depend on the other rows or on their order; and the largest of all pairs is 1 unless it is `absolute`.

    Parameters
    ----------
    model : PropensityModel or str
        A propensity or its word.
    logs : (Interactions, Interactions), optional
        Train and test, of one vocabulary; by default those of `propensity_logs`, whose users are 0 to 29 and items 0 to
        21.
    seed : int
        Of the default logs.

    Raises
    ------
    AssertionError
        One sentence that says which property fails.

    Examples
    --------
    >>> from unskew.propensities import Popularity
    >>> check_propensity(Popularity(gamma=1.5))
    """
    checked = piece_of(PropensityModel, model)  # type: ignore[type-abstract]  # an instance of a subclass comes back
    with errors_as_sentences(checked):
        _check(checked, *(logs or propensity_logs(seed)))


def _check(model: PropensityModel, train: Interactions, test: Interactions) -> None:
    require(is_line(str(model)), model, "str() must give one line, which names the propensity in tables")
    require_method(model, "fit", "train", "test")
    before = str(model), train.sha256, test.sha256
    fitted = model.fit(train, test)
    require((str(model), train.sha256, test.sha256) == before, model, "fit() changes the model or a log; copy first")
    _check_fitted(model, fitted)
    values = _values(model, fitted, test)
    _check_range(model, values)
    again = _values(model, model.fit(train, test), test)
    require(
        same_bytes(again, values), model, "a second fit on the same logs gives other numbers; keep nothing of a fit"
    )
    _check_rows(model, fitted, test, values)
    if not fitted.absolute:
        users, items = np.indices((train.n_users, train.n_items)).reshape(2, -1)
        largest = np.nanmax(fitted(users, items))
        sentence = f"it is known up to scale, so its largest number must be 1, not {largest:g}; divide by the largest"
        require(largest == 1, model, sentence)


def _check_fitted(model: PropensityModel, fitted: Any) -> None:
    require(id(fitted) != id(model), model, "fit() must give a new object, not the model itself")
    form = "an object that is called with users, items and values, and that has `absolute`"
    require(callable(fitted), model, f"fit() must return {form}, not {type(fitted).__name__}")
    for arguments in (("users", "items"), ("users", "items", "values")):
        require_arguments(model, fitted, "what fit() returns", "__call__(users, items, values=None)", *arguments)
    says = isinstance(getattr(fitted, "absolute", None), bool)
    require(says, model, "what fit() gives must say whether it is `absolute`, True or False")


def propensity_logs(seed: int = 0) -> tuple[Interactions, Interactions]:
    """Return train and test of 300 rows each: few popular items, some that are never observed.

    The test has a column of propensities and ratings from 1 to 5.
    """
    rng = np.random.default_rng(seed)
    columns: dict[str, Any] = {"propensity": rng.uniform(0.01, 1, ROWS), "values": rng.integers(1, 6, ROWS)}
    given: dict[str, Any]
    logs = []
    for given in ({}, columns):
        users, items = rng.integers(0, USERS, ROWS), np.minimum(rng.geometric(0.15, ROWS), ITEMS - 3)
        logs.append(Interactions.from_arrays(users, items, n_users=USERS, n_items=ITEMS, **given))
    return logs[0], logs[1]


def _values(model: PropensityModel, fitted: Propensity, rows: Interactions) -> Floats:
    values = fitted(rows.users, rows.items, rows.values)
    require_array(model, values, "what a fitted propensity gives")
    shape = f"it gives shape {values.shape} for {len(rows)} rows; give one number per row"
    require(values.shape == (len(rows),), model, shape)
    require(values.dtype == np.float64, model, f"it gives numbers of type {values.dtype}, not float64; convert them")
    return values


def _check_range(model: PropensityModel, values: Floats) -> None:
    known = values[~np.isnan(values)]
    require(len(known), model, "it is NaN for every row of the test; give the numbers that are known")
    wrong = known[(known <= 0) | (known > 1)]
    if len(wrong):
        fail(model, f"it gives {wrong[0]:g}, which is not in (0, 1]; give NaN where there is none")


def _check_rows(model: PropensityModel, fitted: Propensity, test: Interactions, values: Floats) -> None:
    order = np.random.default_rng(0).permutation(len(test))
    for which, what in ((order, "the order of the rows changes"), (order[:7], "the other rows of the call change")):
        given = None if test.values is None else test.values[which]
        part = fitted(test.users[which], test.items[which], given)
        require(near(part, values[which], 1e-12), model, f"{what} the number of a row; compute each from its own row")
