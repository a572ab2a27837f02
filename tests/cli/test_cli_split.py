"""``unskew split``."""

import json
import os
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from unskew import Interactions, Split, evaluate
from unskew.data import split_fractions

WAYS = {
    "fractions": (("--fractions", "60/20/20"), {"train": 60, "validation": 20, "test": 20}),
    "two fractions": (("--fractions", "80/20"), {"train": 80, "test": 20}),
    "fractions of one": (("--fractions", ".8/.2"), {"train": 80, "test": 20}),
    "default": ((), {"train": 70, "validation": 15, "test": 15}),
    "per user": (("--per-user", "0.2"), {"train": 80, "test": 20}),
    "two parts a user": (("--per-user", "80/20"), {"train": 80, "test": 20}),
    "three parts a user": (("--per-user", "60/20/20"), {"train": 60, "validation": 20, "test": 20}),
    "leave one out": (("--leave-one-out",), {"train": 80, "test": 20}),
    "temporal": (("--temporal", "0.25"), {"train": 75, "test": 25}),
}


def parts(folder, form="csv"):
    read = pl.read_csv if form == "csv" else pl.read_parquet
    return {path.stem: read(path) for path in sorted(Path(folder).iterdir())}


@pytest.mark.parametrize("form", ["csv", "parquet"])
@pytest.mark.parametrize("way", WAYS)
def test_every_way_gives_each_row_to_one_part(world, unskew, way, form):
    options, sizes = WAYS[way]
    outcome = unskew("split", world / "train.csv", world / "parts", *options, "--format", form)
    assert outcome.code == 0, outcome.err
    made = parts(world / "parts", form)
    assert {name: len(frame) for name, frame in made.items()} == sizes
    log = pl.read_csv(world / "train.csv")
    assert pl.concat(made.values()).sort("user", "item").equals(log.sort("user", "item"))
    for name, size in sizes.items():
        assert f"{name} " in outcome.out
        assert str(size) in outcome.out


def test_what_is_held_out_per_user_is_a_share_of_each(world, unskew):
    unskew("split", world / "train.csv", world / "parts", "--per-user", "0.4")
    assert set(parts(world / "parts")["test"]["user"].value_counts()["count"]) == {2}


def test_parts_of_each_user_are_written_and_who_only_trains_is_counted(world, unskew):
    """15 rows of u0, 6 of u1, 4 of u2: by largest remainders 11/1/3 and 4/1/1, and u2 has fewer than 5."""
    counts = {"u0": 15, "u1": 6, "u2": 4}
    rows = [f"{user},i{item}" for user, n in counts.items() for item in range(n)]
    world.write("log.csv", "\n".join(["user,item", *rows]) + "\n")
    outcome = unskew("split", world / "log.csv", world / "parts", "--per-user", "70/10/20", "--least", "5")
    assert outcome.code == 0, outcome.err
    made = {name: dict(frame["user"].value_counts().iter_rows()) for name, frame in parts(world / "parts").items()}
    assert made == {
        "train": {"u0": 11, "u1": 4, "u2": 4},
        "validation": {"u0": 1, "u1": 1},
        "test": {"u0": 3, "u1": 1},
    }
    assert "per-user(0.7/0.1/0.2, least=5), seed 0" in outcome.out
    assert outcome.out.endswith("1 of 3 users are only in train\n")


def test_a_validation_part_without_a_row_is_said_and_not_written(world, unskew):
    """Each user has 5 rows: 4/0/1."""
    outcome = unskew("split", world / "train.csv", world / "parts", "--per-user", "70/10/20", "--least", "5")
    assert outcome.code == 0
    assert sorted(parts(world / "parts")) == ["test", "train"]
    assert outcome.out.endswith("so no validation part was written\n")


def test_leave_one_out_takes_the_latest(world, unskew):
    unskew("split", world / "train.csv", world / "parts", "--leave-one-out")
    latest = pl.read_csv(world / "train.csv").group_by("user").agg(pl.col("timestamp").max()).sort("user")
    assert parts(world / "parts")["test"].select("user", "timestamp").sort("user").equals(latest)


def test_temporal_holds_out_what_came_last(world, unskew):
    unskew("split", world / "train.csv", world / "parts", "--temporal", "0.25")
    made = parts(world / "parts")
    assert made["train"]["timestamp"].max() < made["test"]["timestamp"].min()


@pytest.mark.parametrize("way", ["default", "per user", "three parts a user"])
def test_a_seed_gives_the_same_bytes_and_another_seed_others(world, unskew, way):
    for name, seed in (("a", "1"), ("b", "1"), ("c", "2")):
        unskew("split", world / "train.csv", world / name, *WAYS[way][0], "--seed", seed)
    first, same, other = ((world.folder / name / "test.csv").read_bytes() for name in "abc")
    assert first == same
    assert first != other


