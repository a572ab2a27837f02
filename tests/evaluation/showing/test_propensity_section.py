"""What the page says of propensities."""

import re

import pytest

from unskew.evaluation.showing.propensity_section import describe_propensities, reliability_chart
from unskew.propensities import Diagnostics, ReliabilityBin


def diagnostics(total: float, *, cells: int = 1000, bins: tuple[ReliabilityBin, ...] = ()) -> Diagnostics:
    return Diagnostics(100, cells, total, 20.0, 0.02, 0.5, 3, bins, "pairs of a sample" if bins else "")


@pytest.mark.parametrize(
    ("total", "said"),
    [(1010.0, "about right"), (610.0, "too large on average"), (1900.0, "too small on average")],
)
def test_a_mismatch_is_explained(total, said):
    panel = describe_propensities(diagnostics(total), absolute=True)
    assert "give or take 4 % by chance" in panel.sentences[0]
    assert f"They add up to {total / 10:.0f} % of it." in panel.sentences[0]
    assert said in panel.sentences[1]


def test_the_numbers_are_those_of_the_diagnostics():
    facts = dict(describe_propensities(diagnostics(1010.0), absolute=True).facts)
    assert facts == {
        "Observed rows": "100",
        "All pairs": "1,000",
        "Sum of 1/P": "1,010",
        "Propensities": "0.02 to 0.5",
        "Weights": "2 to 50",
        "Clipped": "3",
    }


def test_what_cannot_be_known_is_not_shown():
    relative = describe_propensities(diagnostics(1.0, cells=0), absolute=False)
    assert "known only up to scale" in relative.sentences[0]
    assert "Sum of 1/P" not in dict(relative.facts)
    assert "Weights, relative" in dict(relative.facts)
    unknown = describe_propensities(diagnostics(1.0, cells=0), absolute=True)
    assert "is not known" in unknown.sentences[0]
    assert not unknown.figures


def test_without_bins_there_is_no_curve():
    assert reliability_chart((), "r") is None


def test_a_narrow_range_begins_at_zero():
    bins = (ReliabilityBin(0.1, 0.12, 0.08, 0.16, 500), ReliabilityBin(0.4, 0.38, 0.3, 0.46, 500))
    svg = reliability_chart(bins, "r")
    assert svg.count("<text") > 4
    assert ">0%<" in svg
    assert svg.count('fill="var(--c1)"') == 2


def test_a_wide_range_has_logarithmic_axes_and_hollow_points_where_nothing_was_observed():
    bins = (ReliabilityBin(0.001, 0.0, 0.0, 0.004, 900), ReliabilityBin(0.5, 0.4, 0.3, 0.5, 100))
    svg = reliability_chart(bins, "r")
    assert ">0%<" not in svg
    assert {"1%", "10%"} <= set(re.findall(r">([\d.]+%)<", svg))
    assert svg.count('fill="var(--paper)"') == 1
    notes = describe_propensities(diagnostics(1000.0, bins=bins), absolute=True).figures[0].notes
    assert "of about the same propensity, out of pairs of a sample, " in notes[0]
    assert notes[1].startswith("For a hollow point")
