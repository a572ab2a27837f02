"""The index of the documentation for language models, ``llms.txt``, in the form that llmstxt.org describes.

``python docs/llms.py`` writes it again: sections and pages are those of the table of contents, titles those of the
pages. A description that is in the file is kept; a new page gets its first sentence, which is a start for a better one.
"""

import re
from collections.abc import Iterator
from pathlib import Path

DOCS = Path(__file__).resolve().parent
FILE = DOCS / "llms.txt"
SUMMARY = """\
unskew is a Python library and a command line that judges recommenders offline. A log contains more of what was popular,
shown or chosen than of the rest, so a metric averaged over a test set cut from it rewards models that repeat these
habits. unskew computes the usual metrics and the corrected ones, with intervals, paired comparisons, a range over what
may be assumed, and a verdict that says when a log cannot separate two models."""
NOTES = """\
Every page is Markdown (MyST); cells marked `{code-cell}` are run when the documentation is built. In Python the first
call is `evaluate(models, Split(train, test), metrics=["recall@10"])`, on the command line `unskew evaluate`. All words
of metrics, estimators, propensities and models are listed by `unskew list`."""

_TREE = re.compile(r"^```\{toctree\}\n(?P<options>(?::.*\n)*)\n?(?P<entries>(?:[\w/-]+\n)+)```", re.MULTILINE)
_LINE = re.compile(r"^- \[[^\]]+\]\((?P<target>[^)]+)\): (?P<description>.+)$", re.MULTILINE)
_INCLUDE = re.compile(r"^```\{include\} (\S+)", re.MULTILINE)


def sections(docs: Path = DOCS) -> dict[str, list[str]]:
    """Return the pages under each caption of the table of contents, with the pages below a page after it."""
    return {caption: [page for name in names for page in _with_children(docs, name)] for caption, names in _trees(docs)}


def title(page: Path) -> str:
    """Return the first heading of a page."""
    heading = re.search(r"^# (.+)$", _text(page), re.MULTILINE)
    if heading is None:
        raise ValueError(f"{page} has no title; begin it with a line '# Title'")
    return heading[1]


def first_sentence(page: Path) -> str:
    """Return the first sentence of prose, without marks and on one line."""
    text = re.sub(r"^(`{3,}).*?^\1[ ]*$", "", _text(page).split("\n# ", 1)[-1], flags=re.DOTALL | re.MULTILINE)
    prose = next((part for part in text.split("\n\n")[1:] if re.match(r"[A-Z`*]", part.strip())), title(page))
    plain = re.sub(r"\{cite:p\}`[^`]*`|\]\([^)]*\)|[\[*]", "", " ".join(prose.split()))
    return re.split(r"(?<=[.?!])\s", plain, maxsplit=1)[0]


def text(docs: Path = DOCS, known: str = "") -> str:
    """Return the file, with the descriptions of the text that is known."""
    descriptions = {match["target"]: match["description"] for match in _LINE.finditer(known)}
    parts = ["# unskew", "> " + SUMMARY.replace("\n", "\n> "), NOTES]
    for caption, pages in sections(docs).items():
        known_or_first = {page: descriptions.get(page) or first_sentence(docs / page) for page in pages}
        lines = [f"- [{title(docs / page)}]({page}): {sentence}" for page, sentence in known_or_first.items()]
        parts.append(f"## {caption}\n\n" + "\n".join(lines))
    return "\n\n".join(parts) + "\n"


def _trees(docs: Path, page: str = "index.md") -> Iterator[tuple[str, list[str]]]:
    for match in _TREE.finditer((docs / page).read_text(encoding="utf-8")):
        caption = re.search(r"^:caption: (.+)$", match["options"], re.MULTILINE)
        yield caption[1] if caption else "", match["entries"].split()


def _with_children(docs: Path, name: str) -> Iterator[str]:
    page = f"{name}.md"
    yield page
    folder = Path(page).parent
    for _, names in _trees(docs, page):
        for child in names:
            yield from _with_children(docs, (folder / child).as_posix())


def _text(page: Path) -> str:
    content = page.read_text(encoding="utf-8")
    included = _INCLUDE.search(content)
    return content if included is None else (page.parent / included[1]).read_text(encoding="utf-8")


if __name__ == "__main__":
    FILE.write_text(text(known=FILE.read_text(encoding="utf-8") if FILE.is_file() else ""), encoding="utf-8")
