"""``unskew split`` at moments, and ``unskew evaluate --windows``."""

import json
from pathlib import Path

import polars as pl
import pytest

from unskew import evaluate_windows
from unskew.data.time.windows import read_windows
from unskew.errors import spelled_as_flags

WORDS = ("-m", "recall@3", "-e", "aoa")


@pytest.fixture
def log(world):
    """The rows of the small world, at times 0 to 719."""
    parts = [
        pl.read_csv(world / name).select("user", "item", "rating", "timestamp") for name in ("train.csv", "test.csv")
    ]
    pl.concat(parts).write_csv(world / "log.csv")
    return world / "log.csv"


def test_before_and_until_are_moments_of_the_log(world, unskew, log):
    outcome = unskew("split", log, world / "parts", "--before", "400", "--until", "600", "--gap", "100")
    assert outcome.code == 0, outcome.err
    train, test = (pl.read_csv(world / f"parts/{name}.csv")["timestamp"] for name in ("train", "test"))
    assert train.max() < 300
    assert test.min() == 400
    assert test.max() < 600
    assert "time(before=400, until=600, gap=100)" in outcome.out
    assert "rows in no part: 60" in outcome.out


def test_dates_are_read_as_dates(world, unskew):
    rows = [f"u{k % 3},i{k},2024-01-{k + 1:02d}" for k in range(20)]
    file = world.write("dated.csv", "\n".join(["user,item,timestamp", *rows]))
    assert unskew("split", file, world / "parts", "--before", "2024-01-15").code == 0
    assert len(pl.read_csv(world / "parts/test.csv")) == 6


def test_rolling_windows_are_folders_that_can_be_evaluated(world, unskew, log):
    outcome = unskew("split", log, world / "w", "--rolling", "3x100")
    assert outcome.code == 0, outcome.err
    assert sorted(path.name for path in Path(world / "w").iterdir()) == ["window-1", "window-2", "window-3"]
    files = ["--json", world / "w.json", "--html", world / "w.html"]
    outcome = unskew("evaluate", "--windows", world / "w", "--model", "popular", "--model", "random", *WORDS, *files)
    assert outcome.code == 0, outcome.err
    assert "Means over 3 windows" in outcome.out
    record = json.loads(Path(world / "w.json").read_text())
    models = {"popular": "popular", "random": "random"}
    direct = evaluate_windows(models, read_windows(world / "w"), metrics=["recall@3"], estimators=["aoa"])
    assert record["estimates"] == [row.to_dict() for row in direct.estimates]
    assert "<svg" in Path(world / "w.html").read_text()


def test_windows_are_printed_in_other_formats(world, unskew, log):
    unskew("split", log, world / "w", "--rolling", "2x100")
    models = {"popular": "popular", "random": "random"}
    direct = evaluate_windows(models, read_windows(world / "w"), metrics=["recall@3"], estimators=["aoa"])
    with spelled_as_flags():  # of what warnings name
        texts = {"md": direct.to_markdown(), "latex": direct.to_latex(), "csv": direct.to_csv()}
    for form, text in texts.items():
        words = ("--model", "popular", "--model", "random", *WORDS, "--format", form, "-q")
        outcome = unskew("evaluate", "--windows", world / "w", *words)
        assert (outcome.code, outcome.out) == (0, text), form
    printed = unskew("evaluate", "--windows", world / "w", "--model", "popular", *WORDS, "--format", "json", "-q")
    assert len(json.loads(printed.out)["windows"]) == 2


def test_files_of_models_may_be_those_of_each_window(world, unskew, log):
    unskew("split", log, world / "w", "--rolling", "2x100")
    top = pl.read_csv(world / "top.csv")
    top.write_csv(world / "w/window-1/scores.csv")
    top.with_columns(-pl.col("score")).write_csv(world / "w/window-2/scores.csv")
    outcome = unskew(
        "evaluate", "--windows", world / "w", "--scores", f"mf={world / 'w'}/{{window}}/scores.csv", *WORDS
    )
    assert outcome.code == 0, outcome.err
    gone = unskew("evaluate", "--windows", world / "w", "--scores", f"mf={world / 'w'}/{{window}}/none.csv", *WORDS)
    assert gone.code == 2
    assert "window-1/none.csv: no such file" in gone.err


