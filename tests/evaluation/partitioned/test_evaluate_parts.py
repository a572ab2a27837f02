"""An evaluation part by part has the numbers, verdict and warnings of one in memory; what cannot be is refused."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from logs_in_parts import PARTS, differences, ids_of, in_memory, in_parts, make_frames, make_models

from unskew import Report, evaluate
from unskew.data import PartitionedSplit, open_split, write_parts
from unskew.data.columns import Columns
from unskew.data.partitions import open_parts, user_keys
from unskew.errors import ConfigError, DataError
from unskew.evaluation.partitioned.part_models import PartTable
from unskew.ranking import ListScorer, MatrixScorer, read_factors, scores_from_frame

NOT_COMPARED = ("data", "ranks", "predictions", "split")
"""Entries of the record that say how rows were read and in which order."""
MEANS, LISTS, SUMS = ["recall@5", "adg", "adg@3", "auc"], ["ndcg@5", "map", "mrr", "hit@3"], ["precision@5", "dcg"]
NAIVE_AND_SNIPS = ["aoa(per=pair)", "snips"]


def record(report: Report) -> dict[str, Any]:
    """The JSON without what is read otherwise, and without the baselines, which need all rows."""
    whole: dict[str, Any] = json.loads(replace(report, shows_baselines=False).to_json())
    for name in NOT_COMPARED:
        whole["run"].pop(name, None)
    return whole


def assert_same(models: dict[str, Any], frames: dict[str, pl.DataFrame], folder: Path, **options: Any) -> Report:
    """Compare the whole JSON of both ways, and return the report of the parts."""
    options = {"propensity": "popularity", **options}
    one = evaluate(models, in_memory(frames), threads=1, **options)
    other = evaluate(models, in_parts(frames, folder), threads=2, **options)
    assert differences(record(one), record(other)) == []
    return other


@pytest.mark.parametrize(
    "options",
    [
        pytest.param({"metrics": MEANS, "estimators": NAIVE_AND_SNIPS}, id="means"),
        pytest.param({"metrics": [*LISTS, *SUMS, "recall@5"], "estimators": ["aoa"]}, id="lists-and-sums"),
        pytest.param({"metrics": None}, id="defaults"),
        pytest.param({"metrics": MEANS, "estimators": ["snips(per=balanced)"]}, id="balanced"),
        pytest.param({"metrics": MEANS, "estimators": NAIVE_AND_SNIPS, "positive": "rating>=4"}, id="positive"),
        pytest.param({"metrics": MEANS, "estimators": NAIVE_AND_SNIPS, "users": "common"}, id="common"),
        pytest.param({"metrics": MEANS, "estimators": NAIVE_AND_SNIPS, "candidates": "all"}, id="all"),
        pytest.param({"metrics": MEANS, "estimators": NAIVE_AND_SNIPS, "candidates": "trained"}, id="trained"),
        pytest.param({"metrics": MEANS, "estimators": NAIVE_AND_SNIPS, "candidates": "listed"}, id="listed"),
        pytest.param({"metrics": MEANS, "estimators": NAIVE_AND_SNIPS, "ties": "ordinal"}, id="ordinal"),
        pytest.param({"metrics": MEANS, "estimators": NAIVE_AND_SNIPS, "assume": "gamma=0..1"}, id="assumed"),
        pytest.param({"metrics": ["auc"], "estimators": ["snips"], "propensity": "uniform"}, id="uniform"),
        pytest.param({"metrics": ["recall@5"], "estimators": ["snips"], "propensity": "column"}, id="column"),
        pytest.param({"metrics": SUMS, "estimators": ["ips"], "propensity": "column"}, id="ips-of-sums"),
        pytest.param({"metrics": ["cg@5", "dcg(gain=value)@5"], "estimators": ["aoa", "snips"]}, id="graded"),
        pytest.param(
            {"metrics": MEANS, "estimators": NAIVE_AND_SNIPS, "interval": "bootstrap(150, weights=poisson)"},
            id="poisson",
        ),
    ],
)
def test_all_kinds_of_metric_and_estimator_are_the_same(options: dict[str, Any], tmp_path: Path) -> None:
    frames = make_frames()
    estimators = options.pop("estimators", None)
    if estimators is None:  # the defaults of a log in memory are others, because `auto` may need all rows
        assert_same({**make_models(frames), "popular": "popular"}, frames, tmp_path, estimators=NAIVE_AND_SNIPS)
        report = evaluate(make_models(frames), in_parts(frames, tmp_path))
        assert [str(estimator) for estimator in report.settings.estimators] == NAIVE_AND_SNIPS
        assert "read part by part, where the default is snips by column" in str(report).replace("\n", "")
        return
    assert_same({**make_models(frames), "popular": "popular"}, frames, tmp_path, estimators=estimators, **options)


@pytest.mark.parametrize("estimators", [["aoa", "snips"], ["aoa(per=user)"], ["snips(per=balanced)"]])
def test_rating_losses_are_the_same(estimators: list[str], tmp_path: Path) -> None:
    frames = make_frames()
    metrics = ["mae", "rmse", *(["recall@5"] if estimators[0] == "aoa" else [])]
    models = make_models(frames, ratings=True)
    assert_same(models, frames, tmp_path, estimators=estimators, metrics=metrics, allow_missing=True)


def test_the_form_per_user_has_no_factor_of_the_weights_and_is_else_the_same(tmp_path: Path) -> None:
    frames, models = make_frames(), make_models(make_frames())
    options: dict[str, Any] = {"metrics": ["recall@5"], "estimators": ["snips(per=user)"], "propensity": "popularity"}
    one, other = (evaluate(models, split, **options) for split in (in_memory(frames), in_parts(frames, tmp_path)))
    found = differences(record(one), record(other))
    assert found
    assert all("flip" in text for text in found)
    assert "any factor" not in str(other)  # it is not known, which is not the same as none


def test_text_ids_are_the_same(tmp_path: Path) -> None:
    frames = make_frames(text=True)
    assert_same(make_models(frames), frames, tmp_path, metrics=MEANS, estimators=NAIVE_AND_SNIPS)


def test_repeated_rows_and_test_rows_in_train_are_counted_alike(tmp_path: Path) -> None:
    frames = make_frames()
    frames["train"] = pl.concat([frames["train"], frames["train"][:7], frames["test"][:5].drop("propensity")])
    report = assert_same(make_models(frames), frames, tmp_path, metrics=MEANS, estimators=NAIVE_AND_SNIPS)
    assert any("7 repeated" in text for text in report.warnings)


def test_relevant_counts_are_the_same(tmp_path: Path) -> None:
    frames = make_frames()
    users, _ = ids_of(frames)
    relevant = {int(user): 20 for user in users} | {999_999: 3}
    options: dict[str, Any] = {"metrics": ["recall@5", "auc"], "estimators": ["ips"], "propensity": "column"}
    assert_same(make_models(frames), frames, tmp_path, relevant=relevant, **options)


def test_parts_without_test_rows_or_without_any_are_the_same(tmp_path: Path) -> None:
    frames = make_frames()
    part = user_keys(frames["test"]["user"]) % np.uint64(PARTS)
    frames["test"] = frames["test"].filter(pl.Series(part > 1))
    part = user_keys(frames["train"]["user"]) % np.uint64(PARTS)
    frames["train"] = frames["train"].filter(pl.Series(part != 0))
    models = make_models(frames)
    assert_same(models, frames, tmp_path, metrics=[*MEANS, *LISTS[:1]], estimators=["aoa"])
    assert_same(models, frames, tmp_path, metrics=SUMS, estimators=["ips"], propensity="column")


def test_the_number_of_parts_does_not_matter(tmp_path: Path) -> None:
    frames = make_frames()
    models = make_models(frames)
    records = [
        record(evaluate(models, in_parts(frames, tmp_path / str(n), n), metrics=MEANS, estimators=NAIVE_AND_SNIPS))
        for n in (1, 3, 50)
    ]
    assert differences(records[0], records[1]) == differences(records[0], records[2]) == []


def make_table(frames: dict[str, pl.DataFrame], length: int = 12) -> pl.DataFrame:
    users, items = ids_of(frames)
    rng = np.random.default_rng(3)
    chosen = np.stack([rng.choice(items, length, replace=False) for _ in users])
    return pl.DataFrame(
        {
            "user": np.repeat(users, length),
            "item": chosen.ravel(),
            "score": rng.integers(0, 50, chosen.size).astype(float),
        }
    )


def test_lists_in_parts_are_those_in_memory(tmp_path: Path) -> None:
    frames = make_frames()
    table = make_table(frames)
    write_parts([table], tmp_path / "scores", PARTS)
    split = in_parts(frames, tmp_path)
    options: dict[str, Any] = {"metrics": MEANS, "estimators": NAIVE_AND_SNIPS, "propensity": "popularity"}
    in_one = scores_from_frame(table)
    expected = record(evaluate({"lists": in_one, **make_models(frames)}, in_memory(frames), **options))
    for lists in (PartTable(open_parts(str(tmp_path / "scores"), Columns())), in_one):
        assert differences(expected, record(evaluate({"lists": lists, **make_models(frames)}, split, **options))) == []
    assert isinstance(in_one, ListScorer)


def test_predictions_in_parts_are_those_in_memory(tmp_path: Path) -> None:
    frames = make_frames()
    rng = np.random.default_rng(4)
    table = (
        frames["test"].select("user", "item").with_columns(prediction=pl.Series(rng.uniform(1, 5, len(frames["test"]))))
    )
    write_parts([table], tmp_path / "predictions", PARTS)
    options: dict[str, Any] = {"metrics": ["mae", "mse"], "estimators": ["aoa", "snips"], "propensity": "popularity"}
    one = evaluate({"p": scores_from_frame(table)}, in_memory(frames), **options)
    parted = PartTable(open_parts(str(tmp_path / "predictions"), Columns()))
    assert parted.predicts_only
    for model in (parted, scores_from_frame(table)):
        other = evaluate({"p": model}, in_parts(frames, tmp_path), **options)
        assert differences(record(one), record(other)) == []


def save_factors(folder: Path, model: Any) -> None:
    folder.mkdir()
    for name in ("user_factors", "item_factors", "user_ids", "item_ids"):
        np.save(folder / f"{name}.npy", getattr(model, name))


def test_factors_in_a_memory_map_are_those_in_memory(tmp_path: Path) -> None:
    frames = make_frames()
    model = make_models(frames)["whole"]
    save_factors(tmp_path / "factors", model)
    mapped = read_factors(tmp_path / "factors")
    assert isinstance(mapped.user_factors.base, np.memmap)
    options: dict[str, Any] = {"metrics": MEANS, "estimators": NAIVE_AND_SNIPS}
    split = in_parts(frames, tmp_path)
    reports = [record(evaluate({"m": each}, split, **options)) for each in (mapped, model)]
    reports[0]["run"]["models"] = reports[1]["run"]["models"]
    assert differences(*reports) == []


def test_a_matrix_is_judged_part_by_part(tmp_path: Path) -> None:
    frames = make_frames()
    users, items = ids_of(frames)
    scores = np.random.default_rng(0).standard_normal((len(users), len(items)))
    model = MatrixScorer(scores, user_ids=users, item_ids=items)
    assert_same({"matrix": model}, frames, tmp_path, metrics=MEANS, estimators=NAIVE_AND_SNIPS)


def test_any_layout_is_copied_by_user_once(tmp_path: Path) -> None:
    frames = make_frames()
    for name, frame in frames.items():
        for k in range(3):
            (tmp_path / name / f"day={k}").mkdir(parents=True)
            frame[k::3].write_parquet(tmp_path / name / f"day={k}" / "rows.parquet")
    with pytest.raises(DataError, match=r"train: its files are not by user in 4 parts; .* work"):
        open_split(tmp_path / "train", tmp_path / "test", parts=4)
    split = open_split(tmp_path / "train", tmp_path / "test", parts=4, work=tmp_path / "work")
    written = (tmp_path / "work" / "train" / "part-00000.parquet").stat().st_mtime_ns
    again = open_split(tmp_path / "train", tmp_path / "test", parts=4, work=tmp_path / "work")
    assert (tmp_path / "work" / "train" / "part-00000.parquet").stat().st_mtime_ns == written
    assert split == again
    options: dict[str, Any] = {"metrics": MEANS, "estimators": NAIVE_AND_SNIPS, "propensity": "popularity"}
    expected = record(evaluate(make_models(frames), in_memory(frames), **options))
    assert differences(expected, record(evaluate(make_models(frames), split, **options))) == []
    frames["train"][:-5].write_parquet(tmp_path / "train" / "day=0" / "rows.parquet")  # other rows, so another copy
    changed = open_split(tmp_path / "train", tmp_path / "test", parts=4, work=tmp_path / "work")
    assert sum(len(changed.train.read(part)) for part in range(4)) != sum(len(frame) for frame in [frames["train"]])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"estimators": ["blend"], "positive": "rating>=4"}, "blend cannot be merged over parts"),
        ({"estimators": ["auto"]}, "auto cannot be merged over parts"),
        ({"estimators": ["snips(clip=0.1)"]}, r"snips\(clip=0.1\) cannot be merged over parts: the clipping"),
        ({"metrics": ["mae"], "estimators": ["snips(per=item)"]}, "the rows of an item are in many parts"),
        ({"interval": "bootstrap(200)"}, r"use bootstrap\(200, weights=poisson\)"),
        ({"propensity": "popularity(gamma=auto)"}, "it is fitted to all rows"),
        ({"propensity": "exposure"}, "it is fitted to all rows"),
        ({"ties": "random"}, 'ties="random" cannot be merged'),
        ({"users": "served"}, 'users="served" cannot be merged'),
        ({"candidates": "sampled(10)"}, "cannot be merged over parts: its draws"),
        ({"until": "decided"}, r"until=\.\.\. cannot be merged over parts"),
    ],
)
def test_what_cannot_be_merged_is_refused_by_name(options: dict[str, Any], words: str, tmp_path: Path) -> None:
    frames = make_frames(30)
    with pytest.raises(ConfigError, match=words):
        evaluate(make_models(frames, ratings=True), in_parts(frames, tmp_path), **{"metrics": ["recall@5"], **options})


def test_models_that_need_the_whole_log_are_refused_by_name(tmp_path: Path) -> None:
    frames = make_frames(30)
    split = in_parts(frames, tmp_path)
    with pytest.raises(ConfigError, match="als is trained on a log in memory"):
        evaluate({"als": "als"}, split)
    users, items = ids_of(frames)
    with pytest.raises(ConfigError, match="'m' has no user_ids"):
        evaluate({"m": MatrixScorer(np.zeros((len(users), len(items))), item_ids=items)}, split)


def test_a_memory_limit_says_how_many_parts_would_do(tmp_path: Path) -> None:
    frames = make_frames(30)
    split = in_parts(frames, tmp_path)
    evaluate(make_models(frames), split, memory="4GiB")
    with pytest.raises(ConfigError, match=r"memory=10MB: the catalogue, the models and \d+ blocks of scores alone"):
        evaluate(make_models(frames), split, memory="10MB")
    with pytest.raises(ConfigError, match="expected a size, as in 4GiB"):
        evaluate(make_models(frames), split, memory="much")


def test_a_work_folder_keeps_parts_of_this_run_alone(tmp_path: Path) -> None:
    frames = make_frames(60)
    split, models, work = in_parts(frames, tmp_path), make_models(frames), tmp_path / "work"
    options: dict[str, Any] = {"metrics": MEANS, "estimators": NAIVE_AND_SNIPS, "work": work}
    first = evaluate(models, split, **options).to_json()
    kept = {file.name: file.stat().st_mtime_ns for file in work.iterdir()}
    assert len(kept) == PARTS
    assert evaluate(models, split, **options).to_json() == first
    assert {file.name: file.stat().st_mtime_ns for file in work.iterdir()} == kept
    (work / "part-00001.npz").write_bytes((work / "part-00001.npz").read_bytes()[:100])  # cut short
    assert evaluate(models, split, **options).to_json() == first
    assert (work / "part-00002.npz").stat().st_mtime_ns == kept["part-00002.npz"]
    other = evaluate(models, split, **{**options, "positive": "rating>=4"})
    assert (
        other.to_json()
        == evaluate(models, split, metrics=MEANS, estimators=NAIVE_AND_SNIPS, positive="rating>=4").to_json()
    )
    models["whole"] = make_models(frames, seed=9)["whole"]
    assert evaluate(models, split, **options).to_json() != first


KILLED = """
import sys, time
sys.path.insert(0, {worlds!r})
from pathlib import Path
from logs_in_parts import make_frames, make_models
from unskew import evaluate
from unskew.data import open_split
from unskew.evaluation.partitioned import evaluate_parts
folder = Path({folder!r})
plain = evaluate_parts.Reducer.reduce
def slowly(self, part):
    time.sleep(0.3)
    return plain(self, part)
