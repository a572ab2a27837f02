"""How a series looks, the same in charts and legends."""

from collections.abc import Sequence
from dataclasses import dataclass

COLOURS = 8  # models with a colour of their own
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


def model_styles(models: Sequence[str]) -> dict[str, Style]:
    """A colour and a dash for each of the first models, grey for the rest."""
    return {
        model: Style(model, f"var(--c{k + 1})", dash=_DASHES[k % len(_DASHES)])
        if k < COLOURS
        else Style(model, "var(--faint)")
        for k, model in enumerate(models)
    }
