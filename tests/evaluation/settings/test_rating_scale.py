"""The scale of ratings: read, printed and checked."""

import numpy as np
import pytest

from unskew import Interactions
from unskew.errors import ConfigError, DataError
from unskew.evaluation.settings.rating_scale import Scale


@pytest.mark.parametrize(
    "text, scale",
    [
        ("1-5", Scale(1, 5)),
        ("0.5-5/0.5", Scale(0.5, 5, 0.5)),
        ("0.2147483674836485-500.5", Scale(0.2147483674836485, 500.5)),
        ("0.00000001-1000000000", Scale(1e-8, 1e9)),
        (" 1 - 5 / 1 ", Scale(1, 5, 1)),
        ("-10-10", Scale(-10, 10)),
        ("-3--1", Scale(-3, -1)),
        ("0-1/0.25", Scale(0, 1, 0.25)),
    ],
)
def test_a_scale_is_read_and_printed(text, scale):
    assert Scale.parse(text) == scale
    assert Scale.parse(str(scale)) == scale


@pytest.mark.parametrize(
    "text, message",
    [
        ("five", "cannot read the scale 'five'; write LOW-HIGH or LOW-HIGH/STEP, as in 1-5"),
        ("", "cannot read the scale"),
        ("1", "cannot read the scale"),
        ("1-5/", "cannot read the scale"),
        ("1..5", "cannot read the scale"),
        ("5-1", "the least rating must be below the largest"),
        ("3-3", "the least rating must be below the largest"),
        ("1-5/0", "the step must be above 0 and fit"),
        ("1-5/9", "the step must be above 0 and fit"),
    ],
)
def test_what_is_no_scale_is_refused(text, message):
    with pytest.raises(ConfigError, match=message):
        Scale.parse(text)


def log(*values: float) -> Interactions:
    return Interactions.from_arrays(
        [f"u{k}" for k in range(len(values))], ["i"] * len(values), values=values, name="log"
    )


def test_ratings_on_the_scale_pass():
    Scale(1, 5).check(log(1, 2.7, 5))
    Scale(0.5, 5, 0.5).check(log(0.5, 1, 4.5, 5))
    Scale(0, 1, 0.1).check(log(*np.arange(11) / 10))
    Scale(1, 5).check(Interactions.from_arrays(["u"], ["i"]))


@pytest.mark.parametrize(
    "scale, values, message",
    [
        (Scale(1, 5), (3, 0, 6), r"log: rating 0 of user u1, item i \(2 such\) is not on the scale 1-5"),
        (Scale(1, 5), (3, 5.5), r"rating 5.5 of user u1, item i \(1 such\)"),
        (
            Scale(1, 5, 1),
            (3, 2.5),
            r"rating 2.5 .* not on the scale 1-5/1; correct the rows or declare another scale=...",
        ),
        (Scale(0.5, 5, 0.5), (0.5, 0.75), "rating 0.75 of user u1"),
        (Scale(1, 5), (np.inf,), "rating inf"),
    ],
)
def test_ratings_off_the_scale_are_refused_with_the_first(scale, values, message):
    with pytest.raises(DataError, match=message):
        scale.check(log(*values))
