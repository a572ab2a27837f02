"""The fit of a rating factorisation by L-BFGS, on plain arrays."""

from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias

import numpy as np

from unskew.arrays import Floats, Ints
from unskew.errors import ConfigError
from unskew.models.ratings.rating_model import Rated, RatingFactors
from unskew.models.svd import leading

Loss: TypeAlias = Literal["mse", "mae"]
Offsets: TypeAlias = Literal["regularised", "free"]

# the settings of the paper's program
STEPS = 2000
CORRECTIONS = 50
TOLERANCE = 1e-5

DEAD = 1e-2  # a factor has vanished if its part of a typical prediction is below this share of the spread of ratings


@dataclass(frozen=True, eq=False)
class MfFit(RatingFactors):
    """A fitted factorisation, with details of the optimisation.

    Parameters
    ----------
    objective : float
        Weighted loss plus penalty at the end.
    evaluations : int
        How often the objective and its gradient were computed.
    converged : bool
        Whether the search converged before the largest number of steps.
    """

    objective: float
    evaluations: int
    converged: bool


def fit_mf(
    rated: Rated,
    factors: int,
    penalty: float,
    *,
    loss: Loss = "mse",
    offsets: Offsets = "regularised",
    start: RatingFactors | None = None,
) -> MfFit:
    r"""Fit a factorisation to weighted ratings.

    .. math::

       \min \sum_{(u, i)\ \text{observed}} \frac{1}{P_{ui}}\,\delta(y_{ui},\ v_u \cdot w_i + a_u + b_i + c)
       + \lambda \frac{U I}{(U + I)\,d} \bigl(\lVert V \rVert^2 + \lVert W \rVert^2\bigr)

    With regularised offsets, a and b are penalised too and d + 1 replaces d; c is never penalised. The loss is on the
    scale of all U I pairs, so λ has the same meaning for any number of observed pairs. The start is a singular value
    decomposition of the ratings around their mean, with zeros for unobserved pairs: left vectors for users, right
    vectors times singular values for items; offsets are 0 and c is the mean. Schnabel et al. (2016), eq. 14.

    The last bits depend on the number of BLAS threads; `Model.fit` and `tune_mf` use one.

    Parameters
    ----------
    rated : Rated
        Its weights are 1/P.
    factors : int
        d.
    penalty : float
        λ.
    loss : {"mse", "mae"}
        δ: the squared error, or the absolute error with its sign as the slope.
    offsets : {"regularised", "free"}
    start : RatingFactors, optional
        A fit to start from, for instance that of another penalty. Factors that vanished under a larger penalty are
        initialised again, because 0 is a saddle that they do not leave even if a smaller penalty would let them grow.

    Raises
    ------
    ConfigError
        If `start` has another shape.
    """
    from scipy.optimize import minimize

    first = start_mf(rated, factors) if start is None else _revived(rated, factors, start)
    done = minimize(
        Objective(rated, factors, penalty, loss, offsets),
        packed(first),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": STEPS, "maxcor": CORRECTIONS, "gtol": TOLERANCE, "ftol": TOLERANCE},
    )
    V, W, a, b, c = _unpacked(done.x, rated, factors)
    return MfFit(V, W, a, b, c, np.zeros(factors), float(done.fun), int(done.nfev), bool(done.status == 0))


def start_mf(rated: Rated, factors: int) -> RatingFactors:
    """The starting point of a fit: the decomposition of the ratings around their mean.

    Missing ratings are filled with the mean, and the mean, which is c, is subtracted, so the matrix is sparse.
    """
    nothing = RatingFactors(
        np.zeros((rated.n_users, 0)),
        np.zeros((rated.n_items, 0)),
        np.zeros(rated.n_users),
        np.zeros(rated.n_items),
        float(np.mean(rated.values)),
        np.zeros(0),
    )
    return _extended(rated, factors, nothing)


