"""Checkpoints: what is refused, in one line, and that a file is whole or not there."""

import io
from dataclasses import replace

import numpy as np
import pytest
from descents import small_log

from unskew.data import Interactions
from unskew.data.formats.array_file import read_checked, write_checked
from unskew.errors import DataError
from unskew.models import Bpr
from unskew.models.model import Observed
from unskew.models.training import checkpoints

MODEL = Bpr(factors=2, iterations=4, batch=20, every=2)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "run.npz"
    MODEL.train(small_log(), checkpoint=path)
    return path


def refused(file, match, model=MODEL, log=None, **options):
    before = file.read_bytes()
    with pytest.raises(DataError) as error:
        model.train(small_log() if log is None else log, checkpoint=file, **options)
    assert "\n" not in str(error.value)
    assert str(error.value).startswith(f"{file}: ")
    assert str(error.value).endswith("; remove it, or name another file")
    assert match in str(error.value)
    assert file.read_bytes() == before


def npy(array):
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


def change_byte(path):
    """One of the factors, not of the names and sizes around them."""
    with np.load(path) as stored:
        factors = stored["users_now"].tobytes()
    content = bytearray(path.read_bytes())
    content[content.index(factors) + 5] ^= 255
    path.write_bytes(content)


def rewritten(file, **changed):
    about, arrays = read_checked(file, checkpoints._KIND, checkpoints.VERSION, "")
    write_checked(file, checkpoints._KIND, checkpoints.VERSION, about | changed, arrays)


def zeroed(path):
    """Other numbers in a file that is whole: they were read silently before checksums."""
    with np.load(path) as stored:
        arrays = dict(stored)
    np.savez(path, **(arrays | {"items_now": np.zeros_like(arrays["items_now"])}))


@pytest.mark.parametrize(
    "model",
    [
        replace(MODEL, factors=3),
        replace(MODEL, regularisation=0.5),
        replace(MODEL, learning_rate=0.1),
        replace(MODEL, batch=21),
        replace(MODEL, every=1),
    ],
)
def test_one_of_other_settings_is_refused(file, model):
    refused(file, "of another model or other settings (bpr(", model)


def test_one_of_another_seed_is_refused(file):
    refused(file, "of another seed", rng=1)


def test_one_of_another_data_set_is_refused(file):
    refused(file, "of another data set", log=small_log(seed=1))


def test_one_of_other_ids_is_refused(file):
    log = small_log()
    named = Interactions.from_arrays([f"u{user:02}" for user in log.users], log.items, n_items=log.n_items)
    refused(file, "of another data set", log=named)


def test_one_of_another_version_is_refused(file):
    rewritten(file, version="2 of unskew 9.9")
    refused(file, f"of another version (2 of unskew 9.9, not {checkpoints.VERSION} of unskew ")


def test_one_judged_by_other_metrics_is_refused(file):
    judge = {"judge": lambda scorer: {"auc": 0.5}, "metrics": ("auc",)}
    refused(file, "was validated by no metric, not by auc", **judge)
    file.unlink()
    MODEL.train(small_log(), checkpoint=file, **judge)
    refused(file, "was validated by auc, not by none")


def test_one_judged_on_other_rows_is_refused(file):
    judge = {"judge": lambda scorer: {"auc": 0.5}, "metrics": ("auc",)}
    file.unlink()
    MODEL.train(small_log(), checkpoint=file, judged_on="these", **judge)
    refused(file, "was validated on other rows", judged_on="those", **judge)
    assert MODEL.train(small_log(), checkpoint=file, judged_on="these", **judge).iterations == MODEL.iterations


BROKEN = {
    "a text": lambda path: path.write_text("user,item\n1,2\n"),
    "nothing": lambda path: path.write_bytes(b""),
    "its first half": lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]),
    "all but its end": lambda path: path.write_bytes(path.read_bytes()[:-10]),
    "a changed byte": change_byte,
    "factors": lambda path: np.savez(path, user_factors=np.ones((2, 2)), item_factors=np.ones((2, 2))),
    "one array": lambda path: path.write_bytes(npy(np.ones(3))),
    "another header": lambda path: np.savez(path, header=np.array("[1, 2]")),
    "a header of numbers": lambda path: np.savez(path, header=np.ones(3)),
    "objects": lambda path: np.savez(path, header=np.array([{}], dtype=object)),
}


def test_one_with_other_numbers_is_refused(file):
    zeroed(file)
    refused(file, "changed or damaged after it was written")


@pytest.mark.parametrize("what", BROKEN)
def test_what_is_no_checkpoint_is_refused(file, what):
    BROKEN[what](file)
    refused(file, "not a checkpoint of a training run")


def test_a_folder_that_is_not_there_is_refused_before_the_work(tmp_path):
    seen = []
    with pytest.raises(DataError, match="does not exist; create it first"):
        MODEL.train(
            small_log(), checkpoint=tmp_path / "none" / "run.npz", progress=lambda done, total: seen.append(done)
        )
    assert seen == []


def test_the_fingerprint_knows_rows_and_ids_but_not_their_order():
    log = small_log()
    mine = checkpoints.fingerprint(Observed.of(log))
    shuffled = log.take(np.random.default_rng(0).permutation(len(log)))
    assert checkpoints.fingerprint(Observed.of(shuffled)) == mine
    assert checkpoints.fingerprint(Observed.of(log.take(np.arange(len(log) - 1)))) != mine


def test_states_that_are_best_by_several_metrics_are_kept_once(tmp_path):
    file = tmp_path / "run.npz"
    judge = {"judge": lambda scorer: {"a": 1.0, "b": 2.0}, "metrics": ("a", "b")}
    MODEL.train(small_log(), checkpoint=file, **judge)
    with np.load(file) as stored:
        assert {name for name in stored.files if name.startswith("best")} == {
            "best_2_users",
            "best_2_items",
            "best_2_bias",
        }
