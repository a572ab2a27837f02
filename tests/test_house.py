"""House rules: light imports, documented names, small files."""

import ast
import importlib
import inspect
import pkgutil
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import unskew

ROOT = Path(__file__).resolve().parent.parent
SOURCES = sorted((ROOT / "src").rglob("*.py"))
CODE = [*SOURCES, *sorted((ROOT / "tests").rglob("*.py")), *sorted((ROOT / "benchmarks").rglob("*.py"))]
HEAVY = {
    "torch",
    "ray",
    "sklearn",
    "pandas",
    "numba",
    "scipy",
    "polars",
    "pyarrow",
    "altair",
    "rich",
    "typer",
    "jinja2",
}
FLAG = re.compile(r"(?<!var\()--[a-z][\w-]*|(?<![\w-])-[em] ")  # colours of pages are written var(--name)
OPTIONAL = {"torch", "ray", "sklearn", "pandas", "pyarrow"}
MODULES = [m.name for m in pkgutil.walk_packages(unskew.__path__, "unskew.") if not m.name.endswith("__main__")]


def modules_of(code: str) -> set[str]:
    script = f"{code}\nimport sys\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=ROOT)
    return set(done.stdout.split())


def loaded_by(code: str) -> set[str]:
    return {name.split(".")[0] for name in modules_of(code)}


def test_importing_the_package_loads_nothing_heavy() -> None:
    assert not HEAVY & loaded_by("import unskew")


def test_optional_packages_stay_unloaded_until_they_are_used() -> None:
    assert not OPTIONAL & loaded_by("from unskew import Interactions, Ranks, Report, Split, evaluate")


def test_the_compiler_stays_unloaded_until_something_is_ranked() -> None:
    assert "numba" not in loaded_by("from unskew import Interactions, Ranks, Report, Split, audit, evaluate")


def test_evaluate_loads_no_simulator_audit_study_or_page() -> None:
    loaded = modules_of("from unskew import evaluate")
    parts = {name.split(".")[1] for name in loaded if name.startswith("unskew.")}
    assert not parts & {"simulators", "audit", "calibration", "feedback", "trials", "studies", "cli", "testing"}
    assert not {name.split(".")[0] for name in loaded} & {"altair", "jinja2"}
    assert not any(name.startswith("unskew.evaluation.showing") for name in loaded)


def test_the_audit_is_a_function_and_a_package_in_any_order_of_imports() -> None:
    use = [
        "assert unskew.audit is unskew.audit",
        "assert unskew.audit.Audit is unskew.Audit",
        "log = unskew.Interactions.from_arrays([0, 1, 2], [0, 0, 1])",
        "assert isinstance(unskew.audit(log), unskew.Audit)",
    ]
    for first in ("import unskew.audit.result", "from unskew import audit", "import unskew"):
        modules_of("\n".join(["import unskew", first, *use]))
    assert list(inspect.signature(unskew.audit).parameters)[:2] == ["log", "models"]


def test_the_names_of_the_package_are_all_there() -> None:
    assert sorted(unskew.__all__) == [name for name in dir(unskew) if name != "__version__"]
    for name in unskew.__all__:
        assert getattr(unskew, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = unskew.nothing


# the commands of the command line are documented by their help texts
@pytest.mark.parametrize("name", [name for name in MODULES if not name.startswith("unskew.cli")])
def test_every_module_and_every_public_name_has_a_docstring(name: str) -> None:
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        pytest.skip("torch is not installed: pip install 'unskew[models]'")
    assert module.__doc__, name
    public = getattr(module, "__all__", [n for n, o in vars(module).items() if _own(o, name) and not n.startswith("_")])
    for each in public:
        thing = getattr(module, each)
        if inspect.isclass(thing) or inspect.isfunction(thing):
            assert _documented(thing), f"{name}.{each}"
        if inspect.isclass(thing) and thing.__module__.startswith("unskew"):
            for method, member in vars(thing).items():
                if inspect.isfunction(member) and not method.startswith("_"):
                    assert inspect.getdoc(getattr(thing, method)), f"{name}.{each}.{method}"


def _own(thing: object, module: str) -> bool:
    return (inspect.isclass(thing) or inspect.isfunction(thing)) and thing.__module__ == module


def _documented(thing: object) -> bool:
    """A dataclass without a docstring gets its signature for one, which does not count."""
    text = inspect.getdoc(thing) or ""
    return bool(text) and not text.startswith(f"{getattr(thing, '__name__', '')}(")


@pytest.mark.parametrize("package", sorted({name.split(".")[1] for name in MODULES if name.count(".") == 1}))
def test_what_is_listed_as_public_exists(package: str) -> None:
    module = importlib.import_module(f"unskew.{package}")
    for name in getattr(module, "__all__", []):
        assert hasattr(module, name), f"unskew.{package}.{name}"


def test_no_file_is_longer_than_400_lines() -> None:
    lengths = {str(path.relative_to(ROOT)): len(path.read_text(encoding="utf-8").splitlines()) for path in CODE}
    assert {path: n for path, n in lengths.items() if n > 400} == {}


def test_no_file_is_a_drawer_for_odds_and_ends() -> None:
    assert not [path for path in CODE if path.stem in {"utils", "helpers", "common", "misc"}]


def test_nothing_is_left_to_do_in_the_sources() -> None:
    for path in SOURCES:
        text = path.read_text(encoding="utf-8")
        assert not any(word in text for word in ("TODO", "FIXME", "NotImplementedError", "pdb.set_trace")), path


def test_the_licence_is_there_and_named() -> None:
    text = (ROOT / "LICENSE").read_text(encoding="utf-8")
    assert "Apache License" in text
    assert "Version 2.0" in text
    assert 'license = "Apache-2.0"' in (ROOT / "pyproject.toml").read_text(encoding="utf-8")


def test_the_package_is_typed() -> None:
    assert (ROOT / "src" / "unskew" / "py.typed").exists()


def test_only_the_command_line_names_flags() -> None:
    """Messages below it name options by `unskew.errors.Option`, which speaks Python to those who use Python."""
    below = [path for path in SOURCES if "cli" not in path.relative_to(ROOT / "src" / "unskew").parts]
    found = [
        f"{path.relative_to(ROOT)}:{line}: {flag}"
        for path in below
        for line, text in _texts(path)
        for flag in FLAG.findall(text)
    ]
    assert not found


def _texts(path: Path) -> Iterator[tuple[int, str]]:
    """The string literals of a file, but for docstrings."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    docs = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs:
            yield node.lineno, node.value