evaluate_parts.Reducer.reduce = slowly
frames = make_frames(60)
split = open_split(folder / "train", folder / "test")
evaluate(make_models(frames), split, metrics=["recall@5"], estimators=["snips"], work=folder / "work", threads=1)
"""


def test_a_run_that_is_killed_goes_on_with_the_same_bytes(tmp_path: Path) -> None:
    frames = make_frames(60)
    split, models = in_parts(frames, tmp_path), make_models(frames)
    options: dict[str, Any] = {"metrics": ["recall@5"], "estimators": ["snips"]}
    expected = evaluate(models, split, **options).to_json()
    worlds = Path(__file__).parents[2] / "worlds"
    code = KILLED.format(worlds=str(worlds), folder=str(tmp_path))
    with subprocess.Popen([sys.executable, "-c", code]) as process:
        while process.poll() is None and not (tmp_path / "work" / "part-00001.npz").exists():
            time.sleep(0.02)
        assert process.poll() is None, "it was done before it could be killed"
        os.kill(process.pid, signal.SIGKILL)
    done = {file.name: file.stat().st_mtime_ns for file in (tmp_path / "work").glob("part-*.npz")}
    assert 2 <= len(done) < PARTS
    assert evaluate(models, split, **options, work=tmp_path / "work").to_json() == expected
    assert all((tmp_path / "work" / name).stat().st_mtime_ns == when for name, when in done.items())


def test_a_report_from_parts_renders_everywhere(tmp_path: Path) -> None:
    frames = make_frames()
    split: PartitionedSplit = in_parts(frames, tmp_path)
    report = evaluate({**make_models(frames), "popular": "popular"}, split)
    assert "may be best" in str(report)
    page = report.to_html()
    assert "recall@10" in page
    assert re.search(r"\bnan\b", page, re.IGNORECASE) is None
    assert len(report.to_polars()) == len(report.estimates)
    assert report.to_markdown().startswith("**")
    assert "estimates" in report.charts
    assert "weights" not in report.charts
    with pytest.raises(ConfigError, match="read part by part"):
        report.per_user()


def test_a_folder_of_data_is_not_a_place_for_work(tmp_path: Path) -> None:
    frames = make_frames(30)
    split = in_parts(frames, tmp_path)
    with pytest.raises(ConfigError, match="is a data set; name a folder of its own"):
        evaluate(make_models(frames), split, work=tmp_path / "train")
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="cannot be made"):
        evaluate(make_models(frames), split, work=tmp_path / "file")


def test_data_without_rows_are_refused(tmp_path: Path) -> None:
    frames = make_frames(30)
    for name in ("train", "test"):
        folder = tmp_path / name
        with pytest.raises(DataError, match="has no rows"):
            evaluate(make_models(frames), in_parts({**frames, name: frames[name].clear()}, folder))


def test_nothing_that_can_be_judged_is_an_error(tmp_path: Path) -> None:
    frames = make_frames(30)
    models = {"whole": make_models(make_frames(30, text=True))["whole"]}
    with pytest.raises(DataError, match="no test user is left"):
        evaluate(models, in_parts(frames, tmp_path))


def test_the_page_of_parts_has_a_table_over_gamma_in_the_place_of_charts_of_rows(tmp_path: Path) -> None:
    frames = make_frames()
    page = evaluate(make_models(frames), in_parts(frames, tmp_path), propensity="popularity").to_html()
    assert "How much depends on the assumed bias" in page
    assert 'id="sweep"' not in page
    assert 'id="skew"' not in page
