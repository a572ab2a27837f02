"""The contract of a metric: ties, cut-offs, monotony, missing positives, and rows that do not depend on each other."""

import inspect
import itertools
import math
from typing import get_args

import numpy as np

from unskew.arrays import Floats
from unskew.errors import ConfigError
from unskew.metrics import (
    AnyMetric,
    AtK,
    ContentMetric,
    ListMetric,
    Metric,
    RatingLoss,
    TopItems,
    UserLists,
    expected_move,
    parse_metric,
)
from unskew.metrics.metric import Kind
from unskew.testing.contracts.require import (
    check_word,
    errors_as_sentences,
    fail,
    is_line,
    near,
    refuse_class,
    require,
    require_array,
    require_method,
)
from unskew.testing.oracles import tie_orders
from unskew.testing.worlds.scored_users import (
    ScoredUser,
    placed_user,
    random_users,
    ranks_of,
    rows_of,
    user_values,
)

_SLACK = 1e-12


def check_metric(metric: AnyMetric | str, *, low: float = 0.0, high: float = math.inf, seed: int = 0) -> None:
    """Check that a metric keeps the contract of its kind.

    Every metric: its word, its definition, and no argument is changed. A ranking metric: the value under ties is the
    mean over all orders of the tied items; moving a relevant item up never makes it worse; values lie between `low` and
    `high`; ``unbiased_to_missing`` is true. A metric of single items: the gain of a row depends only on that row, and
    on the number of candidates only if ``uses_candidates``. A list metric: users do not depend on each other, a user
    without a positive has NaN, and the optimistic and pessimistic values are those of the best and the worst order. A
    loss: the loss of a row depends only on that row, and a nearer prediction is never worse. A metric of what is in the
    lists: one number per user, whose mean lies between `low` and `high` and does not depend on the order of users.

    Parameters
    ----------
    metric : Metric, ListMetric, RatingLoss, ContentMetric or str
        A metric or its word, with the cut-off to check.
    low, high : float
        Smallest and largest value for one user, or one row of a loss.
    seed : int
        Where the random users come from.

    Raises
    ------
    AssertionError
        One sentence that says which property fails.

    Examples
    --------
    >>> check_metric("ndcg@3", high=1)
    """
    refuse_class(metric)
    try:
        checked = parse_metric(metric)
    except ConfigError as error:
        fail(metric, f"it cannot be used as a metric: {error}", error)
    with errors_as_sentences(checked):
        _check(checked, np.random.default_rng(seed), low, high)


def _check(metric: AnyMetric, rng: np.random.Generator, low: float, high: float) -> None:
    _check_names(metric)
    if isinstance(metric, RatingLoss):
        _check_loss(metric, rng, low, high)
        return
    if isinstance(metric, ContentMetric):
        _check_content(metric, rng, low, high)
        return
    users = random_users(40, rng)
    if isinstance(metric, ListMetric):
        _check_lists(metric, users)
    else:
        _check_rows(metric, users)
    _check_ties(metric, users)
    _check_bounds(metric, users, low, high)
    _check_moves_up(metric, rng)
    _check_missing(metric, users[:10], rng)


def _check_names(metric: AnyMetric) -> None:
    plain = metric.metric if isinstance(metric, AtK) else metric
    if isinstance(plain, ListMetric | ContentMetric) and plain.k is not None:
        require(is_line(str(plain)), plain, "str() must give one line, which names the metric in tables")
        if plain.word:
            require(
                parse_metric(str(plain)) == plain,
                plain,
                "reading its printed word gives another metric; let its fields be its options",
            )
    else:
        check_word(plain)
    require(
        metric.kind in get_args(Kind),
        metric,
        f"its kind {metric.kind!r} is not one of {get_args(Kind)}; set one of them",
    )
    definition = metric.definition
    generated = f"{type(plain).__name__}{inspect.signature(type(plain))}".removesuffix(" -> None")
    written = is_line(definition) and definition != generated  # @dataclass fills a docstring that is missing
    require(written, metric, "its definition must be one line; give the class a docstring")
    require(
        "None" not in definition,
        metric,
        "its definition says None where it has no cut-off; let describe() leave it out",
    )


def _check_rows(metric: Metric, users: list[ScoredUser]) -> None:
    plain = metric.metric if isinstance(metric, AtK) else metric  # a cut-off may divide by the length of the list
    require_method(plain, "gain", "above", "candidates")
    above, candidates = (grid.ravel() for grid in np.indices((12, 13))[:, :, 1:])
    above, candidates = above[above < candidates], candidates[above < candidates]
    columns = above.copy(), candidates.copy()
    gains = np.asarray(metric.gain(*columns), dtype=float)
    require(_equal(columns, (above, candidates)), metric, "gain() changes its arguments; copy them first")
    require(
        gains.shape == above.shape,
        metric,
        f"gain() gives shape {gains.shape} for {above.shape} rows; give one number per row",
    )
    require(
        np.isfinite(gains).all(), metric, "gain() gives a number that is not finite; give 0 where it is not defined"
    )
    alone = [float(metric.gain(above[[row]], candidates[[row]])[0]) for row in range(len(above))]
    require(near(alone, gains), metric, "the gain of a row depends on the other rows of the call; compute each alone")
    if not plain.uses_candidates:
        same = near(plain.gain(above, candidates + 7), plain.gain(above, candidates))
        require(same, metric, "gain() depends on the number of candidates; set uses_candidates = True")
    _check_expected(metric, users)
    none = np.zeros(0, dtype=np.int32)
    require(
        metric.row_gains(none, none, none, none).shape == (0,),
        metric,
        "no row must give no gain; return an array of length 0",
    )


