"""Whether the propensities of a run add up, for the report, its warnings and its page."""

from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from unskew.data.sources.status import content_sha256
from unskew.errors import ConfigError
from unskew.evaluation.collecting.sample import Evidence
from unskew.evaluation.settings.settings import Settings
from unskew.models import Model
from unskew.propensities import (
    Diagnostics,
    From,
    ObservationModel,
    Popularity,
    Propensity,
    PropensityModel,
    Uniform,
    diagnose,
)


def check_propensity(
    propensity: Propensity, settings: Settings, evidence: Evidence, rated: Evidence | None
) -> Diagnostics | None:
    """Diagnose the propensities that a run's estimates rest on.

    Parameters
    ----------
    propensity : Propensity
        One that brings diagnostics of its own keeps them; others are diagnosed on the judged rows.
    settings : Settings
    evidence : Evidence
        The judged positives.
    rated : Evidence or None
        The rated rows, preferred because the number of their pairs is known.

    Returns
    -------
    Diagnostics or None
        None when no estimator uses propensities, or all are the same. Its number of pairs is 0 when it is not known,
        or when the propensities are known only up to scale.
    """
    uses = any(estimator.uses_propensity for estimator in settings.estimators)
    if not uses or isinstance(settings.propensity, Uniform):
        return None
    own = getattr(propensity, "diagnostics", None)
    if isinstance(own, Diagnostics):
        return own
    rows = evidence if rated is None else rated
    chances, _ = rows.propensities(propensity)
    pairs = count_pairs(evidence, rated) if propensity.absolute else 0
    return diagnose(chances, pairs, absolute=pairs > 0)


def count_pairs(evidence: Evidence, rated: Evidence | None) -> int:
    """How many pairs the observed ones stand for; 0 when that is not known.

    All candidates of the population for rated rows; for positives the relevant items, where they were counted.
    """
    if rated is not None:
        return int(rated.pairs[rated.population(mean=False)].sum())
    if evidence.relevant is None:
        return 0
    return int(evidence.relevant[evidence.population(mean=True)].sum() + evidence.absent.sum())


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


def file_fingerprints(propensity: PropensityModel, models: Iterable[str]) -> dict[str, str | None]:
    """The sha256 of each file that the propensities of a run were learnt from, those of its models included.

    Parameters
    ----------
    propensity : PropensityModel
    models : iterable of str
        Words of the models; one such as ``mf-ips(propensity=...)`` has propensities of its own.
    """
    read = [propensity, *(own for own in map(_own_propensity, models) if own is not None)]
    logging = [model.source for model in read if isinstance(model, Popularity)]
    tables: list[tuple[str, Any]] = [("gamma", source.file) for source in logging if isinstance(source, From)]
    tables += [item for model in read if isinstance(model, ObservationModel) for item in model.tables.items()]
    fingerprints: dict[str, str | None] = {}
    for option, table in tables:
        if isinstance(table, str):
            fingerprints[table] = content_sha256(Path(table)) if Path(table).is_file() else None
        else:
            fingerprints[f"{option}={table}"] = table.sha256
    return fingerprints


def _own_propensity(model: str) -> PropensityModel | None:
    try:
        word: str = getattr(Model.from_word(model), "propensity", "")
    except ConfigError:  # a scorer of the user's, by the name of its class
        return None
    return PropensityModel.from_word(word) if word and "<" not in word else None
