"""The command line as a whole."""

import subprocess
import sys

import pytest

from unskew import __version__

COMMANDS = ("evaluate", "split", "datasets", "list", "demo")


def test_version(unskew):
    outcome = unskew("--version")
    assert (outcome.code, outcome.out, outcome.err) == (0, f"unskew {__version__}\n", "")


@pytest.mark.parametrize("arguments", [(), ("-h",), ("--help",)])
def test_help_names_the_commands(unskew, arguments):
    outcome = unskew(*arguments)
    assert (outcome.code, outcome.err) == (0, "")
    for command in COMMANDS:
        assert command in outcome.out


@pytest.mark.parametrize("flag", ["-h", "--help"])
@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(unskew, command, flag):
    outcome = unskew(command, flag)
    assert (outcome.code, outcome.err) == (0, "")
    assert f"unskew {command}" in outcome.out


def test_help_of_evaluate_names_every_option_of_the_design(unskew):
    text = unskew("evaluate", "-h").out
    for option in (
        "--train", "--test", "--validation", "--factors", "--scores", "--model", "-m", "-e", "--propensity",
        "--candidates", "--ties", "--positive", "--relevant-counts", "--level", "--interval", "--seed", "--threads",
        "--json", "--html", "--config", "--quiet",
    ):  # fmt: skip
        assert option in text


@pytest.mark.parametrize("place", [0, 1, 3])
def test_debug_shows_the_traceback_of_a_bug_before_the_line(world, unskew, monkeypatch, place):
    def fail(*arguments, **named):
        raise RuntimeError("broken")

    words = world.evaluate()
    words.insert(place, "--debug")
    monkeypatch.setattr("unskew.evaluation.evaluate", fail)
    outcome = unskew(*words)
    assert outcome.code == 2
    assert outcome.err.startswith("Traceback")
    assert outcome.err.splitlines()[-1].startswith("unskew: RuntimeError: broken")


@pytest.mark.parametrize("words", [("--test", "nope.csv"), ("--nope", "1")])
def test_debug_shows_no_traceback_of_bad_input(world, unskew, words):
    outcome = unskew("--debug", *world.evaluate(), *words)
    assert outcome.code == 2
    assert outcome.err.count("\n") == 1
    assert outcome.err.startswith("unskew: ")


def test_control_characters_of_messages_are_shown_as_codes(unskew):
    outcome = unskew("evaluate", "--train", "a\x1b[31m\x07\u202e.csv", "--test", "b.csv", "--model", "popular")
    assert outcome.code == 2
    assert "a\\x1b[31m\\x07\\u202e.csv: no such file" in outcome.err


def test_a_message_is_cut_to_a_screen(unskew):
    outcome = unskew("evaluate", "--train", "a.csv", "--test", "b.csv", "--model", "x" * 100_000)
    assert outcome.code == 2
    assert len(outcome.err) < 1_100


def test_control_characters_of_names_do_not_reach_the_terminal(world, unskew):
    world.write("odd\x1b[2J.csv", "user,item,score\nu1,i2,1\n")
    outcome = unskew(*world.evaluate("--scores", world / "odd\x1b[2J.csv"))
    assert "\x1b" not in outcome.out + outcome.err


def test_an_error_of_ours_is_one_line_that_asks_for_a_report(world, unskew, monkeypatch):
    def fail(*arguments, **named):
        raise RuntimeError("broken\ninside")

    monkeypatch.setattr("unskew.evaluation.evaluate", fail)
    outcome = unskew(*world.evaluate("--json", world / "out.json"))
    assert outcome.code == 2
    assert outcome.err.count("\n") == 1
    assert "RuntimeError: broken inside" in outcome.err
    assert "this is a bug" in outcome.err
    assert "--debug" in outcome.err
    assert not (world.folder / "out.json").exists()


def test_ctrl_c_that_an_import_turned_into_another_error_is_no_bug(world, unskew, monkeypatch):
    def fail(*arguments, **named):
        raise ImportError("initialization failed") from KeyboardInterrupt()  # as compiled packages do

    monkeypatch.setattr("unskew.evaluation.evaluate", fail)
    outcome = unskew(*world.evaluate())
    assert outcome.code == 130
    assert outcome.err == "unskew: interrupted; no file was left half written\n"


def run(*words):
    command = [sys.executable, "-m", "unskew", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


def test_as_a_process_results_and_errors_go_their_ways(world):
    good = run("list", "estimators")
    assert (good.returncode, good.stderr) == (0, "")
    assert "snips" in good.stdout
    bad = run(*world.evaluate("--json", world / "out.json", test="nope.csv"))
    assert (bad.returncode, bad.stdout) == (2, "")
    assert bad.stderr.count("\n") == 1
    assert not (world.folder / "out.json").exists()


@pytest.mark.parametrize("more", [(), ("--json",)])
def test_a_reader_that_goes_away_is_no_error(more):
    command = [sys.executable, "-m", "unskew", "list", "metrics", *more]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        process.stdout.close()
        assert process.stderr.read() == ""
        assert process.wait(timeout=60) == 0


@pytest.mark.parametrize("module", ["numpy", "polars", "numba", "scipy", "torch", "ray", "pandas", "sklearn", "altair"])
def test_the_command_line_loads_no_heavy_package(module):
    code = f"import sys, unskew.cli; print({module!r} in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == "False\n"
