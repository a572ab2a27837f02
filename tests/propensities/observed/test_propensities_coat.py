"""The models on Coat, where it is at hand, beside its published propensities."""

import os
from pathlib import Path

import numpy as np
import pytest

from unskew.data import Split
from unskew.data.sources import coat
from unskew.errors import DataError
from unskew.propensities import Boosted, Combined, Logistic, NaiveBayes


@pytest.fixture(scope="module")
def folder() -> Path:
    if "UNSKEW_DATA" not in os.environ:
        pytest.skip("real data: set UNSKEW_DATA to the folder that holds it")
    folder = Path(os.environ["UNSKEW_DATA"]) / "coat"
    if not (folder / "user_item_features").is_dir():
        pytest.skip("real data: coat with its features is not in the folder UNSKEW_DATA")
    return folder


@pytest.fixture(scope="module")
def split(folder: Path) -> Split:
    return coat.read_split(folder)


def test_the_features_are_read_with_their_names(folder: Path) -> None:
    users, items = coat.read_user_features(folder), coat.read_item_features(folder)
    assert users.shape == (290, 15)
    assert items.shape == (300, 34)
    assert users.columns[:3] == ["user", "gender:men", "gender:women"]
    assert items.columns[-1] == "onfrontpage:no"
    for frame, kinds in ((users, 4), (items, 4)):
        assert (frame.drop(frame.columns[0]).sum_horizontal() == kinds).all()


def test_naive_bayes_adds_up_to_all_pairs(split: Split) -> None:
    diagnostics = NaiveBayes(split.test).observe(split.train).diagnostics
    assert diagnostics.inverse_sum == pytest.approx(87_000)
    assert (diagnostics.clipped, len(diagnostics.reliability)) == (0, 5)


@pytest.mark.slow
def test_logistic_is_near_the_published_propensities_and_adds_up(folder: Path, split: Split) -> None:
    """Theirs were learnt by logistic regression too, with a penalty we do not know."""
    users, items = coat.read_user_features(folder), coat.read_item_features(folder)
    fitted = Logistic(users, items).observe(split.train)
    assert fitted.diagnostics.inverse_sum == pytest.approx(87_000, rel=0.03)
    assert fitted.diagnostics.notes == ()
    assert split.train.propensity is not None
    found = fitted(split.train.users, split.train.items)
    assert np.corrcoef(found, split.train.propensity)[0, 1] > 0.95
    combined = Combined(users=users, items=items, mcar=split.test, penalty=30).observe(split.train)
    assert combined.diagnostics.inverse_sum == pytest.approx(87_000, rel=0.1)


@pytest.mark.slow
def test_boosted_adds_up_on_coat(folder: Path, split: Split) -> None:
    users, items = coat.read_user_features(folder), coat.read_item_features(folder)
    diagnostics = Boosted(users, items).observe(split.train).diagnostics
    assert abs(diagnostics.inverse_sum - 87_000) < 3 * diagnostics.inverse_sd


def test_features_that_do_not_fit_their_names_are_refused(tmp_path: Path) -> None:
    folder = tmp_path / "user_item_features"
    folder.mkdir()
    (folder / "user_features.ascii").write_text("1 0\n0 1\n")
    (folder / "user_features_map.txt").write_text("gender:men\ngender:women")
    frame = coat.read_user_features(tmp_path)
    assert frame.to_dict(as_series=False) == {"user": [0, 1], "gender:men": [1, 0], "gender:women": [0, 1]}
    (folder / "user_features_map.txt").write_text("gender:men\n")
    with pytest.raises(DataError, match="1 distinct names for the 2 columns"):
        coat.read_user_features(tmp_path)
    with pytest.raises(DataError, match=r"no file 'user_item_features/item_features\.ascii'"):
        coat.read_item_features(tmp_path)
