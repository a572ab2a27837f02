"""`WindowsReport`: the estimates of several test windows, their means, and whether the order of the models turns."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from unskew import __version__
from unskew.data.time.clock import Clock
from unskew.data.writing import AsJson, saved
from unskew.errors import ConfigError, did_you_mean
from unskew.estimators import Estimate
from unskew.evaluation.checking import find_warnings
from unskew.evaluation.report import Report

if TYPE_CHECKING:
    from pathlib import Path

    import polars as pl


ENOUGH = 4  # windows from which the variance over windows is at least roughly known
FEW_WINDOWS = "with {n} windows the error over windows is hardly known; use four or more"


@dataclass(frozen=True)
class WindowEstimate:
    """One metric of one model by one estimator: the mean over windows, and the value of each window.

    `users_error` is the standard error over users, `windows_error` that over windows; `std_error` and the interval have
    both. A window counts as much as any other, whatever its number of rows.
    """

    model: str
    metric: str
    estimator: str
    target: str
    value: float | None
    std_error: float | None
    low: float | None
    high: float | None
    level: float
    users_error: float | None
    windows_error: float | None
    values: tuple[float | None, ...]
    users: tuple[int, ...]

    def to_dict(self) -> dict[str, Any]:
        """As in the JSON."""
        return {**asdict(self), "values": list(self.values), "users": list(self.users)}


@dataclass(frozen=True)
class WindowComparison:
    """The difference of two models, `a - b`: the mean over windows, and that of each window, on the same users.

    `better` is the number of windows in which `a` is better. `turns` says whether each of the two is better in some
    window; `turn_shown` whether each is better by more than chance in some window, with Holm's correction over all
    pairs and windows of the metric and estimator.
    """

    metric: str
    estimator: str
    a: str
    b: str
    difference: float | None
    std_error: float | None
    low: float | None
    high: float | None
    p_value: float | None
    p_value_holm: float | None
    users_error: float | None
    windows_error: float | None
    differences: tuple[float | None, ...]
    better: int
    turns: bool
    turn_shown: bool

    def to_dict(self) -> dict[str, Any]:
        """As in the JSON."""
        return {**asdict(self), "differences": list(self.differences)}


@dataclass(frozen=True)
class WindowOrder:
    """The models from best to worst, over all windows and in each."""

    metric: str
    estimator: str
    over_all: tuple[str, ...]
    by_window: tuple[tuple[str, ...], ...]

    @property
    def turns(self) -> bool:
        """Whether some window has another order than the mean."""
        return any(order != self.over_all for order in self.by_window)

    @property
    def first(self) -> Mapping[str, int]:
        """In how many windows each model is first, most windows first."""
        winners = [order[0] for order in self.by_window if order]
        counts = {name: winners.count(name) for name in self.over_all if name in winners}
        return dict(sorted(counts.items(), key=lambda item: -item[1]))

    def to_dict(self) -> dict[str, Any]:
        """As in the JSON."""
        orders = [list(order) for order in self.by_window]
        return {
            **asdict(self),
            "over_all": list(self.over_all),
            "by_window": orders,
            "first": dict(self.first),
            "turns": self.turns,
        }


@dataclass(frozen=True, eq=False)
class WindowsReport(AsJson):
    """The reports of several test windows, and one over all of them.

    Printing it shows tables; `to_dict` gives the JSON, `to_html` the page.

    Parameters
    ----------
    reports : mapping
        Name of a window to its `Report`, the earliest first.
    estimates : tuple of WindowEstimate
    comparisons : tuple of WindowComparison
    orders : tuple of WindowOrder
    """

    reports: Mapping[str, Report]
    estimates: tuple[WindowEstimate, ...]
    comparisons: tuple[WindowComparison, ...]
    orders: tuple[WindowOrder, ...]

    def __str__(self) -> str:
        from unskew.display.text_table import plain_text
        from unskew.evaluation.windows.showing import print_all

        return plain_text(lambda console: print_all(self, console), 120)

    def __repr__(self) -> str:
        return f"WindowsReport({len(self.reports)} windows, {len(self.estimates)} estimates)"

    @property
    def model_names(self) -> list[str]:
        """The names of the models."""
        return list(next(iter(self.reports.values())).models)

    def estimate(self, model: str, metric: str, estimator: str) -> WindowEstimate:
        """The estimate of a model over all windows, by the words that the report prints."""
        for row in self.estimates:
            if (row.model, row.metric, row.estimator) == (model, metric, estimator):
                return row
        known = [f"{row.model} {row.metric} {row.estimator}" for row in self.estimates]
        asked = f"{model} {metric} {estimator}"
        raise ConfigError(f"no estimate {asked!r}{did_you_mean(asked, known)}")

    @cached_property
    def baselines(self) -> tuple[WindowEstimate, ...]:
        """The means over windows of the baselines that all windows have, with the error over windows alone.

        They are not models of the run, so they are in no sentence, comparison or order.
        """
        by_window = [
            {
                (row.metric, row.estimator, row.model): row
                for row in (each.baselines.estimates if each.baselines else ())
            }
            for each in self.reports.values()
        ]
        return tuple(_mean_of([rows[key] for rows in by_window]) for key in by_window[0] if _in_all(key, by_window))

    def rows_with_baselines(self) -> Iterator[tuple[WindowEstimate, bool]]:
        """Yield the estimates, and below those of each metric and estimator the baselines, with whether it is one."""
        below: dict[tuple[str, str], list[WindowEstimate]] = {}
        for row in self.baselines:
            below.setdefault((row.metric, row.estimator), []).append(row)
        for place, row in enumerate(self.estimates):
            yield row, False
            key, after = (row.metric, row.estimator), self.estimates[place + 1 : place + 2]
            if not after or (after[0].metric, after[0].estimator) != key:
                yield from ((baseline, True) for baseline in below.get(key, []))

    @property
    def sentences(self) -> list[str]:
        """For each metric and estimator, who is first in how many windows, and what the mean over windows says."""
        from unskew.evaluation.windows.showing import describe

        return describe(self)

    @cached_property
    def warnings(self) -> tuple[str, ...]:
        """The warnings of the windows, one of a kind, with the windows that it is about."""
        by_check: dict[str, list[tuple[str, str]]] = {}
        for name, report in self.reports.items():
            for check, text in find_warnings(report):
                by_check.setdefault(check.name, []).append((name, text))
        lines = [FEW_WINDOWS.format(n=len(self.reports))] if len(self.reports) < ENOUGH else []
        for pairs in by_check.values():
            texts = dict.fromkeys(text for _, text in pairs)
            windows = list(dict.fromkeys(name for name, _ in pairs))
            if len(texts) == 1 and len(windows) == len(self.reports):
                lines.append(pairs[0][1])
                continue
            rest = f" (similar in {len(windows) - 1} more of {len(self.reports)} windows)" if len(windows) > 1 else ""
            lines += [f"{name}: {text}{rest}" for name, text in pairs if name == windows[0]]
        return tuple(lines)

    @property
    def dropped_share(self) -> float:
        """The largest share of test rows that are not judged in a window."""
        return max(report.dropped_share for report in self.reports.values())

    def to_dict(self) -> dict[str, Any]:
        """The run as plain data, as in the JSON file; each window has its whole report."""
        return {
            "unskew": __version__,
            "estimates": [row.to_dict() for row in self.estimates],
            "baselines": [row.to_dict() for row in self.baselines],
            "comparisons": [row.to_dict() for row in self.comparisons],
            "orders": [row.to_dict() for row in self.orders],
            "sentences": self.sentences,
            "warnings": list(self.warnings),
            "windows": [
                {"window": name, **span_of(report), "report": report.to_dict()} for name, report in self.reports.items()
            ],
        }

    def to_polars(self) -> "pl.DataFrame":
        """The value of every window as a frame: window, model, metric, estimator, value and its interval."""
        import polars as pl

        rows = [{"window": name, **row.to_dict()} for name, report in self.reports.items() for row in report.estimates]
        return pl.DataFrame(rows, infer_schema_length=None)

    def to_html(self, path: "str | Path | None" = None) -> str:
        """The page as text: one file that needs nothing else; written when a path is given."""
        from unskew.evaluation.windows.page import render_windows

        return saved(render_windows(self), path)

    def to_markdown(self, path: "str | Path | None" = None) -> str:
        """The sentences, the tables and the warnings as Markdown, as for a pull request."""
        from unskew.evaluation.windows.exports import as_markdown

        return saved(as_markdown(self), path)

    def to_latex(self, path: "str | Path | None" = None) -> str:
        """The tables as ``tabular`` of LaTeX: means, differences and windows; they need the package booktabs."""
        from unskew.evaluation.windows.exports import as_latex

        return saved(as_latex(self), path)

    def to_csv(self, path: "str | Path | None" = None) -> str:
        """The means over windows as CSV, a line each, with the value and the users of each window.

        Texts that a spreadsheet would compute are treated as by `Report.to_csv`.
        """
        from unskew.evaluation.windows.exports import as_csv

        return saved(as_csv(self), path)

    def _repr_html_(self) -> str:
        """The view of notebooks: the verdict, the chart over the windows, the tables and the warnings."""
        from unskew.evaluation.windows.exports import notebook_html

        return notebook_html(self)


def _in_all(key: tuple[str, str, str], by_window: Sequence[Mapping[tuple[str, str, str], Estimate]]) -> bool:
    return all(key in rows and rows[key].value is not None for rows in by_window)


def _mean_of(rows: Sequence[Estimate]) -> WindowEstimate:
    """The mean of one baseline's values over windows."""
    values = [row.value for row in rows if row.value is not None]
    mean = sum(values) / len(values)
    spread = sum((value - mean) ** 2 for value in values) / max(len(values) - 1, 1)
    error = (spread / len(values)) ** 0.5 if len(values) > 1 else None
    first = rows[0]
    return WindowEstimate(
        model=first.model,
        metric=first.metric,
        estimator=first.estimator,
        target=first.target,
        value=mean,
        std_error=None,
        low=None,
        high=None,
        level=first.level,
        users_error=None,
        windows_error=error,
        values=tuple(values),
        users=tuple(row.users for row in rows),
    )


def span_of(report: Report) -> dict[str, Any]:
    """Number of rows of a window, and its first and last moment; None without times."""
    split = report.inputs.split
    times = split.test.times
    moments: dict[str, Any] = {"first": None, "last": None}
    if times is not None and len(times):
        clock = Clock.of(times)
        moments = {"first": clock.show(float(times.min())), "last": clock.show(float(times.max()))}
    return {"train_rows": len(split.train), "test_rows": len(split.test), **moments}
