"""Numbers as text, for sentences, tables and pages."""

import pytest

from unskew.display import numbers
from unskew.display.numbers import percent, rounded


def test_what_is_undefined_is_a_word():
    assert [numbers.number(None), numbers.number(None, none="-")] == ["undefined", "-"]
    assert [numbers.interval(None, 1.0), numbers.interval(1.0, None, none="")] == ["undefined", ""]
    assert [numbers.p(None), numbers.move(None), numbers.move(None, "–")] == ["-", "-", "–"]
    assert [numbers.percent_cell(None), numbers.percent_or_dash(None), numbers.short_percent(None)] == ["–", "–", "-"]


def test_numbers_and_intervals_have_a_format():
    assert numbers.number(-0.5) == "-0.5000"
    assert [numbers.number(0.5, "+.2f"), numbers.number(1234.5, ",.1f")] == ["+0.50", "1,234.5"]
    assert numbers.interval(-0.1, 0.2, "+.1f") == "-0.1 to +0.2"


def test_p_values_are_never_zero():
    assert [numbers.p(value) for value in (0.0, 0.00009, 0.0001, 1.0)] == ["<0.0001", "<0.0001", "0.0001", "1.0000"]


@pytest.mark.parametrize(("value", "text"), [(0.0, "0"), (1e-9, "0.0000"), (-1e-9, "0.0000"), (-0.01, "-0.0100")])
def test_a_move_has_its_sign_unless_it_rounds_to_nothing(value, text):
    assert numbers.move(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(True, "yes"), (False, "no"), (None, "–"), ({}, "–"), ([1, "a"], "1, a"), ({"a": 1, "b": None}, "a 1, b –")],
)
def test_settings_are_plain(value, text):
    assert numbers.plain(value) == text


@pytest.mark.parametrize(
    ("value", "text"), [(0.25, "0.250"), (0.0, "0.000"), (0.00123, "0.0012"), (-0.5, "−0.500"), (12.3456, "12.346")]
)
def test_numbers_keep_three_decimals_or_two_digits(value, text):
    assert rounded(value) == text


def test_short_numbers():
    assert [numbers.signed(-0.25), numbers.signed(3.0), numbers.signed(1 / 3)] == ["−0.25", "3", "0.33"]
    assert [numbers.factor(1.00096), numbers.factor(12.34)] == ["1.00", "12.3"]


@pytest.mark.parametrize(
    ("share", "words"),
    [
        (0, "0 %"),
        (0.0001, "less than 0.1 %"),
        (0.0123, "1.2 %"),
        (0.05, "5 %"),
        (0.41, "41 %"),
        (0.9949, "99 %"),
        (0.998, "99.8 %"),
        (0.9996, "more than 99.9 %"),
        (1 - 1e-12, "100 %"),
        (1, "100 %"),
    ],
)
def test_shares_in_words(share, words):
    assert percent(share) == words


@pytest.mark.parametrize(
    ("share", "cell", "short"),
    [(0, "0", "0%"), (0.0001, "<0.1 %", "<0.1%"), (0.0123, "1.2 %", "1.2%"), (0.41, "41.0 %", "41%")],
)
def test_shares_in_tables(share, cell, short):
    assert [numbers.percent_cell(share), numbers.short_percent(share)] == [cell, short]


def test_shares_beyond_all():
    assert [numbers.rough_percent(share) for share in (-0.05, 0, 0.1, 12.5)] == ["-5.0 %", "0 %", "10 %", "1,250 %"]


def test_ranges_that_read_the_same_are_one_text():
    assert [numbers.one_or_both("1", "1"), numbers.one_or_both("1", "2"), numbers.one_or_both("1", "2", "..")] == [
        *("1", "1 to 2", "1..2")
    ]


def test_digits_before_the_point_are_kept():
    assert [numbers.short(value) for value in (0.12345, 46.08, 12345.6)] == ["0.123", "46.1", "12,346"]


def test_levels_have_the_decimals_they_need():
    assert [numbers.level(0.95), numbers.level(0.995, "%")] == ["95 %", "99.5%"]