@pytest.mark.parametrize(
    "options, train, test", [(("--per-user", "0.25"), 0.75, 0.25), (("--fractions", "60/20/20"), 0.6, 0.2)]
)
def test_a_random_share_rewrites_the_propensity_of_the_test(world, unskew, options, train, test):
    unskew("split", world / "test.csv", world / "parts", *options)
    log, made = pl.read_csv(world / "test.csv"), parts(world / "parts")
    joined = made["test"].join(log, on=["user", "item"], suffix="_before")
    before = joined["propensity_before"]
    expected = test * before / (1 - train * before)  # h P / (1 - t P)
    assert (joined["propensity"] - expected).abs().max() < 1e-12
    assert made["train"].join(log, on=["user", "item", "propensity"]).height == made["train"].height


@pytest.mark.parametrize("options", [("--temporal", "0.25"), ("--leave-one-out",)])
def test_a_split_that_is_no_random_share_leaves_the_propensity_out_and_says_so(world, unskew, options):
    outcome = unskew("split", world / "test.csv", world / "parts", *options)
    assert "propensity column of the test was dropped" in outcome.err
    assert "propensity" not in parts(world / "parts")["test"].columns


def test_what_is_split_can_be_evaluated(world, unskew):
    unskew("split", world / "train.csv", world / "parts", "--per-user", "0.4")
    files = ["--train", world / "parts/train.csv", "--test", world / "parts/test.csv"]
    outcome = unskew("evaluate", *files, "--model", "popular", "-m", "recall@3", "-e", "aoa", "--json", "-")
    split = Split(Interactions.read(world / "parts/train.csv"), Interactions.read(world / "parts/test.csv"))
    report = evaluate({"popular": "popular"}, split, metrics=["recall@3"], estimators=["aoa"])
    assert json.loads(outcome.out)["estimates"] == report.to_dict()["estimates"]
    assert len(split.test) == 40


def test_other_column_names_become_the_usual_ones(world, unskew):
    log = pl.read_csv(world / "train.csv").rename({"user": "who", "item": "what", "rating": "stars", "timestamp": "t"})
    log.write_csv(world / "log.tsv", separator="\t")
    names = ["--user-col", "who", "--item-col", "what", "--rating-col", "stars", "--timestamp-col", "t"]
    assert unskew("split", world / "log.tsv", world / "parts", *names).code == 0
    assert parts(world / "parts")["train"].columns == ["user", "item", "rating", "timestamp"]


def test_repeated_rows_are_counted(world, unskew):
    text = (world.folder / "train.csv").read_text()
    world.write("twice.csv", text + text.splitlines()[1] + "\n")
    outcome = unskew("split", world / "twice.csv", world / "parts")
    assert "warning: log: 1 repeated (user, item) row left out; the latest row of each pair is kept" in outcome.err


def test_a_validation_file_of_an_earlier_split_is_pointed_at(world, unskew):
    unskew("split", world / "train.csv", world / "parts")
    outcome = unskew("split", world / "train.csv", world / "parts", "--fractions", "80/20")
    assert "validation.csv is from an earlier split" in outcome.err


def test_folders_are_made_as_deep_as_named(world, unskew):
    unskew("split", world / "train.csv", world / "plain")
    unskew("split", world / "train.csv", world / "a/b/c")
    deep = {path.name: path.read_bytes() for path in Path(world / "a/b/c").iterdir()}
    assert deep == {path.name: path.read_bytes() for path in Path(world / "plain").iterdir()}
    assert set(deep) == {"train.csv", "validation.csv", "test.csv"}


def test_the_name_of_a_data_set_is_enough(world, unskew, monkeypatch):
    folder = world.folder / "data" / "ml-100k"
    folder.mkdir(parents=True)
    rows = [f"{user}\t{item}\t{(user + item) % 5 + 1}\t{8000 + item}" for user in range(1, 9) for item in range(1, 11)]
    (folder / "u.data").write_text("\n".join(rows) + "\n")
    monkeypatch.setenv("UNSKEW_DATA", str(folder.parent))
    outcome = unskew("split", "ml-100k", world / "parts")
    assert outcome.code == 0, outcome.err
    assert sum(len(frame) for frame in parts(world / "parts").values()) == 80


def test_a_real_data_set_is_split_by_its_name(world, unskew):
    data = os.environ.get("UNSKEW_DATA")
    if not data or not (Path(data) / "ml-100k").is_dir():
        pytest.skip("real data: set UNSKEW_DATA to the folder that holds ml-100k")
    assert unskew("split", "ml-100k", world / "parts", "--per-user", "0.2").code == 0
    assert sum(len(frame) for frame in parts(world / "parts").values()) == 100_000


