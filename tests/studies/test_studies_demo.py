import json
from pathlib import Path

import pytest

from unskew import Interactions
from unskew.errors import DataError
from unskew.simulators import Marketplace
from unskew.studies import Demo, run_demo
from unskew.studies.demo import ESTIMATORS, METRICS, MODELS

SEEDS = 20


@pytest.fixture(scope="module")
def demo() -> Demo:
    return run_demo()


@pytest.mark.parametrize("metric", METRICS)
def test_the_naive_average_crowns_the_wrong_model_and_snips_the_right_one(demo: Demo, metric: str) -> None:
    for naive in ("aoa", "aoa(per=pair)"):
        assert demo.crowned(naive, metric) == "popular"
        assert not demo.is_right(naive, metric)
    assert demo.is_right("snips", metric)
    assert demo.best(metric) == "als"


def test_it_is_not_the_seed() -> None:
    other = run_demo(seed=1)
    assert not other.is_right("aoa")
    assert other.is_right("snips")


def test_the_intervals_of_snips_hold_the_truth_and_the_naive_ones_do_not(demo: Demo) -> None:
    assert demo.covered("snips") == len(MODELS)
    assert demo.covered("aoa") == 0


def test_the_published_form_stays_far_above_the_truth(demo: Demo) -> None:
    for model in MODELS:
        value = demo.report.value(model, demo.metric, "snips(per=user)")
        assert value is not None
        assert value > 1.25 * demo.true_value(model, per="user")


def test_the_verdict_says_what_the_numbers_say(demo: Demo) -> None:
    best, naive, published, corrected = demo.verdict
    assert best.startswith("In truth 'als' is best")
    assert "crowns 'popular', the wrong one" in naive
    assert "hold the truth for 0 of 4 models" in published
    assert "crowns 'als', the right one" in corrected
    assert "hold the truth for 4 of 4 models" in corrected


def test_the_truth_is_the_metric_over_everything_relevant(demo: Demo) -> None:
    world = Marketplace().draw(0)
    judged = demo.truth.evidence
    # every item occurs in train, so nothing relevant is lost but users that a model does not know
    known = world.truth.user_counts[world.train.user_counts > 0].sum()
    assert judged.rows == known
    assert {row.estimator for row in demo.truth.estimates} == {"aoa", "aoa(per=pair)"}


def test_all_that_is_written_can_be_read(demo: Demo, tmp_path: Path) -> None:
    files = demo.write(tmp_path / "new" / "folder")
    assert {path.name for path in files.values()} == {path.name for path in (tmp_path / "new" / "folder").iterdir()}
    assert Interactions.read(files["train"]).sha256 == demo.train.sha256
    assert Interactions.read(files["test"]).sha256 == demo.test.sha256
    assert json.loads(files["json"].read_text())["run"]["estimators"] == list(ESTIMATORS)
    truth = json.loads(files["truth"].read_text())
    assert truth["world"] == "marketplace"
    assert truth["truth"][3]["relevant pairs"] == demo.true_value("als")


def test_the_page_shows_the_truth_and_the_verdict(demo: Demo) -> None:
    page = demo.to_html()
    assert page.count("A world whose truth is known") == 1
    assert page.index("<body") < page.index("A world whose truth is known") < page.index("</body>")
    assert f"{demo.true_value('als'):.4f}" in page
    assert "crowns &#39;popular&#39;, the wrong one" in page


def test_a_folder_that_cannot_be_made_is_refused(demo: Demo, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match="cannot make this folder"):
        demo.write(tmp_path / "file")


def test_the_command_names_the_seed_when_it_is_not_the_default(demo: Demo) -> None:
    assert "--seed" not in demo.command("x")
    other = Demo(demo.world, 7, demo.models, demo.train, demo.test, demo.report, demo.truth)
    assert other.command("my folder").endswith("--seed 7 --json 'my folder/again.json' --html 'my folder/again.html'")


@pytest.mark.slow
def test_over_20_seeds_aoa_is_wrong_and_snips_right_nearly_always(capsys: pytest.CaptureFixture[str]) -> None:
    # the last choice among the world's options was made on seeds 100 to 115, but earlier ones were looked at on some of
    # these; here it happens in 20 of 20, by both metrics
    demos = [run_demo(seed=seed) for seed in range(SEEDS)]
    lines = []
    for metric in METRICS:
        wrong = sum(not demo.is_right("aoa", metric) for demo in demos)
        right = sum(demo.is_right("snips", metric) for demo in demos)
        both = sum(demo.is_right("snips", metric) and not demo.is_right("aoa", metric) for demo in demos)
        published = sum(demo.is_right("snips(per=user)", metric) for demo in demos)
        held = {name: sum(demo.covered(name, metric) for demo in demos) for name in ESTIMATORS}
        lines.append(
            f"{metric}: of {SEEDS} seeds aoa is wrong in {wrong}, snips right in {right}, both in {both}; "
            f"snips(per=user) right in {published}; intervals that hold the truth, of {SEEDS * len(MODELS)}: {held}"
        )
        assert both >= SEEDS - 2
    with capsys.disabled():
        print("", *lines, sep="\n")  # noqa: T201
