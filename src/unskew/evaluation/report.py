"""The table of estimates with where they come from."""

import html
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from unskew import __version__
from unskew.data import Interactions
from unskew.data.writing import written
from unskew.errors import ConfigError, UnskewError, did_you_mean
from unskew.estimators import Comparison, Estimate, Estimator, Snips
from unskew.evaluation.collecting.exposed import Exposures
from unskew.evaluation.collecting.sample import Evidence
from unskew.evaluation.collecting.sampled_ranks import CorrectionCheck
from unskew.evaluation.estimating.best_models import Answer, find_answers
from unskew.evaluation.estimating.cell import Cell
from unskew.evaluation.estimating.common_users import judge_common_users
from unskew.evaluation.estimating.gamma_band import GammaBand
from unskew.evaluation.estimating.gamma_sweep import Sweep, sweep_gamma
from unskew.evaluation.estimating.naive_twin import Counterparts, missing_counterparts
from unskew.evaluation.estimating.propensity_sum import as_numbers, check_propensity, count_pairs, file_fingerprints
from unskew.evaluation.fitting.gamma import GammaChoice
from unskew.evaluation.fitting.models import Fitted
from unskew.evaluation.record import ROWS_A_USER, count_sizes, record_exposures
from unskew.evaluation.settings.settings import OVER_ALL_PAIRS, Settings
from unskew.metrics import AnyMetric, parse_metric
from unskew.propensities import Diagnostics, ObservationModel, Popularity, Propensity
from unskew.ranking import Contest

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

    from unskew.evaluation.comparing.changes import Changes
    from unskew.evaluation.showing.verdict import Verdict


