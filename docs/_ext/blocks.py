"""The Python blocks of a Markdown file, found and run."""

import re
import sys
import types
from pathlib import Path

_FENCE = re.compile(r"^(?P<fence>`{3,})(?P<info>[^\n`]*)\n(?P<body>.*?)^(?P=fence)[ ]*$", re.MULTILINE | re.DOTALL)


def fenced(text: str) -> list[tuple[str, str]]:
    """The info string and the body of each fenced block, in order."""
    return [(match["info"].strip(), match["body"]) for match in _FENCE.finditer(text)]


def run_blocks(path: Path) -> list[types.ModuleType]:
    """Run each ``python`` block of a file as a module of its own; an error names the block.

    Examples may define pieces with words of their own, so what they registered is taken out again.
    """
    from unskew.notation import Named

    made = []
    for number, (info, body) in enumerate(fenced(path.read_text(encoding="utf-8")), 1):
        if info != "python":
            continue
        families = {family: dict(family._members) for family in Named.__subclasses__()}
        lists = {family: {word: list(found) for word, found in known.items()} for family, known in families.items()}
        name = f"{path.stem.lower()}_{number}"
        module = types.ModuleType(name)
        sys.modules[name] = module  # dataclasses look their module up
        try:
            exec(compile(body, f"{path.name}, block {number}", "exec"), module.__dict__)  # noqa: S102
        finally:
            del sys.modules[name]
            for family, known in lists.items():
                family._members.clear()
                family._members.update(known)
        made.append(module)
    return made
