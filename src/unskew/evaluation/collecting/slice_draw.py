"""`test_draw`: whether the rows of a slice can have been drawn from the candidates with equal chances."""

from dataclasses import dataclass

import numpy as np

from unskew.arrays import Floats, Ints
from unskew.errors import DataError
from unskew.imputation import LabelledRows
from unskew.ranking import Contest

REFUSED = 1e-6
"""p of popularity below which a slice is refused; one in a million random slices is."""


@dataclass(frozen=True)
class DrawTest:
    """Two tests of a slice; each p is uniform if the rows were drawn at random."""

    p_items: float  # that all items are equally likely, given how many users could be shown each
    p_popularity: float  # that rows are not more or less popular than the user's candidates
    more_popular: bool  # which of the two


def test_draw(rows: LabelledRows, contest: Contest, places: Ints, popularity: Floats) -> DrawTest:
    r"""Test the rows of a slice against a uniform draw of candidates.

    Items: :math:`\sum (O - E)^2 / E` over items, with E in proportion to the number of users who have the item as a
    candidate. Its mean is the number of items minus 1 and its variance follows from the multinomial distribution, so
    it is compared with a gamma distribution of these moments, which holds for small E too. Popularity: the sum over
    rows of the popularity minus its mean over the user's candidates, over its standard deviation. Both allow for pairs
    that are drawn without replacement.

    Parameters
    ----------
    rows : LabelledRows
    contest : Contest
        Of all users, with each user's excluded items.
    places : array
        Place in the catalogue of each row's item.
    popularity : array
        Of each place of the catalogue.
    """
    from scipy.stats import gamma, norm

    excluded = np.bincount(contest.listed, minlength=contest.catalogue_size)
    could = len(contest.users) - excluded
    n = len(places)
    open_items = could > 0
    share = could[open_items] / could.sum()
    count = np.bincount(places, minlength=contest.catalogue_size)[open_items]
    undrawn = max(1 - (n - 1) / max(int(could.sum()) - 1, 1), 1e-9)  # pairs are drawn once, so they vary less
    statistic = float(np.sum((count - n * share) ** 2 / (n * share))) / undrawn
    k = len(share)
    mean = k - 1.0
    # the exact variance of the statistic of a multinomial draw
    variance = max(2 * mean + (float(np.sum(1 / share)) - k**2 - 2 * k + 2) / n, 1e-9)
    p_items = float(gamma.sf(statistic, mean**2 / variance, scale=variance / mean)) if k > 1 else 1.0
    size = np.maximum(contest.catalogue_size - np.diff(contest.listed_offsets), 1)  # a user may have no candidate
    owner = np.repeat(np.arange(len(contest.users)), np.diff(contest.listed_offsets))
    lost = popularity[contest.listed]
    total = popularity.sum() - np.bincount(owner, weights=lost, minlength=len(size))
    squares = (popularity**2).sum() - np.bincount(owner, weights=lost**2, minlength=len(size))
    by_user = np.searchsorted(contest.users, rows.users)
    centre = (total / size)[by_user]
    drawn = np.bincount(by_user, minlength=len(size))
    left = np.maximum(size - drawn, 0) / np.maximum(size - 1, 1)
    spread = (left * np.maximum(squares / size - (total / size) ** 2, 0.0))[by_user]
    deviation = float(np.sum(popularity[places] - centre))
    error = float(np.sqrt(spread.sum()))
    z = deviation / error if error > 0 else 0.0
    return DrawTest(p_items, float(2 * norm.sf(abs(z))), z > 0)


def refuse_selected(test: DrawTest, name: str) -> None:
    """Refuse a slice whose rows were surely selected by popularity."""
    if test.p_popularity < REFUSED:
        kind = "more" if test.more_popular else "less"
        raise DataError(
            f"{name}: its items are {kind} popular than the candidates they should be drawn from "
            f"(p = {test.p_popularity:.1g}), so it is not random; draw items with equal chances, or leave it out"
        )
