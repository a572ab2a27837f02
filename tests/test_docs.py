"""What the documentation shows is true: its code runs, its numbers are those of commands, its links lead somewhere."""

import importlib
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import unskew
from unskew.cli.listing import FAMILIES, entries
from unskew.estimators import Estimator
from unskew.models import Model
from unskew.ranking import MatrixScorer
from unskew.simulators import SELECTION_WORLDS
from unskew.studies.truth import STUDY
from unskew.studies.truth.forms import PLAIN, SLICED, Form
from unskew.studies.truth.worlds import SHARES

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
PAGES = sorted(page for page in DOCS.rglob("*.md") if "_build" not in page.parts)
RECIPES = DOCS / "guide" / "other-models.md"
PROSE = [*PAGES, ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]
PUBLIC = (unskew.Interactions, unskew.Report, unskew.Ranks, Estimator, Model, MatrixScorer)
RUN_OR_NO_CODE = {"{code-cell}", "{eval-rst}", "{toctree}", "{image}", "{include}", "{bibliography}", "text"}


def load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


blocks = load(DOCS / "_ext" / "blocks.py")
layout = load(DOCS / "layout.py")
example = load(DOCS / "example.py")


def read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def bodies(path: Path, info: str) -> list[str]:
    return [body for found, body in blocks.fenced(read(path)) if found == info]


def environment() -> dict[str, str]:
    return {**os.environ, "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])}


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_a_page_has_no_code_that_the_build_does_not_run(page: Path) -> None:
    text = read(page)
    kinds = {info.split()[0] if info else "no language" for info, _ in blocks.fenced(text)}
    if page == RECIPES:  # run by tests/integrations
        kinds -= {"{code-block}"}
    assert kinds <= RUN_OR_NO_CODE
    assert len(re.findall(r"^(?:```|~~~|:::)", text, re.MULTILINE)) == 2 * len(blocks.fenced(text))
    assert "{code-cell}" not in kinds or text.startswith("---\nfile_format: mystnb\n")


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_a_shell_cell_stops_at_the_first_command_that_fails(page: Path) -> None:
    for info, body in blocks.fenced(read(page)):
        if info.startswith("{code-cell}"):
            assert not re.search(r"^(?:!|%%(?!bash -e\n|writefile ))", body, re.MULTILINE)


def test_the_build_runs_every_cell_anew_and_stops_at_an_error() -> None:
    settings = read(DOCS / "conf.py")
    assert 'nb_execution_mode = "force"' in settings
    assert "nb_execution_raise_on_error = True" in settings
    assert "sphinx -W " in read(ROOT / "Makefile")


def test_the_example_of_the_readme_runs_and_start_shows_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (code,) = bodies(ROOT / "README.md", "python")
    assert len(code.splitlines()) <= 15
    assert code.rstrip() in read(DOCS / "start.md")
    example.write_files(tmp_path)
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "README.md", "exec"), {})
    assert "snips" in capsys.readouterr().out
    assert (tmp_path / "report.html").stat().st_size > 10_000


def test_the_commands_of_the_readme_run(tmp_path: Path) -> None:
    (block,) = bodies(ROOT / "README.md", "sh")
    commands = "\n".join(line for line in block.splitlines() if line.startswith("unskew "))
    assert {"split", "evaluate"} <= set(commands.split())
    example.write_files(tmp_path)
    subprocess.run(["bash", "-e"], input=commands, text=True, check=True, cwd=tmp_path, env=environment())
    assert (tmp_path / "report.html").is_file()


def test_the_examples_of_contributing_run_and_leave_no_word_behind() -> None:
    before = {what: json.dumps(entries(what)) for what in FAMILIES}
    made = blocks.run_blocks(ROOT / "CONTRIBUTING.md")
    defined = {"Patience", "Tempered", "Zipf", "LIBRARY", "many_models", "TABLE"}
    assert [sorted(defined & set(vars(module))) for module in made] == [
        ["Patience"],
        ["Tempered"],
        ["Zipf"],
        ["LIBRARY"],
        ["many_models"],
        ["TABLE"],
    ]
    assert {what: json.dumps(entries(what)) for what in FAMILIES} == before


