"""Tables of the registries as Markdown, for the pages that show them."""

import re

from unskew.cli.listing import entries
from unskew.data.sources import SOURCES
from unskew.evaluation.checking import CHECKS

_KEY = re.compile(r"\s*\[([a-z]+\d{4})\]")


def family_table(what: str) -> str:
    """Return one row per word: what it is, and its options with their defaults."""
    rows = [list(entry.values()) for entry in entries(what)]
    lines = ["| word | what it is | options |", "|---|---|---|"]
    for name, description, options in rows:
        lines.append(f"| `{name}` | {_prose(description)} | {_options(options)} |")
    return "\n".join(lines)


def metrics_table() -> str:
    """Return one row per metric: kind, whether missing data leave it unbiased, exact definition, options."""
    lines = [
        "| metric | kind | unbiased to missing | definition | options, the default first |",
        "|---|---|---|---|---|",
    ]
    for entry in entries("metrics"):
        options = ", ".join(f"`{key}`: {_bars(text)}" for key, text in entry["options"].items()) or "none"
        unbiased = "yes" if entry["unbiased_to_missing"] else "no"
        definition = _bars(entry["definition"])
        lines.append(f"| `{entry['metric']}` | {entry['kind']} | {unbiased} | {definition} | {options} |")
    return "\n".join(lines)


def datasets_table() -> str:
    """Return one row per data set, from its source file."""
    lines = ["| name | title | terms | own test | get it |", "|---|---|---|---|---|"]
    for name, source in SOURCES.items():
        has_test = "yes" if source.split_reader is not None else "no"
        get = f"`unskew datasets get {name}`" if source.download else _bars(source.how_to_get)
        lines.append(
            f"| [`{name}`]({source.home}) | {_bars(source.title)} | {_bars(source.licence)} | {has_test} | {get} |"
        )
    return "\n".join(lines)


def datasets_list() -> str:
    """Return what to cite per data set, and which files are read and checked."""
    parts = []
    for name, source in SOURCES.items():
        files = ", ".join(f"`{file}` ({'pinned' if digest else 'not pinned'})" for file, digest in source.files.items())
        forms = "; ".join(form.note for form in source.forms if form.note)
        also = f" Also read: {forms}." if forms else ""
        parts.append(f"`{name}`\n: {source.citation}.\n  Files: {files}.{also}\n  By hand: {source.how_to_get}.")
    return "\n\n".join(parts)


def warnings_page() -> str:
    """Return one section per check: what it found, why it matters, what to do."""
    return "\n\n".join(
        f"## {check.name}\n\n**Found.** {check.what}\n\n**Why it matters.** {check.why}\n\n**What to do.** {check.do}"
        for check in CHECKS
    )


def _prose(text: str) -> str:
    """Return a docstring's first paragraph with formulas and citations in Markdown."""
    text = re.sub(r":math:`([^`]*)`", r"$\1$", text)
    text = re.sub(r"``([^`]*)``", r"`\1`", text)
    return _bars(_KEY.sub(r" {cite:p}`\1`", text))


def _options(options: dict[str, str]) -> str:
    return ", ".join(_option(key, _bars(value)) for key, value in options.items()) or "none"


def _option(key: str, value: str) -> str:
    """Return an option with its default, or only its name if it has none."""
    if value == "needed":
        return f"`{key}` (needed)"
    return f"`{key}`" if value in {"None", ""} else f"`{key}={value}`"


def _bars(text: str) -> str:
    return text.replace("|", "\\|")