@dataclass(frozen=True, eq=False)
class Report:
    """Estimates, comparisons and warnings of one run, with all that decided them.

    Printing it shows a table; `to_dict` gives the JSON, `to_html` the page. `evidence` is of the positives, `rated` of
    the rated rows where a metric is over all pairs; when all are, `evidence` is the latter too. `against` is
    what moved since an earlier run, where one was named. `exposures` are all rows of a randomly exposed test, and
    `population_by` says how it is known what they were drawn from; `uniform` are the rows drawn at random that models
    learnt from. `cells`, `contest` and `fitted` are what the warnings look at and are not in the JSON: the sums per
    user of each metric and estimator, who was ranked among what, and the trained models; so are `uniform_given`, the
    uniform rows as they came, and `notes`, what was found while files were read.
    """

    estimates: tuple[Estimate, ...]
    comparisons: tuple[Comparison, ...]
    warnings: tuple[str, ...]
    settings: Settings
    evidence: Evidence
    propensity: Propensity
    block_size: int | None
    models: Mapping[str, str]
    rated: Evidence | None = None
    rated_propensity: Propensity | None = None
    chosen_by: Mapping[str, str] = field(default_factory=dict)
    gamma: GammaChoice | None = None
    band: GammaBand | None = None
    correction: tuple[CorrectionCheck, ...] | None = None
    against: "Changes | None" = None
    exposures: Exposures | None = None
    uniform: Interactions | None = None
    population_by: str = "given"
    cells: tuple[Cell, ...] = ()
    contest: Contest | None = None
    fitted: Mapping[str, Fitted] = field(default_factory=dict)
    uniform_given: Interactions | None = None
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        from unskew.evaluation.showing.text import as_text

        return as_text(self)

    def __repr__(self) -> str:
        return f"Report({len(self.models)} models, {len(self.estimates)} estimates, {len(self.warnings)} warnings)"

    def _repr_html_(self) -> str:
        """A table for notebooks."""
        names = (
            "model",
            "metric",
            "estimator",
            "value",
            "low",
            "high",
            "assumed_low",
            "assumed_high",
            "users",
            "effective_sample_size",
            "target",
        )
        head = "".join(f"<th>{name}</th>" for name in names)
        body = "".join(
            "<tr>" + "".join(f"<td>{html.escape(_shown(row, name))}</td>" for name in names) + "</tr>"
            for row in self.estimates
        )
        notes = "".join(f"<li>{html.escape(text)}</li>" for text in self.warnings)
        said, rest = html.escape(self.verdict.sentence), html.escape(" ".join(self.verdict.summary))
        verdict = f"<p><strong>{said}</strong> {rest}</p>"
        return (
            verdict
            + f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
            + (f"<ul>{notes}</ul>" if notes else "")
        )

    def estimate(self, model: str, metric: str | AnyMetric, estimator: str | Estimator) -> Estimate:
        """The estimate of a model, by words in any spelling that `evaluate` takes, or by objects."""
        words = model, _printed(metric, parse_metric), _printed(estimator, Estimator.from_word)
        for row in self.estimates:
            if (row.model, row.metric, row.estimator) == words:
                return row
        known = [f"{row.model} {row.metric} {row.estimator}" for row in self.estimates]
        asked = f"{model} {metric} {estimator}"
        raise ConfigError(f"no estimate {asked!r}{did_you_mean(asked, known)}")

    def value(self, model: str, metric: str | AnyMetric, estimator: str | Estimator) -> float | None:
        """The value of an estimate, named as in `estimate`."""
        return self.estimate(model, metric, estimator).value

    @cached_property
    def dropped_share(self) -> float:
        """Share of the test rows that are not judged: of the positive ones, for metrics over positives."""
        test, positive = self.evidence.split.test, self.settings.positive
        if self.exposures is not None:
            asked, judged = len(test), self.exposures.evidence.rows
        elif self.evidence is self.rated:
            asked, judged = len(test), self.evidence.rows - self.evidence.dropped["rows_without_prediction"]
        else:
            asked = len(test) if positive is None else int(test.holds(positive).sum())
            judged = self.evidence.rows
        return 1 - judged / asked if asked else 0.0

    def evidence_of(self, metric: str) -> Evidence:
        """The rows that a metric is computed from."""
        over_all = any(str(m) == metric and m.kind in OVER_ALL_PAIRS for m in self.settings.metrics)
        return self.rated if over_all and self.rated is not None else self.evidence

    def propensity_of(self, metric: str) -> Propensity:
        """The propensity of the rows that a metric is computed from."""
        rated = self.rated is not None and self.evidence_of(metric) is self.rated
        return self.rated_propensity if rated and self.rated_propensity is not None else self.propensity

    @cached_property
    def counterparts(self) -> Counterparts:
        """Naive estimates on the targets of the corrected ones, where they were not asked for."""
        return missing_counterparts(self)

    @cached_property
    def answers(self) -> tuple[Answer, ...]:
        """What each metric says about the models: which may be best, and how far that depends on what is assumed."""
        return find_answers(self)

    @cached_property
    def on_common_users(self) -> "Report | None":
        """The same on the users whom all models know, where they do not know the same ones."""
        return judge_common_users(self)

    @cached_property
    def verdict(self) -> "Verdict":
        """What the evidence carries, and no more: the same in Python, JSON, terminal, notebook and page."""
        from unskew.evaluation.showing.verdict import judge

        return judge(self)

    @cached_property
    def diagnostics(self) -> Diagnostics | None:
        """How far the propensities can be trusted; None where no estimate rests on them, or they are all the same."""
        return check_propensity(self.propensity, self.settings, self.evidence, self.rated)

    @cached_property
    def run(self) -> dict[str, Any]:
        """Everything resolved that decides the numbers; fingerprints are taken here, not while evaluating."""
        import numba
        import scipy

        split, settings = self.evidence.split, self.settings
        parts = {
            "train": split.train,
            "validation": split.validation,
            "test": split.test,
            **({} if self.uniform is None else {"uniform": self.uniform}),
        }
        asked = settings.propensity if self.gamma is None else self.gamma.asked
        files = file_fingerprints(asked, self.models.values())
        return {
            "data": {
                name: {"rows": len(part), "duplicates": part.duplicates, "sha256": part.sha256}
                for name, part in parts.items()
                if part is not None
            },
            "split": split.made,
            "models": dict(self.models),
            **({"chosen_by": dict(self.chosen_by)} if self.chosen_by else {}),
            "ranks": {name: ranks.sha256 for name, ranks in self.evidence.ranks.items()},
            "metrics": [str(metric) for metric in settings.metrics],
            "estimators": [str(estimator) for estimator in settings.estimators],
            "propensity": str(asked),
            **({} if self.gamma is None else {"gamma": self.gamma.to_dict()}),
            **({} if self.band is None else {"assumed": str(self.band.range)}),
            "candidates": str(split.rule),
            "ties": settings.ties,
            "unlisted": settings.unlisted,
            "positive": settings.positive,
            "users": settings.users,
            "relevant_counts": self.evidence.relevant is not None,
            "level": settings.level,
            "interval": str(settings.interval),
            "seed": settings.seed,
            "block_size": self.block_size,
            "judged": self._judged(),
            **({} if self.exposures is None else {"exposed": record_exposures(self.exposures, self.population_by)}),
            **self._rated_run(),
            **({"propensity_files": files} if files else {}),
            **({} if self.diagnostics is None else {"propensity_diagnostics": as_numbers(self.diagnostics)}),
            "versions": {
                "unskew": __version__,
                "numpy": np.__version__,
                "numba": numba.__version__,
                "scipy": scipy.__version__,
                **self._learnt_with(),
            },
        }

    def _judged(self) -> dict[str, Any]:
        """What was judged: users, their held-out rows, and how many users have so many."""
        evidence = self.evidence
        a_user = count_sizes(np.diff(evidence.offsets))
        return {"users": len(evidence.users), "rows": evidence.rows, ROWS_A_USER: a_user}

    def _learnt_with(self) -> dict[str, str]:
        """The version of what learnt the propensities, where they were learnt."""
        if not isinstance(self.settings.propensity, ObservationModel):
            return {}
        import sklearn

        return {"scikit-learn": sklearn.__version__}

    def _rated_run(self) -> dict[str, Any]:
        """What decides metrics over all pairs; nothing in a run without them."""
        rated = self.rated
        if rated is None:
            return {}
        return {
            "rated": {"users": len(rated.users), "rows": rated.rows, "pairs": count_pairs(self.evidence, rated)},
            "predictions": {name: predictions.sha256 for name, predictions in rated.predictions.items()},
            "scale": None if self.settings.scale is None else str(self.settings.scale),
            "allow_missing": self.settings.allow_missing,
        }

    @cached_property
    def sweeps(self) -> list[Sweep]:
        """For each mean metric, ``snips`` over gamma from -1 (no correction) to 3."""
        settings = self.settings
        if self.exposures is not None and not any(e.uses_propensity for e in settings.estimators):
            return []  # the items were drawn with equal chances, so there is no bias to assume
        if settings.users == "served":
            return []  # a sweep is over the same users for all models
        form = next((e for e in settings.estimators if isinstance(e, Snips)), None)
        smoothing = settings.propensity.smoothing if isinstance(settings.propensity, Popularity) else 1.0
        if not smoothing and not self.evidence.train.item_counts[self.evidence.items].any():
            return []  # no held-out item has a propensity at any gamma
        return [
            sweep_gamma(self.evidence, metric, estimator=form, smoothing=smoothing)
            for metric in settings.metrics
            if metric.kind == "mean"
        ]

    def to_dict(self) -> dict[str, Any]:
        """The run as plain data, as in the JSON file."""
        return {
            "unskew": __version__,
            "run": self.run,
            "estimates": [row.to_dict() for row in self.estimates],
            "verdict": self.verdict.to_dict(),
            "comparisons": [row.to_dict() for row in self.comparisons],
            **({} if self.band is None else {"sensitivity": [point.to_dict() for point in self.band.points]}),
            "warnings": list(self.warnings),
            **({} if self.correction is None else {"correction": [check.to_dict() for check in self.correction]}),
            **({} if self.against is None else {"against": self.against.to_dict()}),
        }

    def to_json(self, path: str | Path | None = None) -> str:
        """The same as text, written to a file when one is named."""
        text = json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False) + "\n"
        if path is not None:
            with written(Path(path)) as stream:
                stream.write(text)
        return text

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

    def to_html(self, path: str | Path | None = None, *, introduction: str = "") -> str:
        """The page as text: one file that needs nothing else; written when a path is given.

        Parameters
        ----------
        path : str or Path, optional
        introduction : str
            HTML to show below the headline. It is put in as it is, so escape what comes from data.
        """
        from unskew.evaluation.showing.page import render

        text = render(self, introduction=introduction)
        if path is not None:
            with written(Path(path)) as stream:
                stream.write(text)
        return text


def _printed(given: Any, parse: Callable[[str], Any]) -> str:
    """A word as the report prints it; one that cannot be read stays as it is."""
    try:
        return str(parse(given) if isinstance(given, str) else given)
    except UnskewError:
        return str(given)


def _shown(row: Estimate, name: str) -> str:
    value = getattr(row, name)
    if value is None:
        return "–" if name.startswith("assumed") else "undefined"
    return f"{value:.4f}" if isinstance(value, float) else str(value)
