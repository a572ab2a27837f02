"""`render_page`, and the figures and tables that templates use."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from markupsafe import Markup

from unskew import __version__
from unskew.display import numbers
from unskew.display.names import clean, shortened
from unskew.display.phrases import sentence


@dataclass(frozen=True)
class Figure:
    """A chart with its caption."""

    title: str
    svg: str | None  # escapes its own text; None if there is nothing to draw
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class MetricTable:
    """The rows of a table that belong to one metric."""

    metric: str
    definition: str
    rows: tuple[Any, ...]


def render_page(template: str, package: str, context: Mapping[str, Any], **filters: Callable[..., str]) -> str:
    """Fill a template that is in this package or in `display`.

    Text from the data is escaped, and a name that is missing from the context is an error. The filters come on top of
    those that all pages have.
    """
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=ChoiceLoader([PackageLoader(package, "."), PackageLoader("unskew.display")]),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_printable,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= _FILTERS | filters
    environment.globals |= {"interval": _typeset(numbers.interval), "one_or_both": numbers.one_or_both}
    return environment.get_template(template).render(context, version=__version__)


def _printable(value: Any) -> Any:
    """Keep characters that are not text out of the page, whichever expression they come from."""
    return clean(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _typeset(written: Callable[..., str]) -> Callable[..., str]:
    return lambda *values: numbers.minus(written(*values))


_FILTERS: dict[str, Callable[..., str]] = {
    "number": _typeset(numbers.number),
    "move": _typeset(partial(numbers.move, none="–")),
    "p": partial(numbers.p, none="–"),
    "count": "{:,}".format,
    "level": numbers.level,
    "percent": numbers.percent_or_dash,
    "percent_cell": numbers.percent_cell,
    "rough_percent": _typeset(numbers.rough_percent),
    "plain": numbers.plain,
    "shortened": shortened,
    "sentence": sentence,
    "json": partial(json.dumps, indent=2, ensure_ascii=False),
}
