"""Find and run the Python blocks of a Markdown file."""

import re
import sys
import types
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_FENCE = re.compile(r"^(?P<fence>`{3,})(?P<info>[^\n`]*)\n(?P<body>.*?)^(?P=fence)[ ]*$", re.MULTILINE | re.DOTALL)


def fenced(text: str) -> list[tuple[str, str]]:
    """Return the info string and the body of each fenced block, in order."""
    return [(match["info"].strip(), match["body"]) for match in _FENCE.finditer(text)]


def run_blocks(path: Path) -> list[types.ModuleType]:
    """Run each ``python`` block of a file as its own module; an error names the block.

    Examples may define and register new words; these are removed again afterwards.
    """
    blocks = enumerate(fenced(path.read_text(encoding="utf-8")), 1)
    return [_run(body, f"{path.name}, block {number}") for number, (info, body) in blocks if info == "python"]


def _run(body: str, name: str) -> types.ModuleType:
    module = types.ModuleType(name)
    sys.modules[name] = module  # dataclasses look their module up
    with _registries_kept():
        try:
            exec(compile(body, name, "exec"), module.__dict__)
        finally:
            del sys.modules[name]
    return module


@contextmanager
def _registries_kept() -> Iterator[None]:
    from unskew.notation import Named

    kept = {
        family: {word: list(members) for word, members in family._members.items()}  # noqa: SLF001
        for family in Named.__subclasses__()
    }
    try:
        yield
    finally:
        for family, members in kept.items():
            family._members.clear()  # noqa: SLF001
            family._members.update(members)  # noqa: SLF001