def _check_expected(metric: Metric, users: list[ScoredUser]) -> None:
    _, above, tied, candidates, listed = rows_of(users)
    want = [
        np.mean(metric.gain(np.arange(a, a + t + 1), np.full(t + 1, n)))
        for a, t, n in zip(above, tied, candidates, strict=True)
    ]
    expected = metric.expected(above, tied, candidates)
    require(
        near(expected, want),
        metric,
        "the expected gain of a tied item is not the mean gain over its places; leave expected() to the base",
    )
    if metric.cutoff is not None:
        unlisted = metric.row_gains(above, tied, candidates, listed)[above >= listed]
        require(
            not unlisted.any(),
            metric,
            "an item that the model did not list gains something inside a cut-off; let it gain 0",
        )


def _check_content(metric: ContentMetric, rng: np.random.Generator, low: float, high: float) -> None:
    items = np.array([rng.permutation(30)[: metric.cutoff or 1] for _ in range(20)])
    lists = TopItems(items, rng.integers(0, 50, 30), 60)
    values = metric.values(lists)
    require(values.shape == (20,), metric, f"values() returned shape {values.shape} for 20 users; return one per user")
    mean = float(np.mean(values))
    require(low <= mean <= high, metric, f"the mean over users is {mean:g}, outside {low:g} to {high:g}")
    turned = metric.values(TopItems(items[::-1], lists.counts, 60))
    require(np.allclose(turned[::-1], values), metric, "its numbers depend on the order of the users")


def _check_lists(metric: ListMetric, users: list[ScoredUser]) -> None:
    none = np.zeros(0, dtype=np.int32)
    require_method(metric, "values", "lists")
    empty = metric.values(UserLists.from_rows(np.zeros(1, int), none, none, none))
    require_array(metric, empty, "the result of values()")
    require(empty.shape == (0,), metric, "no user must give no value; return an array of length 0")
    columns = [np.array([0, 4, 1]), np.array([0, 2, 1]), np.array([9, 9, 9]), np.array([5, 5, 5])]
    with_gap = metric.values(UserLists.from_rows(np.array([0, 0, 2, 2, 3, 3]), *columns))
    without = metric.values(UserLists.from_rows(np.array([0, 2, 3]), *columns))
    require(with_gap.shape == (5,), metric, f"values() gives shape {with_gap.shape} for 5 users; give one per user")
    require(np.isnan(with_gap[[0, 2, 4]]).all(), metric, "a user without a positive must have the value NaN")
    require(
        near(with_gap[[1, 3]], without),
        metric,
        "a user without a positive changes the values of other users; compute each alone",
    )
    alone = np.concatenate([user_values(metric, [user]) for user in users])
    require(
        near(alone, user_values(metric, users)),
        metric,
        "the value of a user depends on the other users; compute each alone",
    )
    orders = [user_values(metric, _orders(user)) for user in users]
    for policy, best in (("optimistic", np.max), ("pessimistic", np.min)):
        values = user_values(metric, users, policy=policy)
        chosen = [best(values) for values in orders]
        if metric.lower_is_better:
            chosen = [(np.min if best is np.max else np.max)(values) for values in orders]
        require(
            near(values, chosen),
            metric,
            f"the {policy} value is not that of the {policy} order of ties; use lists.above and lists.tied as given",
        )


def _orders(user: ScoredUser) -> list[ScoredUser]:
    """The user with every order of the tied candidates, untied."""
    n = len(user.scores)
    return [placed_user(np.flatnonzero(order), n) for order in tie_orders(user.scores, user.relevant)]


def _check_ties(metric: Metric | ListMetric, users: list[ScoredUser]) -> None:
    means = [np.mean(user_values(metric, _orders(user))) for user in users]
    require(
        near(user_values(metric, users), means),
        metric,
        "the value under ties is not the mean over all their orders; average over the orders",
    )


def _check_bounds(metric: Metric | ListMetric, users: list[ScoredUser], low: float, high: float) -> None:
    values = user_values(metric, users)
    values = values[~np.isnan(values)]
    require(len(values), metric, "no user has a value; give NaN only to a user without a positive")
    require(
        np.isfinite(values).all(),
        metric,
        "the value of a user is not finite; give NaN only to a user without a positive",
    )
    require(
        values.min() >= low - _SLACK,
        metric,
        f"a user has the value {values.min():g}, below {low:g}; correct it, or give another low",
    )
    require(
        values.max() <= high + _SLACK,
        metric,
        f"a user has the value {values.max():g}, above {high:g}; correct it, or give another high",
    )


