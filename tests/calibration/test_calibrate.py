"""Calibrating worlds to a log."""

import importlib
import json
import os
from dataclasses import replace
from multiprocessing import active_children

import numpy as np
import pytest
from calibrated_logs import FEW, TRUE, small_log

from unskew.calibration import Calibration, Space, calibrate, search
from unskew.calibration.attempt import STARTS, Trial
from unskew.calibration.calibrate import real_statistics
from unskew.calibration.search import Search
from unskew.data import Interactions
from unskew.errors import ConfigError, DataError
from unskew.simulators.likeness import STATISTICS

KINDS = ("ibp-pop", "uniform-unif")


class KilledError(Exception):
    pass


def kill_after(number):
    """A progress that ends the run after so many evaluations."""
    heard = []

    def progress(stage, done, total):
        heard.append(done)
        if len(heard) > number:
            raise KilledError

    return progress


@pytest.fixture(scope="module")
def found(gaussian_process):
    return calibrate(small_log(), KINDS, **FEW)


def test_losses_are_mean_ratios_to_the_best_over_all_worlds(found):
    for world in found.worlds:
        for each in STATISTICS:
            assert world.ratios[each] == pytest.approx(world.divergences[each] / found.best[each])
            assert found.best[each] <= world.singles[each] <= world.divergences[each]
        assert world.loss == pytest.approx(np.mean(list(world.ratios.values())) - 1)
        assert world.trace["joint"][-1][1] == pytest.approx(world.loss + 1)
    assert {each: min(world.singles[each] for world in found.worlds) for each in STATISTICS} == found.best
    assert found.losses == {world.kind: world.loss for world in found.worlds}


def test_evaluations_are_as_many_as_asked_for(found):
    """3 shared starts, 1 more for each of 4 statistics, and 2 joint ones."""
    assert {world.evaluations for world in found.worlds} == {3 + 4 * 1 + 2}
    for world in found.worlds:
        for each in STATISTICS:
            numbers, values = zip(*world.trace[each], strict=True)
            assert max(numbers) < FEW["singles"]
            assert all(np.diff(values) < 0)


def test_a_kind_of_world_that_has_structure_resembles_a_log_of_that_kind_more(found):
    assert found.losses["ibp-pop"] < found.losses["uniform-unif"]
    assert found.world("ibp-pop").users == 120


def test_the_same_seed_gives_the_same_bytes_and_another_seed_does_not(found):
    first, again = (calibrate(small_log(), KINDS[1:], **FEW).to_json() for _ in range(2))
    assert first == again
    other = calibrate(small_log(), KINDS[1:], **FEW, seed=1, coarse=True)
    assert other["uniform-unif"].word != found["uniform-unif"].word


@pytest.mark.slow
def test_a_process_that_is_ended_from_outside_is_named_in_plain_words(monkeypatch):
    real = real_statistics(small_log(), 0)
    fatal = Search(Space.of("ibp-pop", small_log()), STARTS, 2, 0, "coarse")
    monkeypatch.setattr(search, "_run", _end_process)
    with pytest.raises(DataError, match="was killed"), search.runner(real, 2) as run:
        run([fatal], lambda _: None)


@pytest.mark.slow
def test_processes_end_where_nothing_can_kill_them(monkeypatch):
    """Slim images have neither psutil nor pgrep."""
    from joblib.externals.loky.backend import utils

    monkeypatch.setattr(utils, "psutil", None)
    monkeypatch.setattr(search, "find_spec", lambda _: None)
    monkeypatch.setenv("PATH", "")
    real = real_statistics(small_log(), 0)
    short = Search(Space.of("uniform-unif", small_log()), STARTS, 1, 0, "coarse")
    with search.runner(real, 2) as run:
        run([short], lambda _: None)
    assert short.done
    assert not [each for each in active_children() if "Loky" in each.name]


def _end_process(task, real):
    os._exit(9)


class OneByOne:
    """An engine that is not threads."""

    def __init__(self):
        self.blocks = []

    def map(self, task, blocks):
        self.blocks.append(len(blocks))
        return map(task, blocks)