BAD = {
    "two ways": (("--per-user", "0.2", "--temporal", "0.2"), "choose one of --fractions"),
    "share 0": (("--per-user", "0"), "must be between 0 and 1, as in 0.2"),
    "an empty part a user": (("--per-user", "80/0/20"), "two or three positive parts as in 70/10/20"),
    "four parts a user": (("--per-user", "1/2/3/4"), "two or three positive parts as in 70/10/20"),
    "parts a user in words": (("--per-user", "some"), "write a share as in 0.2"),
    "nothing a user": (("--per-user", ""), "write a share as in 0.2"),
    "no number a user": (("--per-user", "nan"), "must be between 0 and 1, as in 0.2"),
    "least 0": (("--per-user", "0.2", "--least", "0"), "least 0 must be 1 or more, as in 5"),
    "least alone": (("--least", "5"), "--least needs --per-user, as in --per-user 70/10/20 --least 5"),
    "least of another way": (("--temporal", "0.2", "--least", "5"), "--least needs --per-user"),
    "least above all": (("--per-user", "70/10/20", "--least", "99"), "100 rows leave none for test under per-user"),
    "share 2": (("--temporal", "2"), "must be between 0 and 1, as in 0.2"),
    "fractions in words": (("--fractions", "a/b"), "as in 80/20 or 70/15/15"),
    "four fractions": (("--fractions", "1/2/3/4"), "two or three positive parts"),
    "an empty fraction": (("--fractions", "80/0"), "two or three positive parts"),
    "fractions above the whole": (("--fractions", "80/30"), "sum to 110, not to 100 or 1; write 80/20, or 72.73/27.27"),
    "fractions of ten": (("--fractions", "8/1/1"), "sum to 10, not to 100 or 1; write 80/10/10"),
    "parts a user above the whole": (("--per-user", "70/20/20"), "--per-user 70/20/20 sum to 110, not to 100 or 1"),
    "no number": (("--fractions", "nan/1"), "two or three positive parts"),
    "seed below 0": (("--seed", "-1"), "seed -1 must be 0 or more"),
    "another format": (("--format", "xlsx"), "choose csv or parquet"),
    "unknown column": (("--user-col", "usre"), "did you mean 'user'?"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_options_are_refused_and_no_folder_is_made(world, refuse, case):
    options, says = BAD[case]
    refuse("split", world / "train.csv", world / "parts", *options, says=(says,), outputs=False)


LOGS = {
    "missing": (None, "no such file"),
    "empty": ("", "the file is empty"),
    "header only": ("user,item\n", "header but no row"),
    "ragged": ("user,item\nu1,i1\nu2\n", "line 3 has 1 field"),
    "one row": ("user,item\nu1,i1\n", "leave none for"),
    "bad propensity": ("user,item,propensity\nu1,i1,2\n", "outside (0, 1]"),
}


@pytest.mark.parametrize("case", LOGS)
def test_a_bad_log_is_refused_and_no_folder_is_made(world, refuse, case):
    content, says = LOGS[case]
    if content is not None:
        world.write("log.csv", content)
    refuse("split", world / "log.csv", world / "parts", says=("log.csv", says), outputs=False)


def test_a_temporal_split_needs_times(world, refuse):
    run = ("split", world / "top.csv", world / "parts", "--temporal", "0.2")
    refuse(*run, says=("no column 'timestamp'",), outputs=False)


def test_a_misspelt_data_set_is_refused_with_the_nearest(world, refuse):
    refuse("split", "ml-100", world / "parts", says=("no such file or data set", "'ml-100k'"), outputs=False)


def test_a_data_set_that_is_not_here_says_how_to_get_it(world, refuse, monkeypatch):
    monkeypatch.setenv("UNSKEW_DATA", world / "nowhere")
    refuse("split", "ml-100k", world / "parts", says=("ml-100k", "unskew datasets"), outputs=False)


def test_a_folder_that_cannot_be_written_to_is_refused(world, refuse):
    log = world / "train.csv"
    refuse("split", log, world / "test.csv", says=("this is a file", "name a folder"), outputs=False)
    refuse("split", log, world / "test.csv/parts", says=("cannot be created",), outputs=False)


def test_the_log_is_never_written_over(world, refuse):
    refuse("split", world / "train.csv", str(world.folder), says=("would overwrite",), outputs=False)


@pytest.mark.parametrize("kind", ["numbers", "texts"])
def test_a_long_log_is_split_as_its_rows_are(tmp_path, unskew, kind):
    """The files are those of the rows that a frame of texts has, with repeated rows of which the latest one is kept."""
    rng = np.random.default_rng(0)
    ids = [[f"{'u' if kind == 'texts' else ''}{k}" for k in rng.integers(0, 60, 9_000)] for _ in range(2)]
    frame = pl.DataFrame(
        {
            "user": ids[0],
            "item": ids[1],
            "rating": [str(k / 2) for k in rng.integers(0, 9, 9_000)],
            "timestamp": [str(k) for k in rng.integers(0, 10**9, 9_000)],
        }
    )
    frame.write_csv(tmp_path / "log.csv")
    outcome = unskew("split", tmp_path / "log.csv", tmp_path / "parts", "--fractions", "80/20", "--seed", "3")
    assert outcome.code == 0, outcome.err
    split = split_fractions(Interactions.from_frame(frame), (80, 20), rng=3)
    for name, part in (("train", split.train), ("test", split.test)):
        assert (tmp_path / "parts" / f"{name}.csv").read_text() == part.to_polars().write_csv()
