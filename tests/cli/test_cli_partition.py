"""``unskew partition``, ``unskew split --partitions`` and ``unskew evaluate`` on folders of Parquet files."""

import json
from pathlib import Path

import polars as pl
import pytest
from logs_in_parts import differences


@pytest.fixture
def parted(world, unskew):
    for name in ("train", "test"):
        outcome = unskew("partition", world / f"{name}.csv", world / name, "--partitions", "3")
        assert outcome.code == 0, outcome.err
        assert "in 3 parts" in outcome.out
    return world


def estimates(path):
    return json.loads(Path(path).read_text())["estimates"]


def test_folders_have_the_estimates_of_files(parted, unskew):
    common = ("--factors", parted / "mf.npz", "-m", "recall@5", "-e", "aoa(per=pair)", "-e", "snips", "-q")
    for form, ending in (("files", ".csv"), ("folders", "")):
        inputs = ("--train", parted / f"train{ending}", "--test", parted / f"test{ending}")
        outcome = unskew("evaluate", *inputs, *common, "--json", parted / f"{form}.json")
        assert outcome.code == 0, outcome.err
    assert differences(estimates(parted / "files.json"), estimates(parted / "folders.json")) == []


def test_a_split_can_be_written_in_parts(world, unskew):
    outcome = unskew("split", world / "train.csv", world / "parts", "--per-user", "0.4", "--partitions", "2")
    assert outcome.code == 0, outcome.err
    assert sorted(path.name for path in Path(world / "parts").iterdir()) == ["test", "train"]
    rows = [pl.read_parquet(Path(world / "parts") / name / "*.parquet") for name in ("train", "test")]
    assert pl.concat(rows).sort("user", "item").equals(pl.read_csv(world / "train.csv").sort("user", "item"))
    run = ("evaluate", "--train", world / "parts/train", "--test", world / "parts/test", "--model", "popular")
    assert unskew(*run, "--work", world / "work", "--memory", "4GiB").code == 0
    assert len(list(Path(world / "work").glob("part-*.npz"))) == 2


def test_parquet_files_in_any_layout_need_a_place_for_their_copy(world, unskew):
    for name in ("train", "test"):
        folder = Path(world / f"{name}-log")
        folder.mkdir()
        rows = pl.read_csv(world / f"{name}.csv")
        rows[::2].write_parquet(folder / "a.parquet")
        rows[1::2].write_parquet(folder / "b.parquet")
    run = ("evaluate", "--train", world / "train-log", "--test", world / "test-log", "--model", "popular")
    refused = unskew(*run, "--partitions", "2")
    assert refused.code == 2
    assert "--work" in refused.err
    assert unskew(*run, "--partitions", "2", "--work", world / "work").code == 0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--until", "decided"), "--until needs all rows in memory"),
        (("-e", "blend"), "blend cannot be merged over parts"),
        (("--interval", "bootstrap(100)"), "use bootstrap(100, weights=poisson)"),
        (("--memory", "lots"), "--memory lots: expected a size"),
        (("--model", "als"), "als is trained on a log in memory"),
    ],
)
def test_what_needs_all_rows_is_refused_in_one_line(parted, unskew, options, words):
    run = ("evaluate", "--train", parted / "train", "--test", parted / "test", "--factors", parted / "mf.npz")
    outcome = unskew(*run, *options)
    assert outcome.code == 2
    assert words in outcome.err
    assert len(outcome.err.strip().splitlines()) == 1


def test_a_folder_and_a_file_do_not_go_together(parted, unskew):
    outcome = unskew("evaluate", "--train", parted / "train", "--test", parted / "test.csv", "--model", "popular")
    assert (outcome.code, "must be a folder" in outcome.err) == (2, True)
    outcome = unskew(
        "evaluate", "--train", parted / "train.csv", "--test", parted / "test.csv", "--model", "popular", "--work", "w"
    )
    assert (outcome.code, "--work is for folders of Parquet files" in outcome.err) == (2, True)


def test_bad_numbers_of_parts_are_refused(world, unskew):
    outcome = unskew("partition", world / "train.csv", world / "out", "--partitions", "0")
    assert (outcome.code, "must be at least 1" in outcome.err) == (2, True)
    outcome = unskew("partition", world / "nowhere.parquet", world / "out")
    assert (outcome.code, "no such file" in outcome.err) == (2, True)
    assert not Path(world / "out").exists()


def test_columns_keep_their_names(world, unskew):
    pl.read_csv(world / "train.csv").rename({"user": "uid", "item": "thing"}).with_columns(stars=3.0).write_csv(
        world / "named.csv"
    )
    names = ("--user-col", "uid", "--item-col", "thing", "--rating-col", "stars")
    assert unskew("partition", world / "named.csv", world / "named", "--partitions", "2", *names).code == 0
    assert set(pl.read_parquet(Path(world / "named") / "*.parquet").columns) >= {"uid", "thing", "stars"}
