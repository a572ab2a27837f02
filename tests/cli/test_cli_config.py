"""``--config RUN.toml``."""

import json
import sys

import pytest

from unskew.cli import inputs

RUN = """
train = "train.csv"
test = "test.csv"
factors = ["mine=mf.npz"]
model = "popular"
metric = ["recall@5", "auc"]
estimator = ["aoa", "snips(clip=0.1)"]
propensity = "popularity(gamma=1)"
candidates = "all"
level = 0.9
interval = "bootstrap(50)"
seed = 3
"""

FLAGS = [
    "-m", "recall@5", "-m", "auc", "-e", "aoa", "-e", "snips(clip=0.1)", "--propensity", "popularity(gamma=1)",
    "--candidates", "all", "--level", "0.9", "--interval", "bootstrap(50)", "--seed", "3", "--model", "popular",
]  # fmt: skip


def test_a_run_from_a_file_gives_the_same_bytes_as_from_flags(world, unskew):
    path = world.write("run.toml", RUN)
    from_file = unskew("evaluate", "--config", path, "--json", "-")
    from_flags = unskew(*world.evaluate("--factors", f"mine={world / 'mf.npz'}", *FLAGS, "--json", "-", model=False))
    assert from_file.code == from_flags.code == 0
    assert from_file.out == from_flags.out


def test_paths_are_relative_to_the_file_wherever_one_stands(world, unskew, tmp_path, monkeypatch):
    monkeypatch.chdir("/")
    path = world.write("run.toml", RUN + 'json = "out.json"\nquiet = true\n')
    outcome = unskew("evaluate", "--config", path)
    assert (outcome.code, outcome.out, outcome.err) == (0, "", "")
    assert json.loads((world.folder / "out.json").read_text())["run"]["seed"] == 3


def test_a_model_file_with_an_equals_sign_in_its_name_is_found(world, unskew):
    world.factors("rank=4.npz")
    path = world.write("run.toml", RUN.replace("mine=mf.npz", "rank=4.npz") + 'json = "-"\n')
    assert "rank=4" in json.loads(unskew("evaluate", "--config", path).out)["run"]["models"]


def test_a_flag_wins_over_the_file(world, unskew):
    path = world.write("run.toml", RUN)
    outcome = unskew("evaluate", "--config", path, "-m", "adg@3", "--level", "0.5", "--seed", "0", "--json", "-")
    run = json.loads(outcome.out)["run"]
    assert (run["metrics"], run["level"], run["seed"]) == (["adg@3"], 0.5, 0)
    assert run["estimators"] == ["aoa", "snips(clip=0.1)"]


def test_json_may_go_to_stdout_from_the_file_too(world, unskew):
    path = world.write("run.toml", RUN + 'json = "-"\n')
    assert json.loads(unskew("evaluate", "--config", path).out)["run"]["level"] == 0.9


def test_keys_are_the_long_options_with_hyphen_or_underscore(world, unskew):
    for key in ("block-size", "block_size"):
        path = world.write("run.toml", RUN + f'{key} = 7\njson = "-"\n')
        assert json.loads(unskew("evaluate", "--config", path).out)["run"]["block_size"] == 7


BAD = {
    "unknown key": ("metrics = ['auc']", ("unknown key 'metrics'", "did you mean 'metric'?")),
    "a file in a file": ("config = 'other.toml'", ("unknown key 'config'",)),
    "a table": ("[evaluate]\nmetric = 'auc'", ("table [evaluate]", "top level")),
    "no TOML": ("metric = [", ("not valid TOML", "write lines such as")),
    "no text": (b"\xff\xfe\x00", ("not UTF-8 text",)),
    "a number for a word": ("metric = 3", ("metric = 3", "text or a list of texts")),
    "numbers for words": ("estimator = [1, 2]", ("estimator = [1, 2]", "text or a list of texts")),
    "a word for a number": ("level = 'high'", ("level = 'high'", "expected a number")),
    "a switch for a number": ("seed = true", ("seed = True", "expected a whole number")),
    "a fraction for a whole": ("block-size = 1.5", ("block-size = 1.5", "expected a whole number")),
    "a word for a switch": ("quiet = 'yes'", ("quiet = 'yes'", "true or false")),
    "a number for a path": ("validation = 3", ("validation = 3", "path of a file")),
    "a number for text": ("ties = 1", ("ties = 1", "expected text")),
    "a word that means nothing": ("ties = 'expect'", ("did you mean 'expected'?",)),
    "a missing file": ("validation = 'nope.csv'", ("nope.csv: no such file",)),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_file_is_refused(world, refuse, case):
    content, says = BAD[case]
    path = world.write("run.toml", content)
    message = refuse(*world.evaluate("--config", path), says=says)
    assert "run.toml" in message or case in {"a word that means nothing", "a missing file"}


def test_a_missing_file_or_a_directory_is_refused(world, refuse):
    refuse(*world.evaluate("--config", world / "nope.toml"), says=("nope.toml: no such file",))
    refuse(*world.evaluate("--config", str(world.folder)), says=("this is a directory",))


@pytest.mark.parametrize(
    "line",
    [
        'model = ["mine=spying:Mine"]',
        'model = ["mf-ips(propensity=spying:Mine)"]',
        'metric = ["auc", "spying:Mine@5"]',
        'estimator = "dm(q=spying:Mine)"',
        'propensity = "spying:Mine(a=1)"',
        'candidates = "spying:Mine"',
        'interval = "spying:Mine"',
    ],
)
def test_a_word_of_the_file_runs_no_code_unless_that_is_allowed(world, refuse, monkeypatch, tmp_path_factory, line):
    place = tmp_path_factory.mktemp("modules")
    monkeypatch.syspath_prepend(str(place))
    (place / "spying.py").write_text(f"open({str(place / 'seen')!r}, 'w').close()\n")
    key = line.partition(" ")[0]
    run = "\n".join(each for each in RUN.splitlines() if not each.startswith(key))
    path = world.write("run.toml", f"{run}\n{line}\n")
    message = refuse("evaluate", "--config", path)
    assert "run.toml" in message
    assert "spying:Mine" in message
    assert "--allow-imports" in message
    assert not (place / "seen").exists()
    # the module is there, but it has no such class
    refuse("evaluate", "--config", path, "--allow-imports", says=("spying:Mine",))
    assert (place / "seen").exists()
    sys.modules.pop("spying")


def test_the_file_cannot_allow_imports_itself(world, refuse):
    path = world.write("run.toml", RUN + "allow-imports = true\n")
    refuse("evaluate", "--config", path, says=("unknown key 'allow-imports'",))


def test_names_of_columns_and_encodings_are_not_imports():
    assert inputs._IMPORTED.search("mf-ips(propensity=naive-bayes(mcar=here/a.csv:encoding=latin-1))") is None
    assert inputs._IMPORTED.search(r"naive-bayes(mcar=C:\data\a.csv)") is None