@dataclass(frozen=True, eq=False)
class Objective:
    """The objective of `fit_mf` at a point: user factors, item factors, offsets of both, the constant."""

    rated: Rated
    factors: int
    penalty: float
    loss: Loss = "mse"
    offsets: Offsets = "regularised"

    def __call__(self, point: Floats) -> tuple[float, Floats]:
        """Value and gradient."""
        from unskew.models.ratings.mf_kernel import loss_and_gradient

        rated, gradient = self.rated, np.empty_like(point)
        value = loss_and_gradient(
            point,
            gradient,
            self._starts,
            rated.items,
            rated.values,
            rated.weights,
            rated.n_items,
            self.loss == "mae",
            *self.scales,
        )
        return value, gradient

    @property
    def scales(self) -> tuple[float, float]:
        """The penalties of squared factors and squared offsets."""
        users, items = self.rated.n_users, self.rated.n_items
        free = self.offsets == "free"
        scale = self.penalty * users * items / ((users + items) * (self.factors if free else self.factors + 1))
        return scale, 0.0 if free else scale

    @cached_property
    def _starts(self) -> Ints:
        return self.rated.starts


def packed(factors: RatingFactors) -> Floats:
    """All parameters in one array, as `Objective` takes them."""
    parts = (factors.user_factors, factors.item_factors, factors.user_offsets, factors.item_offsets, factors.constant)
    return np.concatenate([np.ravel(part) for part in parts])


def _revived(rated: Rated, factors: int, start: RatingFactors) -> RatingFactors:
    """The same predictions, with vanished factors initialised again from the errors of the others."""
    if start.user_factors.shape != (rated.n_users, factors) or start.item_factors.shape != (rated.n_items, factors):
        raise ConfigError(
            f"a start of {start.user_factors.shape} and {start.item_factors.shape} factors does not fit "
            f"{rated.n_users} users, {rated.n_items} items and {factors} factors; give one of the same shape"
        )
    # rotated so that each factor corresponds to one singular value of the product
    left, left_size = np.linalg.qr(start.user_factors)
    right, right_size = np.linalg.qr(start.item_factors)
    inner_left, sizes, inner_right = np.linalg.svd(left_size @ right_size.T, full_matrices=False)
    typical = sizes / np.sqrt(rated.n_users * rated.n_items)
    alive = typical > DEAD * np.std(rated.values)
    if alive.all():
        return start
    roots = np.sqrt(sizes[alive])
    kept = RatingFactors(
        left @ inner_left[:, alive] * roots,
        right @ inner_right.T[:, alive] * roots,
        start.user_offsets,
        start.item_offsets,
        start.constant,
        np.zeros(len(roots)),
    )
    return _extended(rated, factors, kept)


def _extended(rated: Rated, factors: int, kept: RatingFactors) -> RatingFactors:
    """Add factors: singular vectors of the errors, with zeros for unobserved pairs."""
    from scipy import sparse

    errors = rated.values - kept.predict(rated.users, rated.items)
    missing = factors - kept.user_factors.shape[1]
    rank = min(missing, rated.n_users, rated.n_items) if errors.any() else 0
    V, W = np.zeros((rated.n_users, missing)), np.zeros((rated.n_items, missing))
    if rank:
        matrix = sparse.csr_array((errors, rated.items, rated.starts), shape=(rated.n_users, rated.n_items))
        left, values, right = leading(matrix, rank, np.random.default_rng(0))
        # a singular vector is known up to its sign; the largest entry is made positive
        top = np.argmax(np.abs(right), axis=1)
        signs = np.where(right[np.arange(rank), top] < 0, -1, 1)
        V[:, :rank], W[:, :rank] = left * signs, right.T * (signs * values)
    return RatingFactors(
        np.hstack([kept.user_factors, V]),
        np.hstack([kept.item_factors, W]),
        kept.user_offsets,
        kept.item_offsets,
        kept.constant,
        np.zeros(factors),
    )


def _unpacked(point: Floats, rated: Rated, factors: int) -> tuple[Floats, Floats, Floats, Floats, float]:
    users, items = rated.n_users, rated.n_items
    V, W, a, b = np.split(point[:-1], np.cumsum([users * factors, items * factors, users]))
    return V.reshape(users, factors), W.reshape(items, factors), a, b, float(point[-1])
