"""`Reduction`: everything that the report needs of one part, as sums that merge by addition."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from unskew.arrays import Floats
from unskew.data.formats.array_file import read_checked, write_checked
from unskew.estimators import Bootstrap, Moments, Snips, Terms
from unskew.estimators.means import sum_by
from unskew.estimators.moments import columns_of
from unskew.evaluation.collecting.samples import Samples
from unskew.evaluation.estimating.best_models import chance_terms, judging_estimator, weighted_worth
from unskew.evaluation.estimating.estimation import Estimation
from unskew.evaluation.estimating.gamma_band import GammaTerms, assumed_models
from unskew.evaluation.estimating.naive_twin import missing_pairs
from unskew.evaluation.estimating.tally import Tally
from unskew.evaluation.fitting.propensities import Propensities
from unskew.evaluation.settings.settings import Settings
from unskew.propensities import InverseSums

_KIND, _VERSION = "sums of a part", 1
LARGEST = "largest"
"""The last word of the names of arrays that merge by their largest numbers; all others are added up."""
Arrays = dict[str, npt.NDArray[Any]]


@dataclass(frozen=True, eq=False)
class Reduction:
    """The sums of one part, or of several.

    Parameters
    ----------
    tally : Tally
    arrays : mapping
        Sums by name, of all judged users.
    common : mapping or None
        Those of the users whom all models know; None if these are all users.
    common_tally : Tally or None
    models : mapping
        The models that each metric judges, in order.
    definitions : mapping
        What each metric of each model means, in words.
    band : sequence
        Metric, estimator and model of each estimate that depends on gamma, in order.
    digests : mapping
        Fingerprints of the ranks and predictions of each model.
    inverses : InverseSums
        Sums of inverse propensities, for their diagnostics.
    """

    tally: Tally
    arrays: Arrays = field(default_factory=dict)
    common: Arrays | None = None
    common_tally: Tally | None = None
    models: Mapping[str, list[str]] = field(default_factory=dict)
    definitions: Mapping[str, str] = field(default_factory=dict)
    band: Sequence[tuple[str, str, str]] = ()
    digests: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    inverses: InverseSums = field(default_factory=InverseSums)

    def save(self, path: Path, key: str) -> None:
        """Write to a .npz file; `key` says what run it belongs to."""
        words = {
            "key": key,
            "tally": self.tally.to_dict(),
            "common_tally": None if self.common_tally is None else self.common_tally.to_dict(),
            "common": self.common is not None,
            "models": self.models,
            "definitions": self.definitions,
            "band": self.band,
            "digests": self.digests,
            "inverses": asdict(self.inverses),
        }
        arrays = {f"whole/{name}": array for name, array in self.arrays.items()}
        arrays |= {f"common/{name}": array for name, array in (self.common or {}).items()}
        write_checked(path, _KIND, _VERSION, words, arrays, packed=False)

    @classmethod
    def load(cls, path: Path, key: str) -> "Reduction | None":
        """Read a file of `save`; None if it belongs to another run or cannot be read."""
        try:
            words, arrays = read_checked(path, _KIND, _VERSION, "it is made again")
            if words["key"] != key:
                return None
            rest = words["common_tally"]
            return cls(
                Tally.from_dict(words["tally"]),
                _below("whole/", arrays),
                _below("common/", arrays) if words["common"] else None,
                None if rest is None else Tally.from_dict(rest),
                words["models"],
                words["definitions"],
                [(metric, estimator, model) for metric, estimator, model in words["band"]],
                words["digests"],
                InverseSums(**words["inverses"]),
            )
        except (ValueError, KeyError, TypeError, AttributeError):  # cut short or not ours, so the part is done again
            return None


def _below(scope: str, arrays: Arrays) -> Arrays:
    return {name.removeprefix(scope): array for name, array in arrays.items() if name.startswith(scope)}


def cell_name(metric: Any, estimator: Any) -> str:
    """The name of the arrays of a metric by an estimator."""
    return f"cell/{metric}|{estimator}"


def band_name(metric: str, estimator: str, model: str) -> str:
    """The name of the arrays of an estimate at each gamma."""
    return f"band/{metric}|{estimator}|{model}"


def reduce_samples(
    settings: Settings, samples: Samples, propensities: Propensities
) -> tuple[Arrays, list[tuple[str, str, str]]]:
    """The sums of the judged rows of a part, and the order of the estimates that depend on gamma."""
    whole = replace(settings, pairs=(*settings.pairs, *missing_pairs(settings)))
    estimation = Estimation(samples, whole, propensities, 1)
    arrays: Arrays = {}
    for cell in estimation.cells():
        name, terms = cell_name(cell.metric, cell.estimator), list(cell.terms.values())
        rows = estimation.rows_of(cell.metric, cell.estimator)
        weights = cell.estimator.weights(rows, cell.metric.kind)
        by_user = sum_by(rows.user, weights)
        moments = Moments.of(terms, _draws(settings, terms))
        counts = (moments.users, moments.idle, cell.users, cell.dropped_users, cell.dropped_items)
        arrays |= {
            f"{name}/counts": np.array([*counts, cell.without_propensity], dtype=np.int64),
            f"{name}/weights": np.array(
                [by_user.sum(), np.square(by_user).sum(), weights.sum(), np.square(weights).sum()]
            ),
            f"{name}/{LARGEST}": np.array([weights.max(initial=0.0)]),
            f"{name}/sums": moments.sums,
            f"{name}/products": moments.products,
            **({} if moments.draws is None else {f"{name}/draws": moments.draws}),
        }
    for metric in settings.metrics:
        arrays |= _answer_sums(estimation, metric)
    band = []
    for over_all in (False, True):
        sums, keys = _band_sums(estimation, settings, over_all=over_all)
        arrays |= sums
        band += keys
    return arrays, band


def _answer_sums(estimation: Estimation, metric: Any) -> Arrays:
    """Sums for the verdict on a metric: of a random order, and of the leads of every model over every other."""
    settings, samples = estimation.settings, estimation.samples
    estimator = judging_estimator([each for other, each in settings.pairs if str(other) == str(metric)])
    if estimator is None:
        return {}
    name, arrays = cell_name(metric, estimator), Arrays()
    chance = chance_terms(estimation, metric, estimator)
    if chance is not None:
        arrays[f"{name}/chance"] = np.array([chance.numerator.sum(), chance.denominator.sum()])
    per_user = isinstance(estimator, Snips) and estimator.per == "user"  # a mean of ratios, which sums do not show
    if estimator.uses_propensity and not per_user:
        worth, weights, _ = weighted_worth(samples, estimation.propensities, metric, estimator)
        models = samples.observed(metric).judged_by(metric)
        ahead = np.zeros((len(models), len(models)))
        of_model = {model: worth(model) for model in models}
        for (i, a), (j, b) in combinations(enumerate(models), 2):
            gaps = weights * (of_model[a] - of_model[b])
            ahead[i, j], ahead[j, i] = gaps[gaps > 0].sum(), -gaps[gaps < 0].sum()
        arrays[f"{name}/ahead"] = ahead
    return arrays


def _band_sums(
    estimation: Estimation, settings: Settings, *, over_all: bool
) -> tuple[Arrays, list[tuple[str, str, str]]]:
    """Sums of the weighted estimates at each gamma, and their order."""
    models = assumed_models(settings, None)
    if not models:
        return {}, []
    gammas = GammaTerms(estimation, models, over_all=over_all)
    arrays, keys = Arrays(), []
    for work in gammas.jobs:
        for key, terms in gammas.of(work).items():
            name, columns = band_name(*key), columns_of(terms)
            keys.append(key)
            each = [Moments.of([term]) for term in terms]
            draws = _draws(settings, terms)
            arrays |= {
                f"{name}/users": np.array([len(columns), terms[0].idle], dtype=np.int64),
                f"{name}/sums": np.stack([moments.sums for moments in each]),
                f"{name}/products": np.stack([moments.products for moments in each]),
                **({} if draws is None else {f"{name}/draws": draws}),
            }
    return arrays, gammas.in_order(keys) if settings.interval.draws or over_all else keys


def _draws(settings: Settings, terms: Sequence[Terms]) -> Floats | None:
    """The sums in each draw of a bootstrap; None for other intervals."""
    if not isinstance(settings.interval, Bootstrap):
        return None
    return settings.interval.sums(terms, np.random.default_rng([settings.seed, 1]))


def join_arrays(parts: Sequence[Arrays]) -> Arrays:
    """Add up arrays of the same name, in the order of the parts."""
    joined: Arrays = {}
    for part in parts:
        for name, array in part.items():
            if name not in joined:
                joined[name] = array
            else:
                largest = name.endswith(f"/{LARGEST}")
                joined[name] = np.maximum(joined[name], array) if largest else joined[name] + array
    return joined
