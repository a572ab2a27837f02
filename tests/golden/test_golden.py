"""The golden corpus: what every mode computed before, it computes now. ``make golden`` writes it anew."""

import itertools
import os
from pathlib import Path

import golden_files
import llvmlite.binding
import numba
import pytest
from golden_cases import STUDIES
from golden_refusals import REFUSALS
from golden_runs import Golden, run_case, run_refusals
from golden_worlds import write_worlds
from make_golden import STORED, study_data

SHOWN = 5
TRAINED_ON = {"study-yang2018-table3": "znver4"}
"""Studies whose models take many steps in loops that are vectorised for the processor, so that last bits grow."""

NEEDS_TORCH = {"exposed-uniform"}


def processor() -> str:
    """The processor that loops are compiled for."""
    return str(numba.config.CPU_NAME or llvmlite.binding.get_host_cpu_name())


@pytest.fixture(scope="session")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("golden") / "inputs"
    folder.mkdir()
    write_worlds(folder)
    return folder


def check_value(path: Path, expected: object, got: object) -> None:
    found = list(itertools.islice(golden_files.differences(expected, got), SHOWN))
    assert not found, f"{path.name} differs:\n" + "\n".join(found)


def check_text(path: Path, got: str) -> None:
    expected = path.read_text(encoding="utf-8")
    pairs = itertools.zip_longest(expected.splitlines(), got.splitlines())
    found = [f"line {place}: expected {old!r}, got {new!r}" for place, (old, new) in enumerate(pairs, 1) if old != new]
    assert not found, f"{path.name} differs:\n" + "\n".join(found[:SHOWN])


def check(name: str, golden: Golden) -> None:
    path = golden_files.json_path(name)
    stored = golden_files.read(path)
    check_value(path, stored["result"] if name in STUDIES else stored, golden.value)
    if golden.text is not None:
        check_text(golden_files.text_path(name), golden.text)


@pytest.mark.parametrize("name", [name for name in STORED if name not in STUDIES])
def test_the_numbers_and_words_are_those_of_the_corpus(name: str, inputs: Path, tmp_path: Path) -> None:
    if name in NEEDS_TORCH:
        pytest.importorskip("torch", reason="torch is not installed: pip install 'unskew[models]'")
    check(name, run_case(name, inputs, tmp_path / "run"))


@pytest.mark.parametrize("name", STUDIES)
def test_the_tables_of_studies_are_those_of_the_corpus(name: str, inputs: Path, tmp_path: Path) -> None:
    if name.startswith("study-wang2024"):
        pytest.importorskip("torch", reason="torch is not installed: pip install 'unskew[models]'")
    stored, here = golden_files.read(golden_files.json_path(name))["data"], study_data(name)
    if stored != here:
        pytest.skip(f"the corpus was made with other data: {stored}, and here is {here}")
    made_on = TRAINED_ON.get(name)
    if made_on not in {None, processor()}:
        pytest.skip(f"compiled loops add in another order on {processor()}; the corpus was made on {made_on}")
    check(name, run_case(name, inputs, tmp_path / "run"))


def test_what_is_refused_is_refused_in_the_same_words(inputs: Path, tmp_path: Path) -> None:
    path = golden_files.refusals_path()
    got = run_refusals(inputs, tmp_path / "run")
    assert list(got) == list(REFUSALS)
    for command, told in got.items():
        assert (told["exit"], told["stdout"], told["stderr"].count("\n")) == (2, "", 0), command
    check_value(path, golden_files.read(path), got)


def test_the_corpus_is_small_and_has_a_file_for_every_case() -> None:
    files = [path for folder in ("json", "text") for path in (golden_files.FOLDER / folder).iterdir()]
    assert {path.stem for path in files if path.suffix == ".json"} == set(STORED)
    assert {path.stem for path in files if path.suffix == ".txt"} <= set(STORED)
    sizes = {path.name: path.stat().st_size for path in files}
    assert {name: size for name, size in sizes.items() if size > 60_000} == {}
    assert sum(sizes.values()) < 1_500_000
    assert not [path for path in files if os.sep + "tmp" + os.sep in path.read_text(encoding="utf-8")]


def test_a_difference_is_named_by_its_place() -> None:
    old, new = {"a": [1.0, {"b": "x"}], "c": 2}, {"a": [1.0 + 1e-6, {"b": "y"}], "c": 2.0}
    assert list(golden_files.differences(old, new)) == [
        "$.a[0]: expected 1.0, got 1.000001",
        "$.a[1].b: expected 'x', got 'y'",
        "$.c: expected 2, got 2.0",
    ]
    assert not list(golden_files.differences([1.0, float("nan")], [1.0 + 1e-12, float("nan")]))


def test_what_is_packed_comes_back() -> None:
    rows = [{"a": 1, "b": [{"c": k} for k in range(4)], "d": k} for k in range(3)]
    long = [{"word": f"w{k % 3}", "n": k} for k in range(60)]
    value = {"rows": rows, "long": long, "few": rows[:2], "other": [{}, {}, {}], "mixed": [{"a": 1}, {"b": 2}, 3]}
    assert golden_files.unpack(golden_files.pack(value)) == value
