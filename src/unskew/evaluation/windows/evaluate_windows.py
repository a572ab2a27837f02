"""`evaluate_windows`: judge models on several splits, one after another in time, and report on all of them."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from unskew.data import Split
from unskew.data.time.windows import window_names
from unskew.errors import ConfigError, DataError, Option
from unskew.evaluation.evaluate import evaluate
from unskew.evaluation.windows.averaging import average_windows
from unskew.evaluation.windows.result import WindowsReport
from unskew.progress import Stage, prefixed

if TYPE_CHECKING:
    from unskew.evaluation.report import Report

Models: TypeAlias = "Mapping[str, Any] | Sequence[Mapping[str, Any]] | Callable[[Split], Mapping[str, Any]]"
"""Models of all windows, or of each window."""
MANY = 999  # windows of a generator, whose number is not known


def evaluate_windows(
    models: Models,
    splits: Iterable[Split] | Mapping[str, Split] | Iterable[tuple[str, Split]],
    *,
    progress: Stage | None = None,
    **options: Any,
) -> WindowsReport:
    """Judge models on each of several splits, and report the mean over windows with both kinds of error.

    Parameters
    ----------
    models : mapping, sequence of mappings or callable
        As in `evaluate`. Words such as ``als`` are trained on the train of each window. A model that is already trained
        is judged in every window, so it must know nothing of their tests. Give a sequence with the models of each
        window, or a function of a split that returns them, if you train them yourself.
    splits : iterable or mapping
        Splits, such as those of `rolling`; with names if it is a mapping, or has pairs of name and split. They are used
        one at a time, so a generator need not hold all of them in memory.
    progress : callable, optional
        As in `evaluate`; the stages of a window begin with its name.
    **options
        As in `evaluate`. Without `estimators` and `propensity`, the propensity is the test's own column or
        ``popularity``, so that ``auto`` is ``snips`` in every window and not another estimator in each. Seeds are not
        grouped: the means over windows are of entries.

    Returns
    -------
    WindowsReport

    Examples
    --------
    >>> import numpy as np
    >>> from unskew import Interactions
    >>> from unskew.data import rolling
    >>> rng = np.random.default_rng(0)
    >>> log = Interactions.from_arrays(rng.integers(0, 40, 900), rng.integers(0, 30, 900), times=np.arange(900))
    >>> report = evaluate_windows({"popular": "popular"}, rolling(log, 3, 100), metrics=["recall@5"])
    >>> len(report.reports), report.estimates[0].estimator
    (3, 'aoa(per=pair)')
    """
    for name in ("until", "work", "memory"):
        if options.get(name) is not None:
            raise ConfigError(f"{Option(name)} is for one split, not for several windows; leave it out")
    reports: dict[str, Report] = {}
    given = list(models) if isinstance(models, list | tuple) else None
    if given is None and not isinstance(models, Mapping) and not callable(models):
        raise DataError(
            "models must be a mapping of name to model, a list of such mappings or a function of a split, not "
            f"{type(models).__name__}"
        )
    for place, (name, split) in enumerate(_named(splits)):
        if name in reports:
            raise ConfigError(f"two windows are called {name!r}; give one another name")
        if given is not None and place >= len(given):
            raise ConfigError(f"{len(given)} mappings of models for more windows; give one per window")
        of_window: Any = models if given is None else given[place]
        if given is None and not isinstance(models, Mapping):
            of_window = of_window(split)
        settled = {"group_seeds": False, **_settled(options, split)}  # means over windows are of entries
        reports[name] = evaluate(of_window, split, progress=prefixed(progress, name), **settled)
    if not reports:
        raise DataError(f"there are no windows to evaluate; make some with {Option('rolling', '4x7d', 'split')}")
    if given is not None and len(given) > len(reports):
        raise ConfigError(f"{len(given)} mappings of models for {len(reports)} windows; give one per window")
    return average_windows(reports)


def _settled(options: dict[str, Any], split: Split) -> dict[str, Any]:
    """The options with a propensity, where ``auto`` would otherwise choose by the data of the window."""
    if options.get("estimators") is not None or options.get("propensity") is not None:
        return options
    if not isinstance(split, Split) or split.test.propensity is not None:
        return options
    return {**options, "propensity": "popularity"}


def _named(splits: Any) -> Iterator[tuple[str, Split]]:
    """Yield the name and the split of each window; windows without names are numbered."""
    if isinstance(splits, Split):
        raise DataError("expected several splits, got one; use evaluate for it, or rolling to make windows")
    if isinstance(splits, Mapping):
        yield from splits.items()
        return
    number = len(splits) if isinstance(splits, Sequence) else MANY
    for name, each in zip(window_names(number), splits, strict=False):
        yield each if isinstance(each, tuple) else (name, each)
