"""How the weighted estimates move within the band of gammas that were found."""

from dataclasses import asdict, dataclass, replace
from typing import Any

from unskew.evaluation.estimates import Estimation
from unskew.evaluation.evidence import Evidence
from unskew.evaluation.gamma import GammaChoice
from unskew.evaluation.settings import Settings


@dataclass(frozen=True)
class BandValue:
    """An estimate at one gamma of the band."""

    metric: str
    estimator: str
    model: str
    gamma: float
    value: float | None

    def to_dict(self) -> dict[str, Any]:
        """As in the JSON."""
        return asdict(self)


@dataclass(frozen=True)
class BandRow:
    """An estimate along the band, one value a gamma."""

    metric: str
    estimator: str
    model: str
    values: tuple[float | None, ...]


@dataclass(frozen=True)
class Sensitivity:
    """Every weighted estimate at the smallest, the mean and the largest gamma.

    Parameters
    ----------
    choice : GammaChoice
    points : tuple of BandValue
        By metric and estimator, then by model, then by gamma.
    """

    choice: GammaChoice
    points: tuple[BandValue, ...]

    @property
    def rows(self) -> list[BandRow]:
        """The values side by side."""
        found: dict[tuple[str, str, str], list[float | None]] = {}
        for one in self.points:
            found.setdefault((one.metric, one.estimator, one.model), []).append(one.value)
        return [BandRow(*key, tuple(values)) for key, values in found.items()]


def measure_sensitivity(
    choice: GammaChoice | None,
    settings: Settings,
    evidence: Evidence,
    rated: Evidence | None = None,
    threads: int | None = None,
) -> Sensitivity | None:
    """Make every weighted estimate again at each gamma of the band; ranks are reused, so this costs little.

    Parameters
    ----------
    choice : GammaChoice or None
        None when gamma was not fitted, and then there is no band.
    settings : Settings
    evidence : Evidence
    rated : Evidence, optional
    threads : int, optional
    """
    pairs = tuple(pair for pair in settings.pairs if pair[1].uses_propensity)
    if choice is None or not pairs:
        return None
    found: dict[tuple[str, str, str], list[BandValue]] = {}
    for gamma in choice.band:
        model, test = choice.at(gamma), evidence.split.test
        weighted = Estimation(
            evidence,
            replace(settings, pairs=pairs, propensity=model),
            model.fit(evidence.train, test),
            threads,
            rated,
            model.fit(evidence.split.train, test),
        )
        for cell in weighted.cells():
            for name, terms in cell.terms.items():
                one = BandValue(str(cell.metric), str(cell.estimator), name, gamma, terms.value)
                found.setdefault((one.metric, one.estimator, name), []).append(one)
    return Sensitivity(choice, tuple(one for values in found.values() for one in values))
