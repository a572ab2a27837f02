"""How a series looks, the same in charts and legends."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

COLOURS = 8  # series with a colour of their own
GREY = "var(--faint)"
_DASHES = ((1, 0), (6, 3), (2, 2), (9, 3, 2, 3))
_SHAPES = {
    "circle": "M4,0A4,4,0,1,1,-4,0A4,4,0,1,1,4,0Z",
    "square": "M-3.5,-3.5H3.5V3.5H-3.5Z",
    "diamond": "M0,-5L4.5,0L0,5L-4.5,0Z",
    "triangle-up": "M0,-4.5L4.5,3.5H-4.5Z",
}


@dataclass(frozen=True)
class Style:
    """How a series looks, in charts and in the legend; colours are variables of the page's style sheet."""

    name: str
    colour: str
    shape: str = "circle"
    hollow: bool = False
    dash: tuple[int, ...] = (1, 0)

    @property
    def fill(self) -> str:
        """Colour inside the point."""
        return "var(--paper)" if self.hollow else self.colour

    @property
    def path(self) -> str:
        """Outline of the point for the legend."""
        return _SHAPES[self.shape]

    @property
    def dashes(self) -> str:
        """The dash as an attribute of SVG; empty for a solid line."""
        return " ".join(map(str, self.dash)) if self.dash[1] else ""


def series_styles(names: Iterable[str], fixed: Mapping[str, Style] | None = None) -> dict[str, Style]:
    """The fixed styles where there are any; a colour and a dash for the first of the others, grey for the rest."""
    styles, coloured = {}, 0
    for name in names:
        if fixed and name in fixed:
            styles[name] = fixed[name]
            continue
        coloured_style = Style(name, f"var(--c{coloured + 1})", dash=_DASHES[coloured % len(_DASHES)])
        styles[name] = coloured_style if coloured < COLOURS else Style(name, GREY)
        coloured += 1
    return styles
