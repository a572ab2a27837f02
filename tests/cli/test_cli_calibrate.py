"""``unskew calibrate``."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from unskew.calibration import Calibration
from unskew.simulators.ibp import Ibp

FEW = ("--singles", "4", "--joint", "2", "--starts", "3", "--threads", "1", "--coarse")


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    path = tmp_path_factory.mktemp("calibrate") / "small.csv"
    rows = Ibp(users=60, sizes="pareto(scale=6, shape=1, upper=30)", alpha=20, c=2, sigma=0.3).log(0)
    rows.to_polars().write_csv(path)
    return path


def test_parameters_are_printed_written_and_ready_to_simulate(unskew, log, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    outcome = unskew("calibrate", str(log), "--world", "ibp-pop", "--world", "lda-unif", *FEW, "--html", "page.html")
    assert outcome.code == 0, outcome.err
    assert outcome.err == ""
    found = Calibration.read(tmp_path / "calibration-small.json")
    assert [world.kind for world in found.worlds] == ["ibp-pop", "lda-unif"]
    assert "written to calibration-small.json" in outcome.out
    assert f"unskew simulate '{found.worlds[0].word}' OUT/" in outcome.out
    assert found.worlds[1].word in outcome.out
    assert found.worlds[0].word in Path("page.html").read_text(encoding="utf-8")
    assert found.command == (
        f"unskew calibrate {log} --world ibp-pop --world lda-unif --singles 4 --joint 2 --starts 3 --seed 0 --coarse"
    )


@pytest.mark.usefixtures("gaussian_process")
def test_a_gaussian_process_is_the_default(unskew, log, tmp_path):
    words = [word for word in FEW if word != "--coarse"]
    outcome = unskew("calibrate", str(log), *words, "--out", str(tmp_path / "c.json"), "--quiet")
    assert (outcome.code, outcome.out, outcome.err) == (0, "", "")
    found = Calibration.read(tmp_path / "c.json")
    assert found.settings["method"] == "gp"
    assert [world.kind for world in found.worlds] == ["ibp-pop"]


def test_only_the_rows_asked_for_are_used(unskew, log, tmp_path):
    lines = log.read_text().splitlines()
    rated = [f"{line},{k % 4}" for k, line in enumerate(lines[1:])]
    (tmp_path / "rated.csv").write_text("\n".join(["user,item,rating", *rated]) + "\n")
    outcome = unskew(
        "calibrate", str(tmp_path / "rated.csv"), *FEW, "--positive", "rating>=1", "--out", str(tmp_path / "c.json")
    )
    assert outcome.code == 0, outcome.err
    found = Calibration.read(tmp_path / "c.json")
    assert found.log.rows == sum(k % 4 >= 1 for k in range(len(rated)))
    assert "--positive 'rating>=1'" in found.command


@pytest.mark.parametrize(
    "words, told",
    [
        (("--world", "ipb-pop"), "did you mean 'ibp-pop'"),
        (("--singles", "0"), "singles 0"),
        (("--out", "-"), "name a file"),
        (("--out", "nowhere/c.json"), "does not exist"),
        (("--positive", "rating>=4"), "no column 'rating'"),
    ],
)
def test_bad_words_are_one_line_and_exit_2(unskew, log, tmp_path, monkeypatch, words, told):
    monkeypatch.chdir(tmp_path)
    outcome = unskew("calibrate", str(log), *FEW, *words)
    assert outcome.code == 2
    assert told in outcome.err
    assert len(outcome.err.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_a_log_that_is_too_small_is_refused_with_what_is_missing(unskew, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("tiny.csv").write_text("user,item\na,x\nb,y\n")
    outcome = unskew("calibrate", "tiny.csv", *FEW)
    assert outcome.code == 2
    assert "tiny.csv: too small to calibrate a world to: 2 users have a row, and at least 20" in outcome.err


def test_without_the_packages_the_hint_says_what_to_install(unskew, log, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("unskew.calibration.suggest.find_spec", lambda name: None)
    outcome = unskew("calibrate", str(log))
    assert outcome.code == 2
    assert "pip install 'unskew[tune]'" in outcome.err
    assert "--coarse" in outcome.err


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no SIGKILL here")
def test_a_killed_calibration_resumes_and_ends_like_one_that_was_not(unskew, log, tmp_path):
    """The process is killed for real, as soon as its record has a few lines."""
    many = [*FEW, "--joint", "60"]
    record = tmp_path / "record"
    command = [sys.executable, "-m", "unskew", "calibrate", str(log), *many, "--quiet"]
    killed = subprocess.Popen([*command, "--folder", str(record), "--out", str(tmp_path / "a.json")], env=os.environ)
    end = time.monotonic() + 120
    while time.monotonic() < end and killed.poll() is None:
        lines = record / "trials.jsonl"
        if lines.exists() and len(lines.read_bytes().splitlines()) > 5:
            killed.kill()
        time.sleep(0.002)
    assert killed.wait() == -signal.SIGKILL
    assert not (tmp_path / "a.json").exists()
    for name, more in (("resumed", ("--resume", str(record))), ("whole", ())):
        outcome = unskew("calibrate", str(log), *many, *more, "--out", str(tmp_path / f"{name}.json"))
        assert outcome.code == 0, outcome.err
    resumed, whole = (json.loads((tmp_path / f"{name}.json").read_text()) for name in ("resumed", "whole"))
    assert resumed == whole
    assert resumed["worlds"][0]["evaluations"] == 3 + 4 + 60
    outcome = unskew(
        "calibrate", str(log), *many, "--seed", "3", "--folder", str(record), "--out", str(tmp_path / "b.json")
    )
    assert outcome.code == 2
    assert "seed was 0, now 3" in outcome.err


def test_the_engine_does_not_change_the_result(unskew, log, tmp_path):
    written = []
    for words in ([], ["--engine", "threads"]):
        path = tmp_path / f"{len(written)}.json"
        outcome = unskew("calibrate", str(log), *FEW, *words, "--out", str(path), "--quiet")
        assert outcome.code == 0, outcome.err
        written.append(path.read_text())
    assert written[0] == written[1]


@pytest.mark.xdist_group("ray")
@pytest.mark.filterwarnings("ignore")
def test_a_calibration_on_ray_writes_the_same_json(unskew, log, tmp_path):
    ray = pytest.importorskip("ray", reason="Ray is not installed: pip install 'unskew[ray]'")
    try:
        for name, words in (("ray", ["--engine", "ray"]), ("here", [])):
            outcome = unskew("calibrate", str(log), *FEW, *words, "--out", str(tmp_path / name), "--quiet")
            assert outcome.code == 0, outcome.err
    finally:
        ray.shutdown()
    assert (tmp_path / "ray").read_text() == (tmp_path / "here").read_text()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--engine", "rays"], "unknown engine 'rays'"),
        (["--ray-address", "auto"], "--ray-address auto needs --engine ray"),
    ],
)
def test_engines_are_refused_before_the_log_is_read(unskew, tmp_path, words, said):
    outcome = unskew("calibrate", str(tmp_path / "no.csv"), *FEW, *words, "--out", str(tmp_path / "c.json"))
    assert outcome.code == 2
    assert said in outcome.err
