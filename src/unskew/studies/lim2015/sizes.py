"""What other sizes of the held-out part do to a measure: as observed, and as expected from the sizes alone.

A user has v validation and t test items. Which of the v + t are which was decided by lot, after the model and so the
ranks were fixed by what is left to train on. So what is expected of either part follows exactly from the pool of both
(Lim et al. 2015, theorems 1 and 2; for average precision by the same argument).
"""

from dataclasses import dataclass

import numpy as np

from unskew.arrays import Bools, Floats
from unskew.metrics.exact.size_shift import expected_move
from unskew.ranking import Ranks
from unskew.studies.framework.stats import Mean
from unskew.studies.lim2015.fits import Fold
from unskew.studies.lim2015.tally import Paired


@dataclass(frozen=True, eq=False)
class Sizes:
    """A measure of a model on validation and on test.

    Parameters
    ----------
    test, validation : array (folds, users)
        As observed; NaN of users without a row in the part.
    expected_test, expected_validation : array (folds, users)
        As expected of so many items of the pool; NaN but for users with both.
    pool : array (folds, users)
        On all held-out items.
    """

    test: Floats
    validation: Floats
    expected_test: Floats
    expected_validation: Floats
    pool: Floats

    @property
    def both(self) -> Bools:
        """Users who have validation and test items, which the folds do not change."""
        return np.asarray(~np.isnan(self.test).any(axis=0) & ~np.isnan(self.validation).any(axis=0))

    def mean(self, part: str) -> Mean:
        """The mean over users with both, in each fold and over folds."""
        return Mean.of([float(mean) for mean in getattr(self, part)[:, self.both].mean(axis=1)])

    @property
    def apart(self) -> Paired:
        """Validation less test."""
        return Paired(self.validation - self.test)

    @property
    def expected(self) -> Paired:
        """Validation less test, as expected."""
        return Paired(self.expected_validation - self.expected_test)

    @property
    def surprise(self) -> Paired:
        """Validation less test, less what is expected of that."""
        return Paired(self.validation - self.test - (self.expected_validation - self.expected_test))

    def error(self, part: str) -> float:
        """The standard error of the mean of a part around what is expected of it."""
        return Paired(getattr(self, part) - getattr(self, f"expected_{part}")).error

    @property
    def percent(self) -> float:
        """Validation less test in per cent of test, as the paper has it, of users with both."""
        return _percent(self.mean("test").value, self.mean("validation").value)

    @property
    def expected_percent(self) -> float:
        """What is expected of that."""
        return _percent(self.mean("expected_test").value, self.mean("expected_validation").value)

    @property
    def literal_percent(self) -> float:
        """The same over all users of either part, who need not be the same."""
        means = [float(np.nanmean(np.nanmean(part, axis=1))) for part in (self.test, self.validation)]
        return _percent(*means)


def compare_sizes(folds: list[Fold], model: str, metric: str) -> Sizes:
    """A measure of a model on both parts, in all folds."""
    observed = [
        np.array([fold.values(model, metric, name) for fold in folds]) for name in ("test", "validation", "pool")
    ]
    test, validation = (
        np.array([_expected(fold, fold.part(model, "pool"), metric, name) for fold in folds])
        for name in ("test", "validation")
    )
    return Sizes(observed[0], observed[1], test, validation, observed[2])


def _expected(fold: Fold, pool: Ranks, metric: str, part: str) -> Floats:
    counts = {"test": fold.test.user_counts, "validation": fold.validation.user_counts}
    users = np.unique(pool.users)
    both = np.minimum(counts["test"], counts["validation"])[users] > 0
    found = np.full(fold.train.n_users, np.nan)
    # a user with one part only has nothing to compare; 1 is a size that is always possible
    kept = np.where(both, counts[part][users], 1)
    found[users] = np.where(both, expected_move(metric, pool, sizes=kept).per_user_after, np.nan)
    return found


def _percent(test: float, validation: float) -> float:
    return 100 * (validation - test) / test if test else float("nan")
