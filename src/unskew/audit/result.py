"""`Audit`: the audit of a log and of models, to print, as JSON or as a page."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unskew import __version__
from unskew.audit.error.result import ErrorAudit
from unskew.audit.lists import ModelAudit
from unskew.audit.popularity import LogAudit, Strata
from unskew.audit.strata import StratumEstimate
from unskew.data import Interactions
from unskew.data.writing import AsJson, saved
from unskew.errors import ConfigError, did_you_mean
from unskew.evaluation.record import fingerprints, versions
from unskew.evaluation.settings.settings import Settings

if TYPE_CHECKING:
    from unskew.display.chart import Charts


@dataclass(frozen=True, eq=False)
class Audit(AsJson):
    """How skewed a log is, and the recommendations of models trained on it.

    Printing it shows tables; `to_dict` gives the JSON, `to_html` the page.

    Parameters
    ----------
    log : LogAudit
        Of the whole log.
    strata : Strata
        Of the items, by the rows that models were trained on; by the whole log if that has one or two popularity
        levels, because more levels among the training rows would come from chance alone.
    models : tuple of ModelAudit
        In the order they were given.
    by_stratum : tuple of StratumEstimate
        Metrics over held-out rows; empty without a test or a model.
    warnings : tuple of str
    settings : Settings
    k : int
        Length of the lists.
    data : mapping
        Name to interactions: the log and the test, where one was given.
    split : str
        How rows were held out.
    described : mapping
        Model to its word, or to its class.
    ranks : mapping
        Model to the fingerprint of its ranks of the held-out rows.
    block_size : int or None
    counted_on : str
        The rows that the strata are counted on: ``training rows`` if some are held out, or ``rows``.
    error : ErrorAudit or None
        How wrong an evaluation on such a log can be, if that was asked for and the log is large enough.
    """

    log: LogAudit
    strata: Strata
    models: tuple[ModelAudit, ...]
    by_stratum: tuple[StratumEstimate, ...]
    warnings: tuple[str, ...]
    settings: Settings
    k: int
    data: Mapping[str, Interactions]
    split: str
    described: Mapping[str, str]
    ranks: Mapping[str, str]
    block_size: int | None
    counted_on: str
    error: ErrorAudit | None = None

    def __str__(self) -> str:
        from unskew.audit.showing.text import as_text

        return as_text(self)

    def __repr__(self) -> str:
        return f"Audit({self.log.rows:,} rows, {len(self.models)} models, {len(self.warnings)} warnings)"

    def _repr_html_(self) -> str:
        """What notebooks show: the headline, a chart of the log, tables and the warnings."""
        from unskew.audit.showing.audit_notebook import audit_html

        return audit_html(self)

    @cached_property
    def charts(self) -> "Charts":
        """The charts by name, to show or to save, as in ``audit.charts["lorenz"].save("lorenz.svg")``.

        ``rank``, ``levels`` and ``lorenz`` of the log; ``gamma MODEL`` of each model and ``places``; ``strata METRIC``;
        and ``errors METRIC, A - B`` and ``wrong winner METRIC, A - B`` where errors were simulated.
        """
        from unskew.audit.showing.page import audit_charts

        return audit_charts(self)

    def model(self, name: str) -> ModelAudit:
        """The audit of one model's recommendations."""
        for row in self.models:
            if row.model == name:
                return row
        raise ConfigError(f"no model {name!r} in this audit{did_you_mean(name, [row.model for row in self.models])}")

    def value(self, model: str, metric: str, stratum: str = "all") -> float | None:
        """A metric of a model over the held-out rows of a stratum, by words."""
        known = {f"{row.estimate.model} {row.estimate.metric} {row.stratum}": row for row in self.by_stratum}
        asked = f"{model} {metric} {stratum}"
        if asked not in known:
            raise ConfigError(f"no value {asked!r}{did_you_mean(asked, known)}")
        return known[asked].estimate.value

    @cached_property
    def run(self) -> dict[str, Any]:
        """Everything that decides the numbers, resolved; fingerprints are computed here."""
        settings = self.settings
        return {
            "data": fingerprints(self.data),
            "split": self.split,
            "models": dict(self.described),
            "ranks": dict(self.ranks),
            "metrics": [str(metric) for metric in settings.metrics],
            "estimators": [str(estimator) for estimator in settings.estimators],
            "k": self.k,
            "positive": settings.positive,
            "level": settings.level,
            "interval": str(settings.interval),
            "seed": settings.seed,
            "block_size": self.block_size,
            "versions": versions(),
        }

    def to_dict(self) -> dict[str, Any]:
        """The audit as plain data, as in the JSON file."""
        return {
            "unskew": __version__,
            "audit": {
                "log": self.log.to_dict(),
                "strata": self.strata.to_dict(),
                "models": [row.to_dict() for row in self.models],
                "by_stratum": [row.to_dict() for row in self.by_stratum],
                "error": None if self.error is None else self.error.to_dict(),
            },
            "run": self.run,
            "warnings": list(self.warnings),
        }

    def to_html(self, path: str | Path | None = None) -> str:
        """The page as text: one file that needs nothing else; written when a path is given."""
        from unskew.audit.showing.page import render_audit

        return saved(render_audit(self), path)
