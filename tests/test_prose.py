"""Plain technical English in strings, comments, docstrings, templates and Markdown: a list of words to avoid."""

import ast
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
TEXTS = [
    *(
        path
        for folder in ("src", "docs", "benchmarks")
        for path in sorted((ROOT / folder).rglob("*"))
        if path.suffix in {".py", ".md", ".j2"} and "_build" not in path.parts
    ),
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
]
CODE = [path for path in TEXTS if path.suffix == ".py"]
PAGES = [*(path for path in TEXTS if path.suffix == ".md"), ROOT / "CHANGELOG.md"]
WIDTH = 120

_EACH = "user|model|row|run|item|list|metric|step|fold|pair|line|second|set|world|draw|block|setting|day|test|table"
_THING = (
    "rows?|lines?|numbers?|positives?|items?|values?|runs?|cells?|steps?|pairs?|seconds|s|ms|draws?|times|columns?|"
    "points?|entries|files?|one|two|few|lists?|interactions?|ratings?|users?|models?"
)
_NEXT = r"(?=\s*(?:[.,;:)\]]|$|and\b|or\b|in\b|is\b|are\b|of\b|at\b|by\b))"
PATTERNS = {
    rf"\b(?:{_THING}) an? (?:{_EACH})\b{_NEXT}": "per user",
    r"\btold\b|\btell(?:s|ing)?\b(?!.{0,60}\bapart\b)": "describe, report, note, show",
    r"\bstands?\b(?! for\b|-in)": "is, appears, ranks",
    r"\bbeside\b": "next to, compared with",
    r"(?<![Tt]here )\b(?:is|are|was|were) no (?!(?:better|longer|(?:more|less|fewer) than)\b)": "is not a",
    r"\bso (?:many|few)\b|\bas many\b(?! (?:[\w-]+ )?as\b)": "that many, n",
    r"\bat hand\b": "available",
    r", for (?:it|they|he|some|there|no|none|such|this|these|those|the \w+ (?:is|are|has|have|can|would))\b": "because",
    r"\balike\b": "the same, equal",
    r"\banew\b": "again, from scratch",
    r"\bleans?\b|\bhangs? on\b|\bparted\b": "is biased, depends on, split",
    r"\bof wh(?:om|ich)\b": "two sentences",
}
"""What is not written, and what is written instead; CONTRIBUTING has the same table."""

NAMES = {"found", "told", "made", "taken", "mine", "theirs", "own"}
"""Names that do not say what they hold."""


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def python_prose(path: Path) -> Iterator[tuple[int, str]]:
    """Yield numbered lines of strings and comments; joined literals are one line, expressions of f-strings are {}."""
    tree = ast.parse(read(path))
    pieces = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            text = "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)
            yield from enumerate(text.splitlines(), node.lineno)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in pieces:
            yield from enumerate(node.value.splitlines(), node.lineno)
    with path.open("rb") as file:
        for token in tokenize.tokenize(file.readline):
            if token.type == tokenize.COMMENT:
                yield token.start[0], token.string


def markdown_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield numbered lines that are not in a code block."""
    code = False
    for number, line in enumerate(read(path).splitlines(), 1):
        fence = line.lstrip().startswith(("```", "~~~"))
        if not (code or fence):
            yield number, line
        code ^= fence


def prose(path: Path) -> Iterator[tuple[int, str]]:
    """Yield numbered lines without code; a line that is marked as a seed keeps its word, which decides the draws."""
    if path.suffix == ".py":
        seeds = {number for number, line in enumerate(read(path).splitlines(), 1) if "# a seed" in line}
        yield from ((number, line) for number, line in python_prose(path) if number not in seeds)
    else:
        code = re.compile(r"`[^`]*`|\{[{%].*?[%}]\}")
        yield from ((number, code.sub("", line)) for number, line in markdown_lines(path))


@pytest.mark.parametrize("path", TEXTS, ids=name_of)
def test_the_prose_is_plain(path: Path) -> None:
    avoid = [
        f"{name_of(path)}:{number}: {match.group()!r}, rather: {instead}"
        for number, line in prose(path)
        for pattern, instead in PATTERNS.items()
        for match in re.finditer(pattern, line)
    ]
    assert not avoid, "\n".join(avoid)


@pytest.mark.parametrize("path", CODE, ids=name_of)
def test_names_say_what_they_hold(path: Path) -> None:
    names = []
    for node in ast.walk(ast.parse(read(path))):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.append((node.lineno, node.id))
        elif isinstance(node, ast.arg):
            names.append((node.lineno, node.arg))
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.append((node.lineno, node.name))
    vague = [f"{name_of(path)}:{number}: {name}" for number, name in names if name.strip("_") in NAMES]
    assert not vague, "\n".join(vague)


@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_a_page_has_no_lines_over_120_columns(path: Path) -> None:
    """Code, tables and lines without a place to break are excepted."""
    wide = [
        f"{name_of(path)}:{number}"
        for number, line in markdown_lines(path)
        if len(line) > WIDTH and not line.startswith("|") and " " in line[:WIDTH].strip()
    ]
    assert not wide, "\n".join(wide)
