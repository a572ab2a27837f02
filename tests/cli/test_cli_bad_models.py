"""Model files that cannot be used."""

import io
import pickle
import zipfile

import numpy as np
import pytest


def change(array, place, value):
    changed = array.copy()
    changed[place] = value
    return changed


FACTORS = {
    "NaN in user factors": (
        lambda w: {"user_factors": change(w.array("user_factors"), (3, 1), np.nan)},
        ("user_factors has nan in row 3", "finite"),
    ),
    "infinity in item factors": (
        lambda w: {"item_factors": change(w.array("item_factors"), (4, 0), np.inf)},
        ("item_factors has inf in row 4", "finite"),
    ),
    "NaN in a bias": (lambda w: {"item_bias": np.full(15, np.nan)}, ("item_bias has nan in row 0",)),
    "other widths": (
        lambda w: {"user_factors": w.array("user_factors")[:, :2]},
        ("user_factors (20, 2)", "item_factors (15, 4)", "same number of columns"),
    ),
    "one dimension": (lambda w: {"user_factors": w.array("user_factors")[:, 0]}, ("user_factors (20,)", "matrices")),
    "bias of another length": (lambda w: {"user_bias": np.zeros(3)}, ("user_bias has shape (3,)", "expected (20,)")),
    "too few user ids": (
        lambda w: {"user_ids": w.array("user_ids")[1:]},
        ("19 user_ids for 20 rows", "one id per row"),
    ),
    "too many item ids": (lambda w: {"item_ids": np.arange(16)}, ("16 item_ids for 15 rows",)),
    "an id twice": (lambda w: {"item_ids": np.array(["i1"] * 15)}, ("item_ids", "'i1' occurs more than once")),
    "ids in two dimensions": (
        lambda w: {"user_ids": w.array("user_ids").reshape(20, 1)},
        ("user_ids", "expected one dimension"),
    ),
    "pickled ids": (
        lambda w: {"user_ids": w.array("user_ids").astype(object)},
        ("pickled objects", "save plain arrays"),
    ),
    "fewer users than the files, without ids": (
        lambda w: {"user_ids": None, "user_factors": w.array("user_factors")[2:]},
        ("18 user rows", "20 distinct users", "give user_ids"),
    ),
    "more items than the files, without ids": (
        lambda w: {"item_ids": None, "item_factors": np.zeros((16, 4), np.float32)},
        ("16 item rows", "15 distinct items", "give item_ids"),
    ),
    "complex factors": (lambda w: {"user_factors": np.ones((20, 4), complex)}, ("complex128", "save it as floats")),
    "factors as text": (lambda w: {"item_factors": np.full((15, 4), "a")}, ("item_factors has type <U1", "floats")),
    "unknown similarity": (lambda w: {"similarity": "cosine"}, ("similarity 'cosine'", "'dot' or 'distance'")),
    "missing array": (lambda w: {"item_factors": None}, ("no array 'item_factors'", "it has user_factors")),
    "misspelt array": (lambda w: {"itemfactors": np.ones(1)}, ("'itemfactors'", "did you mean 'item_factors'?")),
    "unknown array": (lambda w: {"xyz": np.ones(1)}, ("unknown array 'xyz'", "known: user_factors")),
}


@pytest.mark.parametrize("case", FACTORS)
def test_factors_that_do_not_fit_are_refused(world, refuse, case):
    changed, says = FACTORS[case]
    path = world.factors(**changed(world))
    message = refuse(*world.evaluate("--factors", path, model=False), says=says)
    assert "changed" in message


def single(array, *, pickled=False):
    stream = io.BytesIO()
    np.save(stream, array, allow_pickle=pickled)
    return stream.getvalue()


def archive(**members):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as writer:
        for name, content in members.items():
            writer.writestr(name, content)
    return stream.getvalue()


