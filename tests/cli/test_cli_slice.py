"""``unskew evaluate`` with imputing estimators, with ``auto``, and with ``--exposed`` next to ``--test``."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from selected_logs import ITEMS, USERS, SelectedLog

from unskew import Interactions, Split, evaluate
from unskew.evaluation.fitting import automatic
from unskew.evaluation.fitting.self_check import SelfCheck

LOG = SelectedLog.of()


@pytest.fixture(autouse=True)
def _passing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The check of auto on simulated logs passes, without simulating any."""
    monkeypatch.setattr(automatic, "self_check", lambda _, word, *rest: SelfCheck(word, 0.4, 0.7, 0.5))


def write(rows: Interactions, path: Path, column: str) -> None:
    users, items = (
        pl.Series([f"{kind}{code}" for code in codes]) for kind, codes in (("u", rows.users), ("i", rows.items))
    )
    pl.DataFrame({"user": users, "item": items, column: np.asarray(rows.values).astype(int)}).write_csv(path)


@pytest.fixture
def files(world, tmp_path: Path) -> list[str]:
    """The words of an evaluation of a labelled log, whose slice is slice.csv."""
    write(LOG.rows(LOG.in_train, "train"), tmp_path / "labels-train.csv", "rating")
    write(LOG.rows(LOG.in_test, "test"), tmp_path / "labels-test.csv", "rating")
    write(LOG.random_slice(150), tmp_path / "slice.csv", "label")
    words = ["evaluate", "--train", world / "labels-train.csv", "--test", world / "labels-test.csv"]
    return [*words, "--model", "popular", "--model", "item-knn", "-m", "adg", "-m", "auc", "--positive", "rating>=1"]


def run_of(outcome) -> dict:
    assert outcome.code == 0, outcome.err
    return json.loads(outcome.out)


def test_a_slice_next_to_a_test_has_the_numbers_of_python(world, unskew, files):
    record = run_of(unskew(*files, "--exposed", world / "slice.csv", "-e", "blend", "--json", "-"))
    parts = {name: Interactions.read(world / f"{name}.csv") for name in ("labels-train", "labels-test")}
    drawn = pl.read_csv(world / "slice.csv").rename({"label": "rating"})
    split = Split(parts["labels-train"], parts["labels-test"], slice=Interactions.from_frame(drawn))
    models = {"popular": "popular", "item-knn": "item-knn"}
    report = evaluate(models, split, metrics=["adg", "auc"], estimators=["blend"], positive="rating>=1")
    assert record["estimates"] == report.to_dict()["estimates"]
    assert record["slice"]["rows"] == 150
    assert record["run"]["data"]["slice"]["rows"] == 150


def test_auto_says_what_it_is(world, unskew, files):
    sliced = unskew(*files, "--exposed", world / "slice.csv", "-e", "auto")
    assert sliced.code == 0
    assert "Auto is blend, because there are random rows" in " ".join(sliced.out.split())
    labelled = run_of(unskew(*files, "-e", "auto", "--json", "-"))
    assert labelled["run"]["auto"]["estimator"] == "blend"
    assert {row["estimator"] for row in labelled["estimates"]} == {"blend"}
    assert {row["method"] for row in labelled["methods"]} == {"popularity", "exposure", "dm", "blend"}


def test_auto_is_the_default(unskew, files):
    record = run_of(unskew(*files, "--json", "-"))
    assert {row["estimator"] for row in record["estimates"]} == {"aoa(per=pair)", "blend"}


@pytest.mark.parametrize("word", ["dm", "dr", "blend"])
def test_imputing_estimators_print_tables(unskew, files, word):
    outcome = unskew(*files, "-e", word)
    assert outcome.code == 0, outcome.err
    assert word in outcome.out


def test_exposure_is_a_propensity(unskew, files):
    record = run_of(unskew(*files, "-e", "snips", "--propensity", "exposure(power=0.5)", "--json", "-"))
    assert record["run"]["propensity"] == "exposure(power=0.5)"


def test_chances_from_a_file(world, unskew, files, tmp_path):
    rng = np.random.default_rng(0)
    pairs = [(f"u{user}", f"i{item}", round(float(rng.random()), 4)) for user in range(USERS) for item in range(ITEMS)]
    pl.DataFrame(pairs, schema=["user", "item", "score"], orient="row").write_csv(tmp_path / "q.csv")
    word = f"dm(q=scores({world / 'q.csv'}))"
    record = run_of(unskew(*files, "-e", word, "--json", "-"))
    assert {row["estimator"] for row in record["estimates"]} == {word}


def test_positives_alone_with_a_slice(world, unskew, tmp_path, files):
    for part in ("train", "test"):
        rows = pl.read_csv(world / f"labels-{part}.csv").filter(pl.col("rating") == 1)
        rows.drop("rating").write_csv(tmp_path / f"clicks-{part}.csv")
    items = world.write("items.csv", "item\n" + "".join(f"i{item}\n" for item in range(ITEMS)))
    rows = ["--train", world / "clicks-train.csv", "--test", world / "clicks-test.csv", "--catalogue", items]
    words = ["evaluate", *rows, "--model", "popular"]
    outcome = unskew(*words, "--exposed", world / "slice.csv", "-m", "adg", "-e", "auto", "--json", "-")
    assert run_of(outcome)["run"]["auto"]["estimator"] == "blend(q=slice)"


