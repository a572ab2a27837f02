"""What all pages share: the templates' environment, and a chart with its caption."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from unskew.display.names import clean

if TYPE_CHECKING:
    from jinja2 import Environment


@dataclass(frozen=True)
class Captioned:
    """A chart with its caption, as the sections of an audit show it."""

    title: str
    svg: Markup | None
    note: str = ""


def page_environment(filters: Mapping[str, Any], *packages: str) -> "Environment":
    """Templates that lie in these packages, and those of this one; what comes from data is escaped and must be there.

    Parameters
    ----------
    filters : mapping
    packages : str
        Where to look first.
    """
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    loader = ChoiceLoader([*(PackageLoader(package, ".") for package in packages), PackageLoader("unskew.display")])
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