def _check_moves_up(metric: Metric | ListMetric, rng: np.random.Generator) -> None:
    better, worse = [], []
    for _ in range(60):
        places = set(np.flatnonzero(rng.random(12) < 0.35).tolist())
        movable = [place for place in places if place and place - 1 not in places]
        if movable:
            mover = int(rng.choice(movable))
            worse.append(placed_user(places, 12))
            better.append(placed_user((places - {mover}) | {mover - 1}, 12))
    gap = user_values(metric, better) - user_values(metric, worse)
    gap = -gap if metric.lower_is_better else gap
    rule = "lower_is_better" if metric.lower_is_better else "larger is better unless lower_is_better is set"
    require(gap.min() >= -_SLACK, metric, f"moving a relevant item up makes the value worse ({rule})")


def _check_missing(metric: Metric | ListMetric, users: list[ScoredUser], rng: np.random.Generator) -> None:
    every_second = placed_user(range(0, 30, 2), 30)
    same = near(np.mean(user_values(metric, every_second.parts(2))), user_values(metric, [every_second]), 1e-12)
    unbiased = metric.unbiased_to_missing
    if unbiased:
        require(
            same,
            metric,
            "unbiased_to_missing is True, but random parts of the positives have another mean value; set it to False",
        )
    else:
        require(
            not same,
            metric,
            "unbiased_to_missing is False, but random parts of the positives have the same mean; set it to True",
        )
    users = [
        ScoredUser((*user.scores, 0), (*user.relevant, False)) for user in users
    ]  # with a negative: all have a value
    sizes = [int(rng.integers(1, sum(user.relevant) + 1)) for user in users]
    try:
        move = expected_move(metric, ranks_of(users), sizes=sizes)
    except ConfigError:  # it has no exact form, and says so
        return
    want = [user_values(metric, user.parts(size)).mean() for user, size in zip(users, sizes, strict=True)]
    message = "its expected value on a part of the positives is not the mean over all parts; correct expected_values()"
    require(
        near(move.per_user_before, user_values(metric, users)),
        metric,
        "its value differs between calls; let no call depend on another",
    )
    require(near(move.per_user_after, want), metric, message)


def _check_loss(metric: RatingLoss, rng: np.random.Generator, low: float, high: float) -> None:
    ratings, predicted = rng.integers(1, 6, 60).astype(float), rng.uniform(0, 6, 60).round(1)
    columns = ratings.copy(), predicted.copy()
    require_method(metric, "loss", "values", "predicted")
    losses = metric.loss(*columns)
    require_array(metric, losses, "the result of loss()")
    require(_equal(columns, (ratings, predicted)), metric, "loss() changes its arguments; copy them first")
    require(losses.shape == (60,), metric, f"loss() gives shape {losses.shape} for 60 rows; give one number per row")
    require(np.isfinite(losses).all(), metric, "loss() gives a number that is not finite; give one for every rating")
    require(
        metric.loss(np.zeros(0), np.zeros(0)).shape == (0,),
        metric,
        "no row must give no loss; return an array of length 0",
    )
    require(
        losses.min() >= low - _SLACK,
        metric,
        f"a row has the loss {losses.min():g}, below {low:g}; correct it, or give another low",
    )
    require(
        losses.max() <= high + _SLACK,
        metric,
        f"a row has the loss {losses.max():g}, above {high:g}; correct it, or give another high",
    )
    alone = [float(metric.loss(ratings[[row]], predicted[[row]])[0]) for row in range(60)]
    require(near(alone, losses), metric, "the loss of a row depends on the other rows of the call; compute each alone")
    sign = 1 if metric.lower_is_better else -1
    rule = "lower is better" if metric.lower_is_better else "larger is better"
    for side in (-1, 1):
        errors = np.arange(0, 4, 0.25)
        path = sign * metric.loss(np.full(len(errors), 3.0), 3.0 + side * errors)
        require((np.diff(path) >= -_SLACK).all(), metric, f"a prediction nearer to the rating is worse ({rule})")
        require(path[-1] > path[0], metric, f"a right prediction is not better than one that is far off ({rule})")
    _check_loss_missing(metric, losses)


def _check_loss_missing(metric: RatingLoss, losses: Floats) -> None:
    parts = np.array([np.mean(part) for part in itertools.combinations(losses[:6], 3)])
    whole = np.mean(losses[:6])
    same = near(np.sqrt(parts).mean(), np.sqrt(whole)) if metric.root else near(parts.mean(), whole)
    if same != metric.unbiased_to_missing:
        says = f"unbiased_to_missing is {metric.unbiased_to_missing}, but random parts of the rows say otherwise"
        fail(metric, f"{says}; set it to {same}")


def _equal(one: tuple[np.ndarray, ...], other: tuple[np.ndarray, ...]) -> bool:
    return all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))