def test_ratings_with_a_threshold_are_labels_of_a_slice(world, unskew, tmp_path, files):
    drawn = pl.read_csv(world / "slice.csv")
    drawn.select("user", "item", (pl.col("label") * 4 + 0).alias("rating")).write_csv(tmp_path / "rated.csv")
    by_label, by_rating = (
        run_of(unskew(*files, "--exposed", world / name, "-e", "blend", "--json", "-"))
        for name in ("slice.csv", "rated.csv")
    )
    assert by_label["estimates"] == by_rating["estimates"]


def test_a_page_and_a_file_are_written(world, unskew, files):
    outcome = unskew(
        *files, "--exposed", world / "slice.csv", "-e", "blend", "--json", world / "o.json", "--html", world / "o.html"
    )
    assert outcome.code == 0, outcome.err
    assert json.loads(Path(world / "o.json").read_text())["slice"]["rows"] == 150
    assert "slice" in Path(world / "o.html").read_text()


def test_few_positives_are_warned_of_on_the_screen(world, unskew, files):
    write(LOG.random_slice(12, 4), Path(world / "tiny.csv"), "label")
    outcome = unskew(*files, "--exposed", world / "tiny.csv", "-e", "blend")
    assert outcome.code == 0
    assert "fewer than 10" in " ".join(outcome.err.split())


def test_a_population_is_for_an_exposed_test_alone(world, refuse, files):
    refuse(
        *files,
        *("--exposed", world / "slice.csv", "--population", "all"),
        says=("--population is for --exposed without --test; next to --test the items are --candidates",),
    )


def test_a_slice_without_labels_of_selected_rows_or_of_unknown_items_is_refused(world, refuse, files):
    bare = world.write("bare.csv", "user,item\nu1,i2\nu2,i3\n")
    refuse(*files, "--exposed", bare, "-e", "blend", says=("bare.csv",))
    other = world.write("other.csv", "user,item,label\nu1,i2,1\nu2,new,0\n")
    refuse(*files, "--exposed", other, "-e", "blend", says=("item new of the slice", "--catalogue"))
    strange = world.write("strange.csv", "user,item,label\nx,i2,1\ny,i3,0\n")
    refuse(*files, "--exposed", strange, "-e", "blend", says=("no user of the slice is in train or test",))
    popular = pl.read_csv(world / "labels-train.csv")["item"].value_counts().sort("count", descending=True)["item"][:4]
    had = set(pl.read_csv(world / "labels-train.csv").select("user", "item").rows())
    rows = [(f"u{u}", item) for u in range(USERS) for item in popular if (f"u{u}", item) not in had]
    selected = world.write(
        "selected.csv", "user,item,label\n" + "".join(f"{u},{i},{k % 2}\n" for k, (u, i) in enumerate(rows))
    )
    refuse(*files, "--exposed", selected, "-e", "blend", says=("more popular", "it is not random"))
    liked = pl.read_csv(world / "slice.csv").filter(pl.col("label") == 1)
    positives = world.write("positives.csv", liked.write_csv())
    refuse(*files, "--exposed", positives, "-e", "blend", says=("every row of the slice is positive", "keep all rows"))


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["-e", "dm(q=slice)"], "q=slice needs random rows; give them with --exposed next to --test"),
        (["-e", "dm(q=label)"], "did you mean 'labels'"),
        (["-e", "dr", "-m", "ndcg@5"], "dr cannot estimate ndcg@5"),
        (["-e", "blend", "--ties", "random"], "use ties=expected"),
        (["-e", "blend", "--users", "served"], "use --users any"),
        (["-e", "blend", "--candidates", "sampled(5)"], "need all of them"),
        (["-e", "dm(q=scores(nowhere.csv))"], "nowhere.csv"),
        (["-e", "snips", "--propensity", "exposure(power=0)"], "power=0 must be above 0"),
        (["-e", "dr(cap=0)"], "cap=0 must be at least 1"),
    ],
)
def test_what_means_nothing_is_refused_in_one_line(refuse, files, words, says):
    refuse(*files, *words, says=(says,))


def test_positives_alone_cannot_be_imputed(world, refuse, files):
    kept = [word for word in files if word not in {"--positive", "rating>=1"}]
    for part in ("train", "test"):
        pl.read_csv(world / f"labels-{part}.csv").select("user", "item").write_csv(world / f"labels-{part}.csv")
    refuse(*kept, "-e", "dm", says=("rows are positive, so the chance of relevance cannot be learnt", "or use snips"))


def test_a_run_by_auto_is_compared_with_an_earlier_one(world, unskew, files):
    words = [*files, "--exposed", world / "slice.csv", "-e", "auto"]
    assert unskew(*words, "--json", world / "earlier.json").code == 0
    record = run_of(unskew(*words, "--against", world / "earlier.json", "--json", "-"))
    assert {row["estimator"] for row in record["against"]["changes"]} == {"blend"}
    assert {row["difference"] for row in record["against"]["changes"]} == {0}
    assert not [note for note in record["against"]["notes"] if "random rows" in note]
    record = run_of(unskew(*files, "-e", "blend", "--against", world / "earlier.json", "--json", "-"))
    assert "the random rows are not the same, so blend may differ for that reason" in record["against"]["notes"]