def test_a_window_with_too_many_rows_left_out_ends_with_1(world, unskew, log):
    unskew("split", log, world / "w", "--rolling", "2x100")
    outcome = unskew("evaluate", "--windows", world / "w", "--model", "popular", *WORDS, "--max-dropped", "0", "-q")
    again = unskew("evaluate", "--windows", world / "w", "--model", "popular", *WORDS, "--max-dropped", "1", "-q")
    record = unskew("evaluate", "--windows", world / "w", "--model", "popular", *WORDS, "--json", "-")
    dropped = [each["report"]["estimates"][0]["dropped_items"] for each in json.loads(record.out)["windows"]]
    assert outcome.code == (1 if any(dropped) else 0)
    assert again.code == 0


@pytest.mark.parametrize(
    "options, says",
    [
        (("--before", "400", "--until", "300"), "--before is 400 and --until is 300"),
        (("--before", "10000"), "no row for the test, from 10000; the log is from 0 to 719"),
        (("--before", "2024-01-31"), "name the unit with --time-unit s"),
        (("--before", "soon"), "--before: cannot read 'soon'; write a date as in 2024-01-31"),
        (("--before", "400", "--gap", "a week"), "--gap: cannot read the duration 'a week'; write it as in 7d"),
        (("--before", "400", "--time-unit", "days"), "unknown unit of times 'days'"),
        (("--before", "400", "--temporal", "0.2"), "choose one of --fractions"),
        (("--before", "400", "--rolling", "2x10"), "choose one of --fractions"),
        (("--until", "400"), "--until needs --before or --rolling"),
        (("--gap", "7d"), "--gap needs --before or --rolling"),
        (("--time-unit", "s"), "--time-unit needs --before or --rolling"),
        (("--rolling", "weekly"), "cannot read 'weekly' as rolling windows; write number x length, as in 4x7d"),
        (("--rolling", "3x1000"), "window 1: no row for train"),
        (("--rolling", "2x100", "--until", "9999"), "window 1: no row for the test, from 9799 until 9899"),
    ],
)
def test_moments_that_cannot_be_used_are_refused(world, refuse, log, options, says):
    refuse("split", log, world / "parts", *options, says=(says,), outputs=False)


def test_a_log_without_times_is_refused(world, refuse):
    file = world.write("timeless.csv", "user,item\nu1,i1\nu2,i2\n")
    for options in (("--before", "1"), ("--rolling", "2x7d")):
        refuse(
            "split", file, world / "parts", *options, says=("no column 'timestamp'", "--timestamp-col"), outputs=False
        )


def test_windows_of_an_earlier_split_are_not_mixed_with_new_ones(world, unskew, refuse, log):
    unskew("split", log, world / "w", "--rolling", "3x100")
    refuse("split", log, world / "w", "--rolling", "2x100", says=("window-3 is from an earlier split",), outputs=False)


def test_folders_of_another_form_are_refused(world, unskew, refuse, log):
    def evaluated(folder, says):
        refuse("evaluate", "--windows", world / folder, "--model", "popular", says=(says,))

    Path(world / "empty").mkdir()
    Path(world / "half/window-1").mkdir(parents=True)
    Path(world / "half/window-1/train.csv").write_text("user,item\n1,2\n")
    unskew("split", log, world / "plain", "--temporal", "0.2")
    unskew("split", log, world / "parts", "--rolling", "2x100", "--partitions", "2")
    evaluated("nowhere", "no such folder; make windows with unskew split --rolling 4x7d")
    evaluated("empty", "no folder in it has the files train and test")
    evaluated("plain", "it has a split of its own")
    evaluated("half", "window-1: no file test.csv or test.parquet")
    evaluated("parts", "windows are read whole")


@pytest.mark.parametrize(
    "options, says",
    [
        (("--model", "popular", "--train", "x.csv"), "--train is for one split, not for --windows"),
        (("--model", "popular", "--until", "decided"), "--until is for one split"),
        ((), "no model to evaluate"),
        (("--model", "popular", "--max-dropped", "2"), "--max-dropped 2"),
        (("--model", "popular", "-m", "recal@3"), "unknown metric 'recal'"),
    ],
)
def test_options_of_one_split_are_refused(world, unskew, refuse, log, options, says):
    unskew("split", log, world / "w", "--rolling", "2x100")
    refuse("evaluate", "--windows", world / "w", *options, says=(says,))