def test_the_examples_of_contributing_work_in_the_files_they_name(tmp_path: Path) -> None:
    """Each is put into a copy of the package with its line in the ``__init__.py``, and is then used by its name."""
    place = tmp_path / "unskew"
    shutil.copytree(ROOT / "src" / "unskew", place, ignore=shutil.ignore_patterns("__pycache__"))
    for body in bodies(ROOT / "CONTRIBUTING.md", "python"):
        first, _, rest = body.partition("\n")
        file = tmp_path / first.removeprefix("# src/")
        file.write_text(rest.split("# a try\n")[0], encoding="utf-8")
        home = file.parent / "__init__.py"
        line = f"from {'.'.join(file.parent.relative_to(tmp_path).parts)} import {file.stem}\n"
        home.write_text(read(home).replace("\nfrom unskew", f"\n{line}from unskew", 1), encoding="utf-8")
    use = (
        "import unskew.metrics, unskew.estimators, unskew.propensities\n"
        "import unskew.data.sources, unskew.evaluation.checking\n"
        "import unskew.studies.schnabel2016 as paper\n"
        "print(unskew.metrics.parse_metric('patience@3'), unskew.estimators.Estimator.from_word('tempered'),"
        " unskew.propensities.PropensityModel.from_word('zipf'), unskew.data.sources.loans.LIBRARY.name,"
        " unskew.evaluation.checking.many_models.many_models.name, paper.crowd.TABLE.name)"
    )
    paths = {**environment(), "PYTHONPATH": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", use], capture_output=True, text=True, check=False, env=paths)
    assert done.stdout.split() == ["patience@3", "tempered", "zipf", "library", "many-models", "crowd"], done.stderr


def test_the_scorer_that_contributing_points_to_keeps_its_contract() -> None:
    assert "the guide to models has its example" in " ".join(read(ROOT / "CONTRIBUTING.md").split())
    (code,) = (body for body in bodies(DOCS / "guide" / "models.md", "{code-cell} python") if "check_scorer" in body)
    exec(compile(code, "models.md", "exec"), {"__name__": "models"})


def test_an_example_that_fails_is_named(tmp_path: Path) -> None:
    (tmp_path / "page.md").write_text("```text\nno code\n```\n\n```python\nraise KeyError\n```\n")
    with pytest.raises(KeyError) as caught:
        blocks.run_blocks(tmp_path / "page.md")
    assert str(caught.traceback[-1].path).endswith("page.md, block 2")


@pytest.mark.parametrize("page", PROSE, ids=name_of)
def test_targets_of_make_that_are_named_exist(page: Path) -> None:
    targets = set(re.findall(r"^([a-z-]+):", read(ROOT / "Makefile"), re.MULTILINE))
    named = set(re.findall(r"(?:`|^)make ([a-z-]+)", read(page), re.MULTILINE))
    assert named <= targets
    assert page.name != "README.md" or {"demo", "test", "docs"} <= named


@pytest.mark.parametrize("page", PROSE, ids=name_of)
def test_links_to_files_lead_somewhere(page: Path) -> None:
    for target in re.findall(
        r"\]\(([^)\s#]+)[^)]*\)", re.sub(r"^```.*?^```", "", read(page), flags=re.DOTALL | re.MULTILINE)
    ):
        assert target.startswith("https://") or (page.parent / target).exists()


def test_the_picture_is_small() -> None:
    picture = DOCS / "_static" / "demo.png"
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert picture.stat().st_size < 150_000


@pytest.mark.parametrize("page", PROSE, ids=name_of)
def test_prose_names_no_place_on_a_machine(page: Path) -> None:
    assert not re.search(r"(?<![\w.~/])/(?:home|root|tmp|usr|var|Users)/", read(page))


def test_every_reference_is_in_the_bibliography() -> None:
    known = set(re.findall(r"^@\w+\{(\w+),", read(DOCS / "references.bib"), re.MULTILINE))
    cited = {
        key for path in (ROOT / "src").rglob("*.py") for key in re.findall(r"(?<![\w`])\[([a-z]+\d{4})\]", read(path))
    }
    named = {
        key for page in PAGES for keys in re.findall(r"\{cite:p\}`([^`]+)`", read(page)) for key in keys.split(",")
    }
    assert cited | named <= known


def test_the_reference_has_every_package_and_every_family() -> None:
    shown = set(re.findall(r"automodule:: (\S+)", read(DOCS / "api.md")))
    packages = {
        ".".join(path.parent.relative_to(ROOT / "src").parts)
        for path in (ROOT / "src" / "unskew").glob("*/__init__.py")
        if path.parent.name not in {"cli", "display"}  # what is seen, not called
    }
    inner = {f"unskew.{name}" for name in ("data.sources", "testing.worlds", "testing.oracles", "testing.strategies")}
    assert packages | inner | {"unskew.errors"} == shown
    families = set(re.findall(r'family_table\("([\w-]+)"\)', read(DOCS / "words.md"))) | {"metrics"}
    assert families == set(FAMILIES) - {"datasets", "studies"}


def test_the_tree_of_the_architecture_page_is_that_of_the_sources() -> None:
    shown = next(body for body in bodies(DOCS / "architecture.md", "text") if body.startswith("src/unskew/"))
    assert shown.rstrip("\n") == layout.tree()


def test_the_architecture_page_says_why_a_folder_has_many_modules() -> None:
    """Fourteen modules are as many as somebody reads over at a glance."""
    large = {
        folder.parent
        for folder in (ROOT / "src" / "unskew").rglob("__init__.py")
        if len(list(folder.parent.glob("*.py"))) > 15  # with __init__.py
    }
    named = re.findall(r"`([\w/]+)/`", read(DOCS / "architecture.md"))
    reasons = {ROOT / "src" / "unskew" / name for name in named}
    assert {folder for folder in large if not {folder, folder.parent} & reasons} == set()


def test_the_files_that_the_architecture_page_points_to_are_there() -> None:
    files = re.findall(r"`([\w/]+\.py)`", read(DOCS / "architecture.md"))
    assert len(files) > 15
    assert [file for file in files if "PAPER" not in file and not (ROOT / "src" / "unskew" / file).is_file()] == []


def test_the_pictures_of_the_layers_have_every_layer_and_only_downward_arrows() -> None:
    for container in ("unskew", "unskew.evaluation"):
        picture = layout.layers_picture(container)
        names = [name for layer in layout._layers(container) for name in layer.split(" | ") if name != "__main__"]
        assert all(f">{name}</text>" in picture for name in names)
    assert "when asked" not in layout.layers_picture("unskew")


def test_the_names_that_open_the_reference_can_be_called() -> None:
    table = read(DOCS / "api.md").split("## ", 1)[0]
    packages = {"unskew", "unskew.data.sources", *re.findall(r"unskew\.\w+", table)}
    homes = [importlib.import_module(name) for name in packages]
    names = set(re.findall(r"[`.*]([A-Za-z_]\w+)\b(?=[`(.,]|\*\*)", re.sub(r"unskew\.[a-z_.]+\.(?=\w)", "`", table)))
    known = {name for home in homes for name in dir(home)} | {n for c in PUBLIC for n in dir(c)}
    assert len(names) > 40
    assert names - known - {"unskew"} == set()


def test_the_changelog_begins_with_this_version_after_what_is_not_yet_released() -> None:
    headings = re.findall(r"^## (\S+)", read(ROOT / "CHANGELOG.md"), re.MULTILINE)
    assert headings.count("Unreleased") <= 1
    assert headings[1 if headings[0] == "Unreleased" else 0] == unskew.__version__


@pytest.mark.slow
def test_the_documentation_builds_and_asks_nothing_of_the_network(tmp_path: Path) -> None:
    out = tmp_path / "html"
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "-d", str(tmp_path / "doctrees"), "-b", "html"]
    done = subprocess.run([*command, str(DOCS), str(out)], capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stderr[-3000:]
    for page in out.rglob("*.html"):
        text = re.sub(r"<a [^>]*>", "", read(page))  # a link is followed by a reader, not by the page
        assert not re.search(r"""(?:src|href|srcset)=["'](?:https?:)?//""", text), page.name
    for sheet in out.rglob("*.css"):
        assert not re.search(r"url\(['\"]?(?:https?:)?//", read(sheet)), sheet.name


def test_the_page_of_warnings_lists_every_check() -> None:
    from unskew.evaluation.checking import CHECKS

    text = load(DOCS / "words.py").warnings_page()
    assert re.findall(r"^## (.*)$", text, re.MULTILINE) == [check.name for check in CHECKS]
    for check in CHECKS:
        assert all(part in text for part in (check.what, check.why, check.do))
    assert "warnings_page()" in read(DOCS / "warnings.md")


def _truth(**tables: dict[tuple[str, str], tuple[float, float | None, float | None]]) -> dict[str, object]:
    """The JSON of a study of truth: by table, error, tau and coverage by row and data set."""
    made = []
    for name, numbers in tables.items():
        cells = [
            {"row": row, "column": column, "data": data, "ours": value, "spread": 0.1, "note": ""}
            for (row, data), values in numbers.items()
            for column, value in zip(("error", "tau", "coverage"), values, strict=True)
        ]
        made.append({"table": name, "seconds": 1.0, "cells": cells, "claims": [], "figures": ["large"], "notes": []})
    return {"study": "truth", "fast": False, "seed": 0, "tables": made}


def test_the_table_of_measured_errors_is_read_from_the_json_of_the_study(tmp_path: Path) -> None:
    table = load(DOCS / "truth_table.py")
    path = tmp_path / "truth.json"
    assert "unskew reproduce truth --json" in table.errors_table(path)
    result = _truth(
        worlds={("blend", "mixed"): (0.1, 0.5, 0.9), ("positives: snips, popularity", "mixed"): (0.4, 0.3, 0.1)},
        large={("blend", "mixed"): (0.2, 0.6, 0.8)},
        coat={("snips, popularity", "coat"): (0.6, None, None)},
        jester={("blend, 1 % slice", "jester"): (0.3, 0.8, 0.95), ("ure, 1 % slice", "jester"): (0.5, 0.8, 0.95)},
    )
    path.write_text(json.dumps(result), encoding="utf-8")
    text = table.errors_table(path)
    assert text.splitlines() == [
        "**Simulated worlds**",
        "",
        "| you have | estimate | mixed | mixed, large |",
        "|---|---|---|---|",
        "| ratings or labels | blend | 0.10 / 0.50 (90%) | 0.20 / 0.60 (80%) |",
        "| positives alone | snips, popularity (published) | 0.40 / 0.30 (10%) | - |",
        "",
        "**Real data**",
        "",
        "| you have | estimate | coat | jester |",
        "|---|---|---|---|",
        "| ratings or labels | snips, popularity (published) | 0.60 / - | - |",
        "| ratings or labels, and random rows | blend, 1 % slice | - | 0.30 / 0.80 (95%) |",
    ]
    path.write_text(json.dumps({**result, "fast": True}), encoding="utf-8")
    assert table.errors_table(path).splitlines()[2:] == text.splitlines()
    path.write_text(json.dumps(table.reduced(result)), encoding="utf-8")  # what is kept is enough
    assert table.errors_table(path) == text
    assert "figures" not in path.read_text(encoding="utf-8")


def test_the_readme_averages_the_worlds_and_the_real_sets(tmp_path: Path) -> None:
    table = load(DOCS / "truth_table.py")
    source, data, readme = (tmp_path / name for name in ("all.json", "truth.json", "README.md"))
    numbers = {
        ("naive", "pop"): (1.0, 0.5, 0.0),
        ("naive", "self"): (1.0, 0.7, 0.1),
        ("auto", "pop"): (0.1, 0.8, 0.6),
        ("auto", "self"): (0.3, 0.9, 0.8),
        ("naive", "mar"): (1.0, 0.9, 0.95),
    }
    coat, jester = {("auto", "coat"): (0.3, 0.5, 0.6)}, {("auto", "jester"): (0.1, 0.7, 0.8)}
    source.write_text(json.dumps(_truth(worlds=numbers, coat=coat, jester=jester)), encoding="utf-8")
    readme.write_text(f"before\n{table.START}\nold\n{table.END}\nafter\n", encoding="utf-8")
    table.write(source, data, readme)
    assert read(readme).splitlines() == [
        "before",
        table.START,
        "| the log has | data | naive | published | ours: `auto` | ours, with 1 % random rows |",
        "|---|---|---|---|---|---|",
        "| ratings or labels | six worlds with selection | 1.00 / 0.60 (5%) | - | 0.20 / 0.85 (70%) | - |",
        "| ratings or labels | a world without selection | 1.00 / 0.90 (95%) | - | - | - |",
        "| ratings or labels | six logs of Coat, KuaiRec, Jester | - | - | 0.20 / 0.60 (70%) | - |",
        "| positives alone | six worlds with selection | - | - | - | - |",
        "| positives alone | a world without selection | - | - | - | - |",
        "| positives alone | six logs of Coat, KuaiRec, Jester | - | - | - | - |",
        table.END,
        "after",
    ]
    table.write(source, data, readme)
    assert read(readme).count(table.START) == 1


def test_the_readme_has_the_table_of_the_study() -> None:
    table = load(DOCS / "truth_table.py")
    text = read(ROOT / "README.md")
    assert table.with_table(text, table.readme_table()) == text
    shown = re.sub(r"<details>.*?</details>", "", text, flags=re.DOTALL)
    assert len(shown.splitlines()) <= 110  # about two screens
    if table.DATA.is_file():
        assert table.DATA.stat().st_size < 500_000
        assert not json.loads(read(table.DATA))["fast"]


def test_every_row_of_the_tables_is_a_form_of_the_study() -> None:
    table = load(DOCS / "truth_table.py")
    plain = [(given, 0.0, name) for given, runs in PLAIN.items() for run in runs for name in run.names.values()]
    plain += [(given, 0.0, "auto") for given in PLAIN]
    sliced = [
        (given, share, name) for given, run in SLICED.items() for name in run.names.values() for share in SHARES.full
    ]
    rows = {str(Form(*parts)) for parts in (*plain, *sliced)}
    assert {form for forms in table.FORMS.values() for form in forms} <= rows
    assert {table for tables in table.SETS.values() for table in tables} == {each.name for each in STUDY.tables}
    assert {*table.SELECTIVE, "mar"} == set(SELECTION_WORLDS)
