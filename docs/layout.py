"""Tree of the package and picture of its layers, made from the sources.

``python docs/layout.py`` prints the tree as the architecture page shows it.
"""

import ast
import textwrap
import tomllib
from collections import defaultdict
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "unskew"
WIDTH, ROW, BOX, GAP = 760, 66, 30, 14
WRAP = 116


def tree() -> str:
    """Return each folder, top layer first, with the first line of its docstring and the names of its modules."""
    lines = ["src/unskew/", _line("__init__", _first_line(PACKAGE / "__init__.py"), 1)]
    for name in (name for layer in _layers("unskew") for name in layer.split(" | ")):
        module = PACKAGE / f"{name}.py"
        lines += [_line(name, _first_line(module), 1)] if module.exists() else _folder(PACKAGE / name, 1)
    return "\n".join(lines)


def layers_picture(container: str = "unskew") -> str:
    """Return the layers of an import contract as SVG, with an arrow for each import that no longer path implies."""
    rows = [layer.split(" | ") for layer in _layers(container)]
    rows = [kept for row in rows if (kept := [name for name in row if name != "__main__"])]
    level = {name: number for number, row in enumerate(rows) for name in row}
    edges = _imports(container, set(level))
    down = {(a, b) for a, b in edges if level[a] < level[b]}
    places = {}
    for number, row in enumerate(rows):
        width = (WIDTH - GAP * (len(row) + 1)) / max(len(row), 3)
        start = (WIDTH - len(row) * width - GAP * (len(row) - 1)) / 2
        for place, name in enumerate(row):
            places[name] = (start + place * (width + GAP), number * ROW + 8, width)
    height, spoken = len(rows) * ROW, "; ".join(" and ".join(row) for row in rows)
    parts = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="100%" role="img" '
            f'aria-label="Layers of {container}, from top to bottom: {escape(spoken)}" '
            'font-family="sans-serif" font-size="13" fill="currentColor">'
        ),
        (
            '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="6" markerHeight="6" orient="auto">'
            '<path d="M0,0L8,4L0,8Z" fill="currentColor" opacity="0.55"/></marker></defs>'
        ),
    ]
    for above, below in sorted(edges - down):  # a result that renders itself, when asked
        (x, y, w), (u, v, t) = places[above], places[below]
        a, b, c, d = x + w, y + BOX / 2, u + t, v + BOX / 2
        parts.append(
            f'<path d="M{a:.0f},{b:.0f}C{a + 70:.0f},{b:.0f} {c + 70:.0f},{d:.0f} {c:.0f},{d:.0f}" fill="none" '
            f'stroke="currentColor" stroke-opacity="0.45" stroke-dasharray="4 3" marker-end="url(#tip)">'
            f"<title>{above} imports {below} when asked</title></path>"
        )
    for above, below in sorted(_reduced(down)):
        (x, y, w), (u, v, t) = places[above], places[below]
        a, b, c, d = x + w / 2, y + BOX, u + t / 2, v
        parts.append(
            f'<path d="M{a:.0f},{b:.0f}C{a:.0f},{b + 24:.0f} {c:.0f},{d - 24:.0f} {c:.0f},{d:.0f}" fill="none" '
            f'stroke="currentColor" stroke-opacity="0.45" marker-end="url(#tip)"><title>{above} imports {below}</title>'
            "</path>"
        )
    for name, (x, y, w) in places.items():
        parts.append(
            f'<rect x="{x:.0f}" y="{y}" width="{w:.0f}" height="{BOX}" rx="5" fill="var(--color-background-primary, '
            f'white)" stroke="currentColor"/><text x="{x + w / 2:.0f}" y="{y + 20}" text-anchor="middle">{name}</text>'
        )
    return "".join([*parts, "</svg>"])


def _folder(folder: Path, depth: int) -> list[str]:
    lines = [_line(f"{folder.name}/", _first_line(folder / "__init__.py"), depth)]
    names = [path.stem for path in sorted(folder.glob("*.py")) if path.stem != "__init__"]
    row = ""
    for name in names:
        longer = f"{row} · {name}" if row else name
        if 2 * depth + 2 + len(longer) > WRAP:
            lines.append("  " * (depth + 1) + row)
            longer = name
        row = longer
    if row:
        lines.append("  " * (depth + 1) + row)
    inside = {inner.name for inner in folder.iterdir() if (inner / "__init__.py").exists()}
    order = list(reversed(_layers("unskew.evaluation"))) if folder.name == "evaluation" else sorted(inside)
    for name in order:
        if name in inside:
            lines += _folder(folder / name, depth + 1)
    return lines


def _line(name: str, text: str, depth: int) -> str:
    start = f"{'  ' * depth}{name:<{20 - 2 * depth}}  "
    return textwrap.fill(text, 120, initial_indent=start, subsequent_indent=" " * len(start), break_long_words=False)


def _first_line(module: Path) -> str:
    text = ast.get_docstring(ast.parse(module.read_text(encoding="utf-8"))) or ""
    return text.split("\n", 1)[0].rstrip(".")


def _layers(container: str) -> list[str]:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    return next(each["layers"] for each in contracts if each.get("containers") == [container])


def _imports(container: str, names: set[str]) -> set[tuple[str, str]]:
    """Return pairs (importing part, imported part) of a container, lazy imports included, type checking excluded."""
    home = ROOT / "src" / Path(*container.split("."))
    pairs = set()
    for path in home.rglob("*.py"):
        part = path.relative_to(home).parts[0].removesuffix(".py")
        for module in _imported(ast.parse(path.read_text(encoding="utf-8"))):
            inside = module.removeprefix(f"{container}.").split(".")[0]
            if module.startswith(f"{container}.") and {part, inside} <= names and part != inside:
                pairs.add((part, inside))
    return pairs


def _imported(tree: ast.AST) -> list[str]:
    modules = []
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        if isinstance(node, ast.ImportFrom) and node.module:
            modules += [node.module, *(f"{node.module}.{name.name}" for name in node.names)]
        elif isinstance(node, ast.Import):
            modules += [name.name for name in node.names]
        modules += _imported(node)
    return modules


def _reduced(edges: set[tuple[str, str]]) -> set[tuple[str, str]]:
    """Return the edges without those that a longer path implies."""
    below = defaultdict(set)
    for a, b in edges:
        below[a].add(b)

    def reach(start: str, seen: set[str]) -> set[str]:
        for name in below[start] - seen:
            seen.add(name)
            reach(name, seen)
        return seen

    return {(a, b) for a, b in edges if not any(b in reach(c, set()) for c in below[a] - {b})}


if __name__ == "__main__":
    print(tree())