def test_another_engine_gives_the_same_in_rounds_of_a_few_trials(found, monkeypatch):
    engine = OneByOne()
    monkeypatch.setattr(search, "ROUND", 2)
    assert calibrate(small_log(), KINDS, **FEW, engine=engine).to_json() == found.to_json()
    assert len(engine.blocks) > 3
    assert max(engine.blocks) == len(KINDS) * len(STATISTICS)


@pytest.mark.slow
def test_side_by_side_in_processes_gives_the_same(found):
    assert calibrate(small_log(), KINDS, **{**FEW, "threads": 2}).to_json() == found.to_json()


@pytest.mark.parametrize("number, coarse", [(2, True), (9, True), (17, False)])
def test_a_killed_run_goes_on_as_if_it_had_not_been(found, tmp_path, number, coarse):
    """Killed among the starts, the single objectives and the joint ones, with a line half written."""
    options = {**FEW, "coarse": coarse, "folder": tmp_path / "record"}
    whole = calibrate(small_log(), KINDS, **{**options, "folder": None}) if coarse else found
    with pytest.raises(KilledError):
        calibrate(small_log(), KINDS, **options, progress=kill_after(number))
    lines = tmp_path / "record" / "trials.jsonl"
    kept = len(lines.read_text().splitlines())
    assert 0 < kept < 18
    with lines.open("a") as stream:
        stream.write(lines.read_text().splitlines()[-1][:50])
    heard = []
    resumed = calibrate(small_log(), KINDS, **options, progress=lambda *told: heard.append(told))
    assert resumed.to_json() == whole.to_json()
    assert len(heard) <= 18 - kept + 3  # one call for each stage, and one for each evaluation that was left
    assert len(lines.read_text().splitlines()) == 18
    assert calibrate(small_log(), KINDS, **options).to_json() == whole.to_json()


@pytest.mark.parametrize(
    "log, kinds, changed, told",
    [
        (0, KINDS, {"seed": 5}, "seed was 0, now 5"),
        (0, KINDS, {"joint": 4}, "joint was 2, now 4"),
        (0, KINDS[:1], {}, "worlds was ibp-pop, uniform-unif, now ibp-pop"),
        (1, KINDS, {}, "log was "),
    ],
)
def test_a_record_of_another_calibration_is_refused_with_what_differs(tmp_path, log, kinds, changed, told):
    coarse = {**FEW, "coarse": True, "folder": tmp_path}
    with pytest.raises(KilledError):
        calibrate(small_log(), KINDS, **coarse, progress=kill_after(1))
    with pytest.raises(DataError, match="holds another calibration") as error:
        calibrate(small_log(log), kinds, **{**coarse, **changed})
    assert told in str(error.value)


def test_a_broken_record_is_refused(tmp_path):
    coarse = {**FEW, "coarse": True, "folder": tmp_path}
    with pytest.raises(KilledError):
        calibrate(small_log(), KINDS, **coarse, progress=kill_after(3))
    lines = tmp_path / "trials.jsonl"
    whole = lines.read_text()
    lines.write_text("{}\n" + whole)
    with pytest.raises(DataError, match="line 1"):
        calibrate(small_log(), KINDS, **coarse)
    (tmp_path / "settings.json").write_text("[")
    with pytest.raises(DataError, match="not the settings"):
        calibrate(small_log(), KINDS, **coarse)
    (tmp_path / "settings.json").unlink()
    with pytest.raises(DataError, match=r"no settings\.json"):
        calibrate(small_log(), KINDS, **coarse)
    with pytest.raises(DataError, match="this is a file"):
        calibrate(small_log(), KINDS, **{**coarse, "folder": lines})


def test_a_trial_reads_back_to_the_last_digit():
    trial = Trial("ibp-pop", "joint", 3, {"alpha": 0.1 + 0.2}, dict.fromkeys(STATISTICS, 1 / 3), "too large")
    assert Trial.from_line(trial.to_line()) == trial


def test_a_coarse_search_needs_no_optional_package(monkeypatch):
    monkeypatch.setattr("unskew.calibration.suggest.find_spec", lambda name: None)
    made = calibrate(small_log(), ["ibp-pop"], **FEW, coarse=True)
    assert made.settings["method"] == "coarse"
    assert "--coarse" in made.command
    with pytest.raises(ConfigError, match=r"unskew\[tune\]"):
        calibrate(small_log(), ["ibp-pop"], **FEW)


