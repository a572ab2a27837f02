import json
from pathlib import Path

import pytest

from unskew import Interactions
from unskew.errors import DataError
from unskew.simulators import Marketplace
from unskew.studies import Demo, run_demo
from unskew.studies.demo import ESTIMATORS, METRICS, MODELS, NAIVE, WAYS, WHY

SEEDS = 20
POPULARITY, AUTO, TRUE = WAYS[1:]


@pytest.fixture(scope="module")
def demo() -> Demo:
    return run_demo()


@pytest.mark.parametrize("metric", METRICS)
def test_the_naive_average_puts_the_wrong_model_first_and_snips_the_right_one(demo: Demo, metric: str) -> None:
    assert demo.first(NAIVE, metric) == "popular"
    assert not demo.is_right(NAIVE, metric)
    assert demo.is_right(TRUE, metric)
    assert demo.best(metric) == "als"


def test_it_is_not_the_seed() -> None:
    other = run_demo(seed=1)
    assert not other.is_right(NAIVE)
    assert other.is_right(TRUE)
    assert (other.covered(POPULARITY), other.covered_by_range(POPULARITY)) == (0, len(MODELS))


def test_intervals_hold_the_truth_with_true_propensities_and_ranges_with_assumed_ones(demo: Demo) -> None:
    assert demo.covered(TRUE) == len(MODELS)
    assert demo.covered_by_range(TRUE) is None
    assert demo.covered(NAIVE) == demo.covered(POPULARITY) == 0
    assert demo.covered_by_range(POPULARITY) == demo.covered_by_range(AUTO) == len(MODELS)


def test_no_verdict_puts_a_wrong_model_first_beyond_chance(demo: Demo) -> None:
    for report in demo.reports.values():
        for answer in report.answers:
            assert "als" in answer.contenders
    assert demo.report.answers[0].changes_winner
    assert demo.reports["popularity"].answers[0].robust is False


def test_the_verdict_says_what_the_numbers_say(demo: Demo) -> None:
    best, naive, popularity, fitted, known, why = demo.verdict
    assert best.startswith("In truth 'als' is best")
    assert "puts 'popular' first, at 0.1011" in naive
    assert "hold the truth for 0 of 4 models, its ranges over what may be assumed for 4" in popularity
    assert popularity.endswith(demo.reports["popularity"].verdict.sentence)
    assert "gamma=auto" in fitted
    assert "hold the truth for 4 of 4 models." in known
    assert why == f"{WHY} (exposed_split(...))."


def test_the_truth_is_the_metric_over_everything_relevant(demo: Demo) -> None:
    world = Marketplace().draw(0)
    judged = demo.truth.samples.judged
    assert judged.rows == len(world.truth)  # a user without training rows is one whom some models list nothing for
    assert {row.estimator for row in demo.truth.estimates} == {"aoa(per=pair)"}


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
    assert "puts &#39;popular&#39; first" in page
    assert all(way.label in page for way in WAYS)


def test_a_folder_that_cannot_be_made_is_refused(demo: Demo, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match="cannot make this folder"):
        demo.write(tmp_path / "file")


def test_the_command_names_the_seed_when_it_is_not_the_default(demo: Demo) -> None:
    assert "--seed" not in demo.command("x")
    other = Demo(demo.world, 7, demo.models, demo.train, demo.test, demo.reports, demo.truth)
    assert other.command("my folder").endswith("--seed 7 --json 'my folder/again.json' --html 'my folder/again.html'")


@pytest.mark.slow
def test_over_20_seeds_the_naive_average_is_wrong_and_true_propensities_are_right(
    capsys: pytest.CaptureFixture[str],
) -> None:
    # the last choice among the world's options was made on seeds 100 to 115, but earlier ones were looked at on some of
    # these; here it happens in 20 of 20, by both metrics
    demos = [run_demo(seed=seed) for seed in range(SEEDS)]
    lines = []
    for metric in METRICS:
        both = sum(demo.is_right(TRUE, metric) and not demo.is_right(NAIVE, metric) for demo in demos)
        right = {way.label: sum(demo.is_right(way, metric) for demo in demos) for way in WAYS}
        held = {way.label: sum(demo.covered(way, metric) for demo in demos) for way in WAYS}
        over = {way.label: sum(demo.covered_by_range(way, metric) or 0 for demo in demos) for way in (POPULARITY, AUTO)}
        lines.append(
            f"{metric}: of {SEEDS} seeds the right model is first in {right}; of {SEEDS * len(MODELS)}, intervals that "
            f"hold the truth {held}, ranges {over}"
        )
        assert both >= SEEDS - 2
        assert min(over.values()) >= 0.95 * SEEDS * len(MODELS)
    with capsys.disabled():
        print("", *lines, sep="\n")  # noqa: T201
