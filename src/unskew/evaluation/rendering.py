"""What all pages and printed tables share."""

import io
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from unskew.evaluation.names import clean

if TYPE_CHECKING:
    from jinja2 import Environment
    from rich.console import Console


def page_environment(filters: Mapping[str, Any], *packages: str) -> "Environment":
    """Templates of these packages, and of this one for the looks; what comes from data is escaped and must be there.

    Parameters
    ----------
    filters : mapping
    packages : str
        Where to look first.
    """
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    loader = ChoiceLoader([PackageLoader(package) for package in (*packages, "unskew.evaluation")])
    environment = Environment(
        loader=loader,
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_printable,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= filters
    return environment


def _printable(value: Any) -> Any:
    """Keep out of the page what is no text, whichever expression it comes from."""
    return clean(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def as_markup(svg: str | None) -> Markup | None:
    """A chart as it is; charts escape their own text."""
    return None if svg is None else Markup(svg)  # noqa: S704


def plain_text(draw: "Callable[[Console], None]", width: int) -> str:
    """What is drawn on a console of that width, as text without colours."""
    from rich.console import Console

    stream = io.StringIO()
    draw(Console(file=stream, width=width, color_system=None, force_terminal=False, force_jupyter=False))
    return stream.getvalue().rstrip("\n")