def test_worlds_that_are_too_large_are_counted_and_never_chosen(monkeypatch):
    """With alpha up to 1000 and 120 users, most of the space has more than 12,000 likes."""
    monkeypatch.setattr(importlib.import_module("unskew.calibration.calibrate"), "LARGEST_LIKES", 12_000)
    made = calibrate(small_log(), ["ibp-pop"], **FEW, coarse=True)
    assert 0 < made["ibp-pop"].refused < made["ibp-pop"].evaluations
    assert made.world("ibp-pop").expected_likes() <= 12_000
    monkeypatch.setattr(importlib.import_module("unskew.calibration.calibrate"), "LARGEST_LIKES", 10)
    with pytest.raises(DataError, match="no world could be drawn"):
        calibrate(small_log(), ["ibp-pop"], **FEW, coarse=True)


def test_a_log_that_is_too_small_is_refused_with_what_is_missing():
    few_users = replace(TRUE, users=15).log(0)
    with pytest.raises(DataError, match="15 users have a row, and at least 20"):
        calibrate(few_users, coarse=True)
    few_items = Interactions.from_arrays(np.repeat(np.arange(30), 6), np.tile(np.arange(6), 30), n_users=30, n_items=90)
    with pytest.raises(DataError, match="6 items have a row, and at least 20"):
        calibrate(few_items, coarse=True)
    short = Interactions.from_arrays(np.arange(30), np.arange(30), n_users=30, n_items=30)
    with pytest.raises(DataError, match="0 users have 5 rows or more"):
        calibrate(short, coarse=True)
    spread = Interactions.from_arrays(np.repeat(np.arange(25), 8), np.arange(200), n_users=25, n_items=200)
    with pytest.raises(DataError, match="0 items have 5 rows or more"):
        calibrate(spread, coarse=True)


@pytest.mark.parametrize(
    "changed, told",
    [
        ({"singles": 0}, "singles 0: expected 1 or more"),
        ({"joint": -1}, "joint -1"),
        ({"starts": 0}, "starts 0"),
        ({"seed": -1}, "seed -1"),
        ({"threads": 0}, "threads 0"),
        ({"worlds": ()}, "no world"),
        ({"worlds": ("ibp",)}, "unknown world 'ibp'"),
    ],
)
def test_numbers_out_of_range_are_refused(changed, told):
    with pytest.raises(ConfigError, match=told):
        calibrate(small_log(), **changed)


def test_the_json_reads_back_and_other_json_does_not(found, tmp_path):
    found.to_json(tmp_path / "c.json")
    again = Calibration.read(tmp_path / "c.json")
    assert again.to_json() == found.to_json()
    assert again.world("ibp-pop") == found.world("ibp-pop")
    assert (again.log.rows, again.log.sha256) == (len(small_log()), small_log().sha256)
    data = json.loads(found.to_json())
    for broken, told in (
        ("[1", "not the JSON"),
        ("{}", "not the JSON"),
        (json.dumps({**data, "calibration": 99}), "format 99"),
        (json.dumps({**data, "worlds": [{"kind": "ibp-pop"}]}), "not the JSON"),
        (json.dumps({**data, "worlds": [{**data["worlds"][0], "word": "marketplace"}]}), "not the JSON"),
    ):
        (tmp_path / "c.json").write_text(broken)
        with pytest.raises(DataError, match=told):
            Calibration.read(tmp_path / "c.json")
    with pytest.raises(DataError, match="no such file"):
        Calibration.read(tmp_path / "absent.json")


def test_a_world_that_was_not_calibrated_is_refused(found):
    with pytest.raises(ConfigError, match="no world 'ibp-unif' was calibrated; did you mean"):
        found.world("ibp-unif")


def test_the_table_and_the_page_show_every_world(found, tmp_path):
    page = found.to_html(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == page
    for world in found.worlds:
        assert f"{world.divergences['item-item']:.3f}" in str(found)
        assert f"{world.divergences['item-item']:.3f}" in page
        assert world.word in str(found)
        assert world.word in page
    assert page.count("<svg class") + page.count('role="img"') >= 5
    assert found.command in page
    assert "<script" not in page


def test_a_name_with_markup_is_escaped_in_the_page(found):
    hostile = replace(found, log=replace(found.log, name="<script>alert(1)</script>"))
    assert "<script" not in hostile.to_html()
