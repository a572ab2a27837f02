"""The JSON of a report, and the record of everything that decided its numbers."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from unskew import __version__
from unskew.arrays import Ints
from unskew.data import Interactions
from unskew.data.reading import noted_sha256
from unskew.errors import ConfigError
from unskew.estimators import OVER_ALL_PAIRS
from unskew.evaluation.collecting.exposed import Exposed
from unskew.evaluation.collecting.samples import Samples
from unskew.models import Model
from unskew.propensities import Diagnostics, From, ObservationModel, Popularity, PropensityModel

if TYPE_CHECKING:
    from unskew.evaluation.report import Report

ROWS_A_USER = "rows_a_user"  # the key in the JSON, next to users and rows


def record(report: "Report") -> dict[str, Any]:
    """The whole report, as in the JSON file."""
    checks = report.samples.correction
    methods, sliced, seeds = report.estimated.methods, report.estimated.slice_report, report.seeds
    return {
        "unskew": __version__,
        "run": report.run,
        "estimates": [row.to_dict() for row in report.estimates],
        "verdict": report.verdict.to_dict(),
        "comparisons": [row.to_dict() for row in report.comparisons],
        **({} if report.baselines is None else {"baselines": report.baselines.to_dict()}),
        **({} if report.band is None else {"sensitivity": [point.to_dict() for point in report.band.points]}),
        **({} if methods is None else {"methods": [point.to_dict() for point in methods.points]}),
        **({} if sliced is None else {"slice": sliced.to_dict()}),
        **({} if seeds is None else {"seeds": seeds.to_dict()}),
        "warnings": list(report.warnings),
        **({} if checks is None else {"correction": [check.to_dict() for check in checks]}),
        **({} if report.against is None else {"against": report.against.to_dict()}),
        **({"slices": [each.to_dict() for each in report.sliced]} if report.sliced else {}),
    }


def record_run(report: "Report") -> dict[str, Any]:
    """Everything that decides the numbers, resolved: data, models, settings, judged rows, versions."""
    split, settings, samples, tally = report.inputs.split, report.settings, report.samples, report.tally
    uniform, gamma = report.contenders.uniform, report.propensities.gamma
    parts = {
        "train": split.train,
        "validation": split.validation,
        "test": split.test,
        **({} if split.slice is None else {"slice": split.slice}),
        **({} if uniform is None else {"uniform": uniform.known}),
    }
    asked = settings.propensity if gamma is None else gamma.asked
    files = _file_fingerprints(asked, report.models.values())
    chosen_by = report.contenders.chosen_by
    return {
        "data": fingerprints(parts) if report.merged is None else dict(report.merged.data),
        "split": split.origin,
        "models": dict(report.models),
        **({"chosen_by": chosen_by} if chosen_by else {}),
        "ranks": _digests(report, "ranks"),
        "metrics": [str(metric) for metric in settings.metrics],
        "estimators": [str(estimator) for estimator in settings.estimators],
        **({} if report.chosen is None else {"auto": report.chosen.to_dict()}),
        "propensity": str(asked),
        **({} if gamma is None else {"gamma": gamma.to_dict()}),
        **({} if report.band is None else {"assumed": str(report.band.range)}),
        "candidates": str(split.rule),
        "ties": settings.ties,
        "unlisted": settings.unlisted,
        "positive": settings.positive,
        **({} if split.test.weights is None else {"weights": _weights(split.test)}),
        "users": settings.users,
        "relevant_counts": samples.judged.relevant is not None,
        "level": settings.level,
        "interval": str(settings.interval),
        "seed": settings.seed,
        **({} if report.groups_seeds else {"group_seeds": False}),
        "block_size": samples.block_size,
        "judged": {"users": tally.users, "rows": tally.rows, ROWS_A_USER: dict(tally.sizes)},
        **({} if samples.exposed is None else {"exposed": _exposed(samples.exposed)}),
        **_rated(report),
        **({"propensity_files": files} if files else {}),
        **({} if report.diagnostics is None else {"propensity_diagnostics": as_numbers(report.diagnostics)}),
        **({} if report.stop is None else {"until": report.stop.to_dict()}),
        **({} if len(report.kernels) < 2 else {"matrix_products": list(report.kernels)}),
        "versions": {**versions(), **_learnt_with(settings.propensity)},
    }


def _weights(test: Interactions) -> dict[str, Any]:
    """The mean weight of the test rows, which weights are divided by, and whether they differ at all."""
    assert test.weights is not None
    return {
        "mean": float(test.weights.mean()) if len(test) else None,
        "zero_rows": int(np.sum(test.weights == 0)),
        "differ": test.relative_weights is not None,
    }


def fingerprints(parts: Mapping[str, Interactions | None]) -> dict[str, dict[str, Any]]:
    """Number of rows and sha256 of each part of the data."""
    return {
        name: {"rows": len(part), "duplicates": part.duplicates, "sha256": part.sha256}
        for name, part in parts.items()
        if part is not None
    }


def versions() -> dict[str, str]:
    """Versions of this package, and of those that its numbers come from."""
    from importlib.metadata import version  # because loading numba takes long

    return {"unskew": __version__, **{name: version(name) for name in ("numpy", "numba", "scipy")}}


def count_sizes(sizes: Ints) -> dict[str, int]:
    """Number of users for each number of rows, as in the JSON."""
    numbers, users = np.unique(sizes, return_counts=True)
    return {str(number): int(n) for number, n in zip(numbers, users, strict=True)}


def spread(sizes: Ints) -> dict[str, float]:
    """Smallest, median and largest size; the median as an integer if it is one."""
    middle = float(np.median(sizes))
    return {
        "min": int(sizes.min()),
        "median": int(middle) if middle.is_integer() else middle,
        "max": int(sizes.max()),
    }


def _exposed(sample: Exposed) -> dict[str, Any]:
    """Sizes of a randomly exposed test, the population its items were drawn from, and how that is known."""
    drawn = sample.drawn
    return {
        "population": str(sample.split.rule),
        "population_by": sample.split.population_by,
        "users": drawn.n_users,
        "rows": len(drawn),
        "positives": int(drawn.labels.sum()),
        "users_without_positive": int(np.sum(drawn.positives == 0)),
        "rows_a_user": spread(drawn.counts),
        "population_size": spread(drawn.population),
    }


def _rated(report: "Report") -> dict[str, Any]:
    """Everything that decides metrics over all pairs; empty in a run without them."""
    tally, settings = report.tally, report.settings
    if not any(metric.kind in OVER_ALL_PAIRS for metric in settings.metrics):
        return {}
    return {
        "rated": {"users": tally.rated_users, "rows": tally.rated, "pairs": tally.rated_pairs},
        "predictions": _digests(report, "predictions"),
        "scale": None if settings.scale is None else str(settings.scale),
        "allow_missing": settings.allow_missing,
    }


def _digests(report: "Report", kind: str) -> dict[str, str]:
    """Fingerprints of the ranks or predictions of each model."""
    return dict(report.merged.digests.get(kind, {})) if report.merged is not None else digests_of(report.samples)[kind]


def digests_of(samples: Samples) -> dict[str, dict[str, str]]:
    """Fingerprints of the ranks and predictions of each model."""
    ratings = samples.ratings
    predicted = {} if ratings is None else ratings.predictions
    return {
        "ranks": {name: ranks.sha256 for name, ranks in samples.judged.ranks.items()},
        "predictions": {name: predictions.sha256 for name, predictions in predicted.items()},
    }


def _learnt_with(propensity: PropensityModel) -> dict[str, str]:
    """The version of scikit-learn, if the propensities were learnt with it."""
    if not isinstance(propensity, ObservationModel):
        return {}
    import sklearn

    return {"scikit-learn": sklearn.__version__}


def as_numbers(diagnostics: Diagnostics) -> dict[str, Any]:
    """Diagnostics as in the JSON; null where a number is not known."""
    known = diagnostics.cells > 0
    smallest, largest = _finite(diagnostics.smallest), _finite(diagnostics.largest)
    return {
        "observed": diagnostics.observed,
        "pairs": diagnostics.cells if known else None,
        "inverse_sum": diagnostics.inverse_sum if known else None,
        "inverse_sum_sd": diagnostics.inverse_sd if known else None,
        "ratio": diagnostics.coverage if known else None,
        "smallest": smallest,
        "largest": largest,
        "smallest_weight": None if largest is None else 1 / largest,
        "largest_weight": None if smallest is None else 1 / smallest,
        "clipped": diagnostics.clipped,
        "reliability_of": diagnostics.reliability_of,
        "reliability": [asdict(part) for part in diagnostics.reliability],
    }


def _finite(number: float) -> float | None:
    return number if np.isfinite(number) else None


def _file_fingerprints(propensity: PropensityModel, models: Iterable[str]) -> dict[str, str | None]:
    """The sha256 of each file that the propensities of a run, or of its models, were learnt from.

    `models` are words; a word such as ``mf-ips(propensity=...)`` has its own propensities.
    """
    read = [propensity, *(each for each in map(_own_propensity, models) if each is not None)]
    logging = [model.source for model in read if isinstance(model, Popularity)]
    tables: list[tuple[str, Any]] = [("gamma", source.file) for source in logging if isinstance(source, From)]
    tables += [item for model in read if isinstance(model, ObservationModel) for item in model.tables.items()]
    fingerprints: dict[str, str | None] = {}
    for option, table in tables:
        if isinstance(table, str):
            fingerprints[table] = noted_sha256(Path(table))
        else:
            fingerprints[f"{option}={table}"] = table.sha256
    return fingerprints


def _own_propensity(model: str) -> PropensityModel | None:
    try:
        word: str = getattr(Model.from_word(model), "propensity", "")
    except ConfigError:  # the class name of a scorer that the user gave
        return None
    return PropensityModel.from_word(word) if word and "<" not in word else None
