"""What a correction rests on is said in plain words."""

import pytest

from unskew.evaluation.showing.vocabulary import describe_assumption
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
        (Popularity(gamma=-0.5), "popularity in training, with gamma −0.5"),
        (Column(), "the test file's own propensities as true"),
        (NaiveBayes("mcar.csv"), "depends on its rating alone, and that the sample of ratings was drawn at random"),
        (Logistic(users="users.csv"), "follows a logistic model of the given covariates"),
        (Boosted(users="users.csv"), "depends on the given covariates alone, whatever its rating"),
        (
            Combined(mcar="mcar.csv", users="users.csv"),
            "on the given covariates and, independently of them, on its rating",
        ),
        (Strange(), "the propensity strange as true"),
    ],
)
def test_each_propensity_says_what_it_assumes(model, said):
    assert said in describe_assumption(model)


def test_the_gammas_that_are_held_possible_are_named():
    assert "covers gamma −0.5 to 1.5, and nothing else" in describe_assumption(Popularity(), POSSIBLE)
    assert "covers gamma" not in describe_assumption(Popularity())
