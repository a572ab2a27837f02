"""Where the gamma of popularity may come from, as words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unskew import Interactions
from unskew.errors import ConfigError
from unskew.propensities import From, Popularity, PropensityModel

LOG = Interactions.from_arrays([0, 1, 1], [0, 0, 1])


@pytest.mark.parametrize(
    ("written", "printed"),
    [
        ("popularity(gamma=auto)", "popularity(gamma=auto)"),
        ("popularity(gamma= auto, smoothing=0)", "popularity(gamma=auto, smoothing=0)"),
        ("popularity(gamma=from(a/mf.npz))", "popularity(gamma=from(a/mf.npz))"),
        ("popularity(gamma=from('mf.npz'))", "popularity(gamma=from(mf.npz))"),
        ("popularity(gamma=from('my model.npz'))", 'popularity(gamma=from("my model.npz"))'),
        ("popularity(gamma=1.5)", "popularity(gamma=1.5)"),
        ("popularity(gamma=0)", "popularity"),
    ],
)
def test_gamma_is_a_number_auto_or_a_file(written: str, printed: str) -> None:
    model = PropensityModel.from_word(written)
    assert str(model) == printed
    assert PropensityModel.from_word(printed) == model


@given(st.text(st.characters(codec="ascii", exclude_categories=["Cc"]), min_size=1, max_size=12))
def test_any_file_name_is_printed_so_that_it_is_read_again(name: str) -> None:
    if "'" in name and '"' in name:
        return  # the notation has no way to write both kinds of quotes in one value
    model = Popularity(gamma=str(From(name)))
    assert PropensityModel.from_word(str(model)) == model
    assert model.source == From(name)


@pytest.mark.parametrize(
    ("word", "says"),
    [
        (
            "popularity(gamma=atuo)",
            r"expected a number, auto or from\(FILE\); unknown gamma 'atuo'; did you mean 'auto'",
        ),
        ("popularity(gamma=from)", r"'from' needs file"),
        ("popularity(gamma=from())", r"'from' needs file"),
        ("popularity(gamma=auto(3))", "has no argument '3'"),
        ("popularity(gamma=inf)", "must be a finite number"),
    ],
)
def test_another_word_is_refused_with_a_hint(word: str, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        PropensityModel.from_word(word)


@pytest.mark.parametrize("gamma", ["auto", "from(mf.npz)"])
def test_a_gamma_that_is_not_fitted_yet_gives_no_propensity(gamma: str) -> None:
    with pytest.raises(ConfigError, match="gamma is fitted only during an evaluation"):
        Popularity(gamma).fit(LOG, LOG)


def test_a_number_has_no_source() -> None:
    assert Popularity(2).source is None
    assert Popularity(2).known_gamma == 2