FILES = {
    "half a file": (lambda whole: whole[: len(whole) // 2], "was it cut short?"),
    "the end missing": (lambda whole: whole[:-10], "was it cut short?"),
    "damaged inside": (lambda whole: whole[:300] + bytes(60) + whole[360:], "not a complete .npz file"),
    "nothing in it": (lambda whole: b"", "not a complete .npz file"),
    "text": (lambda whole: b"user,item,score\n1,2,3\n", "not a .npz file"),
    "a pickle": (lambda whole: pickle.dumps({"user_factors": 1}), "not a .npz file"),
    "a single array": (lambda whole: single(np.ones((3, 2))), "a single array; expected a .npz file"),
    "a single pickled array": (lambda whole: single(np.array([{}]), pickled=True), "a single array"),
    "another archive": (lambda whole: archive(readme="hello"), "'readme' is not an array"),
    "an empty archive": (lambda whole: archive(), "no array 'user_factors' (it has none)"),
}


@pytest.mark.parametrize("case", FILES)
def test_what_is_no_file_of_factors_is_refused(world, refuse, case):
    made, says = FILES[case]
    path = world.write("odd.npz", made((world.folder / "mf.npz").read_bytes()))
    refuse(*world.evaluate("--factors", path, model=False), says=("odd.npz", says))


@pytest.mark.parametrize("dtype, large", [(np.float32, 3e19), (np.float64, 1e200)])
def test_a_product_beyond_the_floats_names_the_user_and_the_item(world, refuse, dtype, large):
    user_factors = np.ones((20, 4), dtype)
    item_factors = np.ones((15, 4), dtype)
    user_factors[0], item_factors[2] = large, large
    path = world.factors(user_factors=user_factors, item_factors=item_factors)
    refuse(
        *world.evaluate("--factors", f"big={path}", model=False), says=("'big'", "user u0, item i2", "inf", "finite")
    )


def test_a_distance_beyond_the_floats_is_refused_too(world, refuse):
    large = {"user_factors": np.full((20, 4), 3e19, np.float32), "item_factors": np.full((15, 4), 3e19, np.float32)}
    path = world.factors(similarity="distance", **large)
    refuse(*world.evaluate("--factors", path, model=False), says=("user u0, item i0", "finite"))


SCORES = {
    "NaN": ("user,item,score\nu1,i1,2\nu1,i2,nan\n", ("row 2 (user u1, item i2)", "nan", "finite")),
    "infinite": ("user,item,score\nu1,i1,inf\n", ("row 1", "inf", "finite")),
    "no score": ("user,item,score\nu1,i1,2\nu1,i2,\n", ("row 2 has no score", "expected a number")),
    "in words": ("user,item,score\nu1,i1,good\n", ("row 1", "'good'", "expected a number")),
    "a pair twice": ("user,item,score\nu1,i1,1\nu2,i2,1\nu1,i1,2\n", ("user u1, item i1", "more than one", "keep one")),
    "score column misspelt": ("user,item,scor\nu1,i1,1\n", ("no column 'score'", "did you mean 'scor'?")),
    "score column missing": ("user,item\nu1,i1\n", ("no column 'score'", "expected user, item and score")),
    "user column missing": ("a,item,score\nu1,i1,1\n", ("no column 'user'", "--user-col")),
    "headerless": ("1,1,2\n1,2,3\n", ("looks like data", "add a header line")),
    "null user": ("user,item,score\n,i1,2\n", ("row 1 has no id",)),
    "empty": ("", ("empty",)),
    "header only": ("user,item,score\n", ("header but no row",)),
    "ragged": ("user,item,score\nu1,i1,2\nu1\n", ("line 3 has 1 field, the header 3",)),
    "binary": (b"\x00\x01\x02" * 9, ("binary data",)),
}


@pytest.mark.parametrize("case", SCORES)
def test_scores_that_cannot_be_used_are_refused(world, refuse, case):
    content, says = SCORES[case]
    path = world.write("scores.csv", content)
    refuse(*world.evaluate("--scores", path, model=False), says=("scores.csv", *says))


def test_factors_given_as_scores_are_refused(world, refuse):
    refuse(*world.evaluate("--scores", world / "mf.npz", model=False), says=("mf.npz: binary data",))


@pytest.mark.parametrize("more", [("--factors", "mf.npz"), ("--scores", "mf=dense.csv"), ("--model", "mf=popular")])
def test_two_models_of_one_name_are_refused(world, refuse, more):
    option, text = more
    name, equals, file = text.rpartition("=")
    value = text if option == "--model" else f"{name}{equals}{world / file}"
    refuse(*world.evaluate(option, value), says=("two models are called 'mf'", "give one another name"))


def test_a_run_without_a_model_is_refused(world, refuse):
    refuse(*world.evaluate(model=False), says=("no model to evaluate", "--factors, --scores, --model or --predictions"))


@pytest.mark.parametrize("option", ["--factors", "--scores", "--model"])
@pytest.mark.parametrize("text", ["=thing", "name="])
def test_half_a_name_is_refused(world, refuse, option, text):
    refuse(*world.evaluate(option, text), says=(f"cannot read {text!r}", "write NAME="))
