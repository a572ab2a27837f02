"""The contract of an estimator: kinds, users, weights, propensities, and rows whose order does not matter."""

from dataclasses import replace
from typing import get_args

import numpy as np

from unskew.arrays import Floats, Ints
from unskew.errors import ConfigError, DataError
from unskew.estimators import OVER_ALL_PAIRS, Estimator, Kind, Rows
from unskew.estimators.estimate import Terms
from unskew.testing.contracts.require import (
    check_word,
    errors_as_sentences,
    fail,
    is_line,
    near,
    piece_of,
    require,
    require_array,
    require_method,
    same_bytes,
)
from unskew.testing.worlds.estimator_rows import (
    TOP,
    at_ranks,
    candidate_rows,
    exposed_rows,
    observed_rows,
    pair_rows,
    ranks_of,
    reordered,
)

_SEES = ("observed", "exposed", "inside", "candidates")


def check_estimator(estimator: Estimator | str, *, linear: bool = True, worlds: int = 20, seed: int = 0) -> None:
    """Check that an estimator keeps its contract, on small random rows of each kind that it claims.

    It refuses the kinds that it does not claim with `ConfigError`. For the others there is a numerator and a
    denominator per user, finite and with a value, and a weight of at least 0 per row; the order of rows and users does
    not matter; the value grows in proportion to the worth of the rows; and `weights` are those of the value. The value
    does not contradict the class attributes `needs_absolute`, `needs_relevant`, `uses_propensity` and
    `counts_empty_users`. An estimator may say that it needs an absolute propensity, or uses one, without doing so,
    because a form of its class may not: ``snips(clip=1)`` is a plain average.

    Parameters
    ----------
    estimator : Estimator or str
        An estimator or its word.
    linear : bool
        Whether the value is a weighted mean of the worth of the rows, up to one factor. False for an estimator that
        also uses `Rows.places`, whose weights are then not compared with its value.
    worlds : int
        Random rows per kind.
    seed : int

    Raises
    ------
    AssertionError
        One sentence that says which property fails.

    Examples
    --------
    >>> from unskew.estimators import Snips
    >>> check_estimator(Snips(clip=0.1))
    """
    checked = piece_of(Estimator, estimator)  # type: ignore[type-abstract]  # an instance of a subclass comes back
    with errors_as_sentences(checked):
        _check(checked, np.random.default_rng(seed), worlds, linear=linear)


def _check(estimator: Estimator, rng: np.random.Generator, worlds: int, *, linear: bool) -> None:
    check_word(estimator)
    require_method(estimator, "terms", "rows", "kind")
    require_method(estimator, "weights", "rows", "kind")
    require(estimator.sees in _SEES, estimator, f"sees is {estimator.sees!r} and must be one of {', '.join(_SEES)}")
    unknown = set(estimator.kinds) - set(get_args(Kind))
    require(estimator.kinds and not unknown, estimator, f"kinds must name some of {', '.join(get_args(Kind))}")
    estimated = [kind for kind in get_args(Kind) if _check_kind(estimator, kind, rng, worlds, linear=linear)]
    require(estimated, estimator, "it refuses every kind that it claims; name in `kinds` what terms() can estimate")
    if estimator.sees == "exposed":
        _check_labels(estimator, estimated[0])


def _check_kind(estimator: Estimator, kind: Kind, rng: np.random.Generator, worlds: int, *, linear: bool) -> bool:
    """Whether the estimator has this kind; a form may refuse more than its class does."""
    for world in range(worlds):
        rows = random_rows(estimator, kind, rng)
        terms = _terms_or_refusal(estimator, kind, rows)
        if terms is None:
            require(world == 0, estimator, f"it refuses some rows of kind {kind} and takes others; refuse all or none")
            return False
        _check_terms(estimator, terms, kind, rows)
        _check_weights(estimator, kind, rows, linear=linear)
        _check_order(estimator, kind, rows, rng)
        _check_worth(estimator, kind, rows)
        if estimator.sees in {"observed", "inside"}:
            _check_propensity(estimator, kind, rows)
            _check_users(estimator, kind, rows)
    require(is_line(estimator.target_of(kind)), estimator, f"target_of({kind!r}) must be one line")
    return True


def _terms_or_refusal(estimator: Estimator, kind: Kind, rows: Rows) -> Terms | None:
    """The terms, or None if the estimator refuses the kind as it should."""
    try:
        terms = estimator.terms(rows, kind)
    except ConfigError:
        return None
    except Exception as error:
        if kind in estimator.kinds:
            raise
        raised = f"terms() raises {type(error).__name__} for kind {kind!r}, which `kinds` does not name"
        fail(estimator, f"{raised}; raise self.refuse(kind)", error)
    accepted = f"terms() accepts kind {kind!r}, which `kinds` does not name; raise self.refuse(kind)"
    require(kind in estimator.kinds, estimator, accepted)
    given = type(terms).__name__
    require(isinstance(terms, Terms), estimator, f"terms() must return Terms(numerator, denominator), not {given}")
    return terms


