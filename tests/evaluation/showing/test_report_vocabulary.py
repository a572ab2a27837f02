"""What a correction rests on is said in plain words."""

import pytest

from unskew.evaluation.showing.vocabulary import RANGE_OF_GAMMAS, describe_assumption
from unskew.propensities import (
    POSSIBLE,
    Boosted,
    Column,
    Combined,
    Logistic,
    NaiveBayes,
    Popularity,
    PropensityModel,
    Uniform,
)


class Strange(PropensityModel):
    """A model from elsewhere."""

    def __str__(self) -> str:
        return "strange"

    def fit(self, train, test):
        raise AssertionError


@pytest.mark.parametrize(
    ("model", "said"),
    [
        (Uniform(), "nothing is corrected"),
        (Popularity(gamma=-0.5), "with gamma −0.5"),
        (Column(), "the test file's own propensities"),
        (NaiveBayes("mcar.csv"), "depends on its rating alone"),
        (Logistic(users="users.csv"), "follows a logistic model"),
        (Boosted(users="users.csv"), "depends on the given covariates alone"),
        (Combined(mcar="mcar.csv", users="users.csv"), "independently of them, on its rating"),
        (Strange(), "the propensity strange"),
    ],
)
def test_each_propensity_says_what_it_assumes(model, said):
    assert said in describe_assumption(model)


def test_the_gammas_that_are_held_possible_are_named():
    assert describe_assumption(Popularity(), POSSIBLE).endswith(RANGE_OF_GAMMAS.format(low="−0.5", high="1.5"))
    assert "covers gamma" not in describe_assumption(Popularity())
