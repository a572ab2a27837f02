"""`render_page`, and the figures and tables that templates use."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from markupsafe import Markup

from unskew import __version__
from unskew.display import numbers
from unskew.display.chart import Chart, Charts
from unskew.display.names import clean, shortened
from unskew.display.phrases import sentence


@dataclass(frozen=True)
class Figure:
    """A chart with its caption."""

    title: str
    svg: str | None  # escapes its own text; None if there is nothing to draw
    notes: tuple[str, ...] = ()

    def chart(self, title: str = "", note: str = "") -> Chart | None:
        """The chart outside the page; None if there is nothing to draw."""
        drawn: Chart | None = getattr(self.svg, "chart", None)
        return None if drawn is None else drawn.titled(title or self.title, note)


@dataclass(frozen=True)
class MetricTable:
    """The rows of a table that belong to one metric."""

    metric: str
    definition: str
    rows: tuple[Any, ...]


def gallery(figures: Mapping[str, tuple[Figure, str, str]]) -> Charts:
    """The charts of figures that were drawn, by name, each with a title and a note."""
    charts = {name: figure.chart(title, note) for name, (figure, title, note) in figures.items()}
    return Charts({name: chart for name, chart in charts.items() if chart is not None})


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