def random_rows(estimator: Estimator, kind: Kind, rng: np.random.Generator) -> Rows:
    """Return random rows of the sort that an estimator is given for a metric of this kind."""
    seed, users = int(rng.integers(2**32)), int(rng.integers(1, 7))
    if estimator.sees == "exposed":
        return exposed_rows(rng.integers(1, TOP + 1, users).tolist(), seed)
    if estimator.sees == "candidates":
        return candidate_rows(users, seed, mean=kind == "mean")
    if kind in OVER_ALL_PAIRS:
        cells = rng.permutation(users * 6)[: rng.integers(1, users * 6 + 1)]
        return pair_rows(
            sorted((cell // 6, cell % 6) for cell in cells.tolist()), users, seed, unequal=kind == "graded"
        )
    rows = observed_rows(rng.integers(1, 6, users).tolist(), seed)
    if kind == "list":  # the value of each user's whole list
        return Rows(rows.worth, np.arange(len(rows)), rows.propensity)
    return rows


def _check_terms(estimator: Estimator, terms: Terms, kind: Kind, rows: Rows) -> None:
    above, below = terms.numerator, terms.denominator
    require_array(estimator, above, "the numerator of terms()")
    require_array(estimator, below, "the denominator of terms()")
    same = above.ndim == below.ndim == 1 and len(above) == len(below)
    shapes = f"terms() gives numerators {above.shape} and denominators {below.shape}"
    require(same, estimator, f"{shapes}; give one of each per user")
    _check_length(estimator, len(above), rows)
    finite = np.isfinite(above).all() and np.isfinite(below).all()
    require(finite, estimator, "a numerator or denominator is not finite; give 0 to a user who does not count")
    none = f"it has no value for {len(rows)} rows of kind {kind}; the sum of the denominators must be above 0"
    require(terms.value is not None, estimator, none)
    each = terms.rows is None or np.shape(terms.rows) == (len(rows),)
    require(each, estimator, "Terms.rows must have one number per row; leave it out if they are not known")
    again = estimator.terms(rows, kind)
    repeated = same_bytes(again.numerator, above) and same_bytes(again.denominator, below)
    require(
        repeated,
        estimator,
        "terms() gives other numbers when it is called again with the same rows; let no call depend on another",
    )


def _check_length(estimator: Estimator, length: int, rows: Rows) -> None:
    """Users without a row may have terms too; how many they are, `Rows.total` says for metrics over all pairs."""
    everybody = rows.n_users if rows.total is None else len(rows.total)
    if length not in {rows.n_users, everybody}:
        fail(estimator, f"terms() has {length} numbers for {rows.n_users} users; sum them by user with rows.sums")


def _check_weights(estimator: Estimator, kind: Kind, rows: Rows, *, linear: bool) -> None:
    weights = estimator.weights(rows, kind)
    require_array(estimator, weights, "the result of weights()")
    require(
        weights.shape == (len(rows),),
        estimator,
        f"weights() gives shape {weights.shape} for {len(rows)} rows; give one per row",
    )
    require(
        np.isfinite(weights).all() and (weights >= 0).all(),
        estimator,
        "a weight is below 0 or not finite; give 0 to a row that does not count",
    )
    if rows.positive is not None:
        require(not weights[~rows.positive].any(), estimator, "a row that is not positive has a weight; give it 0")
    require(weights.sum() > 0, estimator, "all weights are 0; a row that counts must have a weight")
    if linear and kind in {"mean", "loss"} and rows.logged is None:  # the worth of candidates has their weights
        share = _value(estimator, kind, rows) / _value(
            estimator, kind, _with_worth(rows, np.ones(len(rows)), constant=True)
        )
        want = weights @ rows.worth / weights.sum()
        require(
            near(share, want),
            estimator,
            f"weights() are not those of the value of kind {kind}, even up to scale; weight rows as terms() does",
        )


def _check_order(estimator: Estimator, kind: Kind, rows: Rows, rng: np.random.Generator) -> None:
    names = rng.permutation(rows.n_users)
    moved = _renamed(rows, names, rng.permutation(len(rows)))
    one, other = estimator.terms(rows, kind), estimator.terms(moved, kind)
    n = rows.n_users
    for before, after in ((one.numerator, other.numerator), (one.denominator, other.denominator)):
        same = near(after[:n][names], before[:n]) and near(after[n:], before[n:])
        require(same, estimator, f"the order of rows or users changes the terms of kind {kind}; let only values count")


def _renamed(rows: Rows, names: Ints, shuffled: Ints) -> Rows:
    """The same rows in another order, with other codes for the users."""
    if rows.logged is not None:
        return _renamed_candidates(rows, rows.logged, names)
    order = shuffled[np.argsort(names[rows.user[shuffled]], kind="stable")] if rows.positive is not None else shuffled
    total = None
    if rows.total is not None:
        total = rows.total.copy()
        total[names] = rows.total[: rows.n_users]
    moved = replace(reordered(replace(rows, user=names[rows.user], positive=None, places=None), order), total=total)
    if rows.positive is None:
        return moved
    moved = replace(moved, positive=rows.positive[order])
    return at_ranks(moved, ranks_of(rows)[order], 1 / np.arange(1, TOP + 1))


def _renamed_candidates(rows: Rows, logged: Rows, names: Ints) -> Rows:
    """The same users in another order; each row is a user."""
    order = np.argsort(names)
    columns = {name: getattr(rows, name) for name in ("worth", "size", "total", "mass")}
    moved = {name: column[order] for name, column in columns.items() if column is not None}
    return replace(rows, **moved, logged=replace(logged, user=names[logged.user]))


def _check_worth(estimator: Estimator, kind: Kind, rows: Rows) -> None:
    value = _value(estimator, kind, rows)
    if (estimator.sees, kind) != ("exposed", "list"):  # a share of the ideal list, which doubles too
        twice = near(_value(estimator, kind, _with_worth(rows, 2 * rows.worth)), 2 * value)
        require(
            twice,
            estimator,
            f"twice the worth of each row is not twice the value of kind {kind}; let the numerator be linear in it",
        )
    constant = _value(estimator, kind, _with_worth(rows, np.full(len(rows), 0.3), constant=True))
    require(
        constant > 0,
        estimator,
        f"rows of worth 0.3 have the value {constant:g}, which must be above 0; check the signs",
    )
    if estimator.sees != "exposed":
        better = rows.worth.copy()
        better[0] += 1
        more = _value(estimator, kind, rows.with_worth(better))
        require(
            more >= value - 1e-12,
            estimator,
            f"a row of larger worth makes the value of kind {kind} smaller; check the signs",
        )


def _with_worth(rows: Rows, worth: Floats, *, constant: bool = False) -> Rows:
    """The rows with this worth; exposed ones have it at their ranks, and candidates in the log too."""
    if rows.logged is not None:
        logged = np.full(len(rows.logged), worth[0]) if constant else 2 * rows.logged.worth
        return replace(rows.with_worth(worth), logged=rows.logged.with_worth(logged))
    if rows.places is None:
        return rows.with_worth(worth)
    gains = np.full(TOP, worth[0]) if constant else 2 / np.arange(1, TOP + 1)
    return at_ranks(rows, ranks_of(rows), gains)


def _check_propensity(estimator: Estimator, kind: Kind, rows: Rows) -> None:
    value = _value(estimator, kind, rows)
    if not estimator.uses_propensity:
        sentence = "uses_propensity is False, but the propensities change the value; set it to True"
        without = _value_without(estimator, kind, replace(rows, propensity=None), sentence)
        require(near(without, value), estimator, sentence)
        return
    scaled = near(_value(estimator, kind, replace(rows, propensity=rows.chance / 2)), value)
    if not estimator.needs_absolute:
        sentence = "needs_absolute is False, but the scale of the propensities changes the value; set it to True"
        require(scaled, estimator, sentence)


def _check_users(estimator: Estimator, kind: Kind, rows: Rows) -> None:
    if kind in OVER_ALL_PAIRS or kind == "list":
        return
    value = _value(estimator, kind, rows)
    more = _value(estimator, kind, replace(rows, empty=2))
    if estimator.counts_empty_users:
        want = value * rows.n_users / (rows.n_users + 2)
        sentence = "counts_empty_users is True, but users without a row do not count as 0; set it to False"
        require(near(more, want), estimator, sentence)
    else:
        sentence = "counts_empty_users is False, but users without a row change the value; set it to True"
        require(near(more, value), estimator, sentence)
    if kind == "mean":
        _check_relevant(estimator, rows, value)


def _check_relevant(estimator: Estimator, rows: Rows, value: float) -> None:
    unknown = replace(rows, total=None)
    if not estimator.needs_relevant:
        sentence = "needs_relevant is False, but the number of relevant items changes it; set it to True"
        require(near(_value_without(estimator, "mean", unknown, sentence), value), estimator, sentence)
        return
    sentence = "needs_relevant is True, so a mean without the numbers of relevant items must raise ConfigError"
    _require_refusal(estimator, "mean", unknown, ConfigError, sentence)


def _check_labels(estimator: Estimator, kind: Kind) -> None:
    rows = Rows(np.ones(1), np.zeros(1, int), np.ones(1))
    sentence = "it sees exposed rows, so rows without labels must raise DataError; read rows.labels"
    _require_refusal(estimator, kind, rows, DataError, sentence)


def _require_refusal(estimator: Estimator, kind: Kind, rows: Rows, refusal: type[Exception], sentence: str) -> None:
    cause = None
    try:
        estimator.terms(rows, kind)
    except refusal:
        return
    except Exception as error:  # noqa: BLE001 - it becomes the cause
        cause = error
    fail(estimator, sentence, cause)


def _value_without(estimator: Estimator, kind: Kind, rows: Rows, sentence: str) -> float:
    """The value of rows that lack a column which the estimator says it does not use."""
    try:
        return _value(estimator, kind, rows)
    except Exception as error:  # noqa: BLE001 - it becomes the cause
        fail(estimator, sentence, error)


def _value(estimator: Estimator, kind: Kind, rows: Rows) -> float:
    value = estimator.terms(rows, kind).value
    if value is None:
        fail(estimator, f"it has no value for {len(rows)} rows of kind {kind}")
    return value
