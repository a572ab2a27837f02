"""``unskew audit`` with a simulation: depths, saved parameters, small logs and bad words."""

import json
from pathlib import Path

import pytest

from unskew.simulators import Ibp

WORD = "ibp(alpha=20, c=1, sigma=0.2, sizes=pareto(scale=6, shape=1, upper=40))"
QUICK = ["--depth", "quick", "--runs", "2", "-m", "auc", "--threads", "1"]


@pytest.fixture(scope="module")
def rows():
    log = Ibp(users=60, alpha=20, c=1, sigma=0.2, sizes="pareto(scale=6, shape=1, upper=40)").log(5)
    return "user,item\n" + "".join(f"u{u},i{i}\n" for u, i in zip(log.users, log.items, strict=True))


@pytest.fixture
def log(world, rows):
    return world.write("simulated.csv", rows)


def test_a_world_in_words_answers_for_a_log(log, unskew):
    outcome = unskew("audit", log, *QUICK, "--world", WORD)
    assert outcome.code == 0, outcome.err
    for words in (
        "How wrong can an evaluation",
        "the popular list seems better",
        "wrong winner",
        "detects",
        "Depth quick",
    ):
        assert words in outcome.out
    assert "60 users" in outcome.out


def test_depth_none_simulates_nothing(log, unskew):
    outcome = unskew("audit", log, "--depth", "none")
    assert (outcome.code, outcome.err) == (0, "")
    assert "How wrong" not in outcome.out


def test_models_are_compared_and_the_bytes_do_not_depend_on_threads(log, unskew):
    words = [
        "audit",
        log,
        *QUICK,
        "--world",
        WORD,
        "--model",
        "popular",
        "--model",
        "random",
        "--k",
        "5",
        "--json",
        "-",
    ]
    first = unskew(*words)
    assert first.code == 0, first.err
    assert unskew(*words, "--threads", "2").out == first.out
    pairs = json.loads(first.out)["audit"]["error"]["pairs"]
    own = [row for row in pairs if not row["reference"]]
    assert {row["observed"] is None for row in own} == {False}


def test_saved_parameters_are_used(world, log, unskew, refuse):
    saved = world / "saved.json"
    made = unskew("calibrate", log, "--coarse", "--singles", "2", "--joint", "1", "--starts", "1", "--threads", "1",
                  "--out", saved)  # fmt: skip
    assert made.code == 0, made.err
    outcome = unskew("audit", log, *QUICK, "--parameters", saved)
    assert outcome.code == 0, outcome.err
    assert "ibp-pop by saved parameters" in outcome.out
    assert "another log" not in outcome.err
    refuse("audit", log, *QUICK, "--parameters", saved, "--world", "lda-pop", says=("lda-pop",))


def test_several_worlds_are_asked_and_each_is_shown(log, unskew, world):
    place = world / "audit.json"
    outcome = unskew("audit", log, *QUICK, "--evaluations", "5", "--json", place, "--html", world / "audit.html")
    assert outcome.code == 0, outcome.err
    error = json.loads(Path(place).read_text())["audit"]["error"]
    assert {each["kind"] for each in error["worlds"]} == {"lda-pop", "ibp-pop", "lda-unif", "ibp-unif"}
    page = Path(world / "audit.html").read_text()
    for each in error["worlds"]:
        assert f"{each['kind']} {each['seed'] + 1}" in outcome.out
        assert f"{each['kind']} {each['seed'] + 1}</th>" in page
        assert each["accepted"] or each["why"] in " ".join(outcome.out.split())


def test_one_kind_has_as_many_worlds_as_all_of_them(log, unskew):
    outcome = unskew("audit", log, *QUICK, "--evaluations", "5", "--world", "ibp-pop", "--json", "-")
    worlds = json.loads(outcome.out)["audit"]["error"]["worlds"]
    assert {each["kind"] for each in worlds} == {"ibp-pop"}
    assert [each["seed"] for each in worlds] == sorted({each["seed"] for each in worlds})
    assert max(each["seed"] for each in worlds) == 3  # of 4 searches, as there is one for each of the four kinds


def test_a_small_log_is_audited_with_a_warning(world, unskew):
    outcome = unskew("audit", world / "train.csv", "--depth", "quick")
    assert outcome.code == 0, outcome.err
    assert "Gini" in outcome.out
    (line,) = outcome.err.splitlines()
    assert line.startswith("warning: nothing was simulated")
    assert "at least 20 are needed" in line


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--depth", "full"], "unknown depth"),
        (["--depth", "quick", "--world", "ibp-popular"], "unknown world"),
        (["--depth", "quick", "--world", "ibp(sigma=1)"], "sigma"),
        (["--depth", "quick", "--runs", "0"], "runs 0"),
        (["--depth", "none", "--runs", "5"], "depth none does not simulate"),
        (["--depth", "quick", "--parameters", "nowhere.json"], "nowhere.json"),
    ],
)
def test_bad_words_are_refused(world, refuse, words, says):
    refuse("audit", world / "train.csv", *words, says=(says,))


def test_parameters_that_are_no_calibration_are_refused(world, refuse):
    other = world.write("other.json", "{}")
    refuse("audit", world / "train.csv", "--depth", "quick", "--parameters", other, says=("not the JSON",))
