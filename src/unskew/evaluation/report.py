"""`Report`: the estimates, comparisons and warnings of a run, with everything they come from."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from unskew.data.writing import AsJson, saved
from unskew.errors import ConfigError, UnskewError, did_you_mean
from unskew.estimators import OVER_ALL_PAIRS, Comparison, Estimate, Estimator
from unskew.evaluation.anytime import Stop
from unskew.evaluation.collecting.samples import Samples
from unskew.evaluation.estimating.baselines import DESCRIBED, Baselines, judge_baselines
from unskew.evaluation.estimating.best_models import Answer, find_answers
from unskew.evaluation.estimating.common_users import judge_common_users
from unskew.evaluation.estimating.estimate import Estimated
from unskew.evaluation.estimating.gamma_band import GammaBand
from unskew.evaluation.estimating.gamma_sweep import Sweep, sweep_report
from unskew.evaluation.estimating.judged_models import JudgedModels
from unskew.evaluation.estimating.naive_twin import missing_twins
from unskew.evaluation.estimating.propensity_sum import check_propensity
from unskew.evaluation.estimating.tally import Tally, tally_report
from unskew.evaluation.fitting.automatic import AutoChoice
from unskew.evaluation.fitting.models import Contenders
from unskew.evaluation.fitting.propensities import Propensities
from unskew.evaluation.record import record, record_run
from unskew.evaluation.run import Run
from unskew.evaluation.settings.settings import Settings
from unskew.metrics import AnyMetric, parse_metric
from unskew.propensities import Diagnostics

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd
    import polars as pl

    from unskew.display.chart import Charts
    from unskew.evaluation.comparing.changes import Changes
    from unskew.evaluation.gating.decision import Gate
    from unskew.evaluation.partitioned.merging import Merged
    from unskew.evaluation.showing.verdict import Verdict
    from unskew.evaluation.slicing import Grouping, Slices


@dataclass(frozen=True, eq=False)
class Report(AsJson):
    """Estimates, comparisons and warnings of one run, with everything that decided them.

    Printing it shows a table; `to_dict` gives the JSON, `to_html` the page.

    Parameters
    ----------
    inputs : Run
        The data and the settings.
    contenders : Contenders
        The models, ready to be judged.
    propensities : Propensities
    samples : Samples
        The judged rows, ranked and predicted.
    estimated : Estimated
        The numbers.
    warnings : tuple of str
    against : Changes or None
        The differences from an earlier run, if one was named.
    chosen : AutoChoice or None
        What ``auto`` is on this log, and why, if it was asked for.
    stop : Stop or None
        Where ranking stopped, if it was asked to stop early.
    merged : Merged or None
        The sums of all parts, if the data were read part by part; there are no rows then.
    shows_baselines : bool
        Whether `baselines` are judged.
    sliced : tuple of Slices
        The estimates by group that were asked for.
    groups_seeds : bool
        Whether entries such as ``als/seed0`` and ``als/seed1`` are judged as one model.
    """

    inputs: Run
    contenders: Contenders
    propensities: Propensities
    samples: Samples
    estimated: Estimated
    warnings: tuple[str, ...] = ()
    against: "Changes | None" = None
    chosen: AutoChoice | None = None
    stop: Stop | None = None
    merged: "Merged | None" = None
    shows_baselines: bool = False
    sliced: "tuple[Slices, ...]" = ()
    groups_seeds: bool = True

    def __str__(self) -> str:
        from unskew.evaluation.showing.text import as_text

        return as_text(self)

    def __repr__(self) -> str:
        return (
            f"Report({len(self.judged.members)} models, {len(self.estimates)} estimates, {len(self.warnings)} warnings)"
        )

    def _repr_html_(self) -> str:
        """What notebooks show: the verdict, the chart of the first metric, a table and the warnings."""
        from unskew.evaluation.showing.report_notebook import notebook_html

        return notebook_html(self)

    @cached_property
    def charts(self) -> "Charts":
        """The charts by name, to show or to save, as in ``report.charts["sweep"].save("sweep.svg")``.

        ``estimates METRIC`` and ``sweep METRIC`` for each metric, ``estimates`` and ``sweep`` for the first one, and
        ``weights``, ``ratings``, ``popularity`` and ``tenths`` where there is something to draw.
        """
        from unskew.evaluation.showing.report_charts import report_charts

        return report_charts(self)

    def estimate(self, model: str, metric: str | AnyMetric, estimator: str | Estimator) -> Estimate:
        """The estimate of a model, by words in any spelling that `evaluate` takes, or by objects."""
        words = model, _printed(metric, parse_metric), _printed(estimator, Estimator.from_word)
        named = self.baselines.estimates if model in DESCRIBED and self.baselines is not None else ()
        rows = (*self.estimates, *(self.judged.estimates if model in self.judged.several else ()))
        for row in (*rows, *named):
            if (row.model, row.metric, row.estimator) == words:
                return row
        known = [f"{row.model} {row.metric} {row.estimator}" for row in rows]
        asked = f"{model} {metric} {estimator}"
        raise ConfigError(f"no estimate {asked!r}{did_you_mean(asked, known)}")

    def value(self, model: str, metric: str | AnyMetric, estimator: str | Estimator) -> float | None:
        """The value of an estimate, named as in `estimate`."""
        return self.estimate(model, metric, estimator).value

    @property
    def estimates(self) -> tuple[Estimate, ...]:
        """Every metric of every model by every estimator."""
        return self.estimated.estimates

    @property
    def comparisons(self) -> tuple[Comparison, ...]:
        """The differences between every two models."""
        return self.estimated.comparisons

    @property
    def band(self) -> GammaBand | None:
        """Every weighted estimate at each gamma that may be assumed; None if no estimate depends on gamma."""
        return self.estimated.band

    @property
    def only_ratings(self) -> bool:
        """Whether all metrics are over all pairs, so that the judged rows are those with a rating."""
        return all(metric.kind in OVER_ALL_PAIRS for metric in self.settings.metrics)

    @property
    def settings(self) -> Settings:
        """The resolved settings."""
        return self.inputs.settings

    @property
    def kernels(self) -> tuple[str, ...]:
        """Kernels of the matrix product on the nodes of a cluster that scored users; empty without a cluster."""
        return tuple(sorted(getattr(self.inputs.engine, "kernels", ())))

    @property
    def models(self) -> Mapping[str, str]:
        """The word or class of each model."""
        return self.contenders.described

    @cached_property
    def dropped_share(self) -> float:
        """Share of the test rows that are not judged: of the positive ones, for metrics over positives."""
        return 1 - self.tally.judged / self.tally.asked if self.tally.asked else 0.0

    @cached_property
    def tally(self) -> Tally:
        """The numbers of rows, users and items that warnings and the record need."""
        return tally_report(self) if self.merged is None else self.merged.tally

    @cached_property
    def twins(self) -> Estimated:
        """Naive estimates on the targets of the corrected ones, if they were not asked for."""
        if self.merged is not None:
            return self.merged.twins()
        return missing_twins(self.settings, self.samples, self.propensities)

    @cached_property
    def answers(self) -> tuple[Answer, ...]:
        """The answer of each metric: which models may be best, and how far that depends on the assumed gamma."""
        return find_answers(self)

    @cached_property
    def judged(self) -> JudgedModels:
        """The models that the verdict is about: the entries, or the means of those that differ in their seed only."""
        return JudgedModels(self)

    @property
    def seeds(self) -> JudgedModels | None:
        """The same if some model has several seeds, such as ``als/seed0`` and ``als/seed1``; None otherwise."""
        return self.judged if self.judged.several else None

    @cached_property
    def baselines(self) -> Baselines | None:
        """``popular`` and ``random`` on the same users and candidates, judged when asked for; None without them."""
        return judge_baselines(self) if self.shows_baselines else None

    @cached_property
    def on_common_users(self) -> "Report | None":
        """The report on the users whom all models know; None if all models know the same users."""
        if self.merged is None:
            return judge_common_users(self)
        common = self.merged.on_common_users()
        if common is None:
            return None
        inputs = replace(self.inputs, settings=common.settings)
        return replace(self, inputs=inputs, estimated=common.estimated(), warnings=(), merged=common)

    @cached_property
    def verdict(self) -> "Verdict":
        """The verdict in sentences, the same in Python, JSON, terminal, notebook and page."""
        from unskew.evaluation.showing.verdict import judge

        return judge(self)

    @cached_property
    def diagnostics(self) -> Diagnostics | None:
        """Diagnostics of the propensities; None if no estimate uses them, or if they are all the same."""
        if self.merged is not None:
            return self.merged.diagnostics
        return check_propensity(self.settings, self.samples, self.propensities)

    @cached_property
    def run(self) -> dict[str, Any]:
        """Everything that decides the numbers, resolved; fingerprints are computed here, not while evaluating."""
        return record_run(self)

    @cached_property
    def sweeps(self) -> list[Sweep]:
        """For each mean metric, ``snips`` over gamma from -1 (no correction) to 3."""
        return sweep_report(self)

    def by(self, groups: "Grouping | Any", column: str | None = None) -> "Slices":
        """Every estimate by group, with intervals, shrunken values, and the groups where the order of models turns.

        Parameters
        ----------
        groups : str, frame or Grouping
            ``popularity`` for three strata of items; ``test:day``, ``test:week`` or ``test:month`` for the time of the
            test rows; or a table with a column ``user`` or ``item`` and one of labels.
        column : str, optional
            The column of labels of a table, if it has several.
        """
        from unskew.evaluation.slicing.groups import grouping_of
        from unskew.evaluation.slicing.slices import slices

        return slices(self, grouping_of(self.inputs.split, groups, column))

    def gate(
        self,
        new: str,
        old: str,
        *,
        metric: str | AnyMetric | None = None,
        margin: float = 0.0,
        require: str = "band",
        strict: bool = False,
    ) -> "Gate":
        """Decide whether a new model may replace an old one: ship, hold or reject; see `unskew.evaluation.gate`."""
        from unskew.evaluation.gating.decision import gate

        return gate(self, new, old, metric=metric, margin=margin, require=require, strict=strict)

    def to_dict(self) -> dict[str, Any]:
        """The run as plain data, as in the JSON file."""
        return record(self)

    def to_polars(self) -> "pl.DataFrame":
        """The estimates as a polars frame."""
        import polars as pl

        return pl.DataFrame([row.to_dict() for row in self.estimates], infer_schema_length=None)

    def to_pandas(self) -> "pd.DataFrame":
        """The estimates as a pandas frame."""
        try:
            import pandas as pd
        except ModuleNotFoundError:
            raise ConfigError("to_pandas needs pandas, which is not installed; pip install pandas") from None

        return pd.DataFrame([row.to_dict() for row in self.estimates])

    def per_user(
        self, metric: str | AnyMetric | None = None, estimator: str | Estimator | None = None
    ) -> "pl.DataFrame":
        r"""The value and the weight of each user, as a polars frame: user, model, metric, estimator, value, weight.

        The mean of the values with these weights is the estimate (for a root such as ``rmse``, its square). The weight
        is 1 for a mean over users; it is the sum of the user's weights :math:`1/P` for ``snips``, and the number of
        rows for ``aoa(per=pair)``. A user without weight has no value. Users are named as in the files.

        Parameters
        ----------
        metric, estimator : str, Metric or Estimator, optional
            All of the report by default.

        Raises
        ------
        ConfigError
            If an estimate is not a weighted mean over users: with imputation, and where data were read part by part.
        """
        from unskew.evaluation.estimating.user_values import user_values

        words = (
            None if metric is None else _printed(metric, parse_metric),
            None if estimator is None else _printed(estimator, Estimator.from_word),
        )
        return user_values(self, *words)

    def log_mlflow(self, run: Any = None, *, prefix: str = "") -> str:
        """Write the report to a run of MLflow, and return the id of the run.

        Value, low, high and standard error of each estimate are metrics, named by
        `unskew.integrations.tracker_name`; the settings are parameters under ``unskew/``, the verdict is
        a tag, and the JSON and the page are artifacts.

        Parameters
        ----------
        run : str or mlflow.entities.Run, optional
            By default the active run; without one, a run is started and ended.
        prefix : str
            What all names begin with, as in ``offline/``.

        Raises
        ------
        ConfigError
            If MLflow is not installed.
        DataError
            If it cannot write.
        """
        from unskew.evaluation.showing.tracking import track
        from unskew.integrations.trackers import log_mlflow

        return log_mlflow(track(self, prefix), run, folder=prefix)

    def log_wandb(self, run: Any = None, *, prefix: str = "") -> Any:
        """Write the report to a run of Weights & Biases, and return the run.

        Names, `prefix` and errors are those of `log_mlflow`. Settings are in the config, the verdict is in the summary,
        and an artifact of type ``evaluation`` has the JSON and the page. By default `run` is the one that
        ``wandb.init`` started.
        """
        from unskew.evaluation.showing.tracking import track
        from unskew.integrations.trackers import log_wandb

        return log_wandb(track(self, prefix), run)

    def to_markdown(self, path: "str | Path | None" = None) -> str:
        """The verdict, a table per metric and the warnings as Markdown, as for a pull request."""
        from unskew.evaluation.showing.exports import as_markdown

        return saved(as_markdown(self), path)

    def to_latex(self, path: "str | Path | None" = None) -> str:
        """The estimates as a ``tabular`` of LaTeX: models down, estimators across; it needs the package booktabs."""
        from unskew.evaluation.showing.exports import as_latex

        return saved(as_latex(self), path)

    def to_csv(self, path: "str | Path | None" = None) -> str:
        """The estimates as CSV, a line each.

        A text that a spreadsheet would compute, such as a model named ``=1+1``, gets an apostrophe in front of it.
        """
        from unskew.evaluation.showing.exports import as_csv

        return saved(as_csv(self), path)

    def to_html(self, path: "str | Path | None" = None, *, introduction: str = "") -> str:
        """The page as text: one file that needs nothing else; written when a path is given.

        Parameters
        ----------
        path : str or Path, optional
        introduction : str
            HTML to show below the headline. It is not escaped, so escape what comes from data.
        """
        from unskew.evaluation.showing.page import render

        return saved(render(self, introduction=introduction), path)


def _printed(given: Any, parse: Callable[[str], Any]) -> str:
    """A word as the report prints it; unchanged if it cannot be parsed."""
    try:
        return str(parse(given) if isinstance(given, str) else given)
    except UnskewError:
        return str(given)
