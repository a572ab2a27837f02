"""Figure 1 of Yang et al. (2018): all cells of its table, by the package's own metrics."""

import numpy as np
import pytest

from unskew.arrays import Floats
from unskew.estimators import Aoa, Ips, Snips
from unskew.metrics import Metric, parse_metric
from unskew.testing.worlds.relevant_items import Relevant

RELEVANT = ["a1", "a2", "a3", "a4", "b1", "b2", "b3", "b4"]
OBSERVED = ["a1", "a2", "a4", "b3"]
LISTS = {
    "Z1": "a1 a2 a3 a4 a5 b5 b6 b7 b1 b2 b3 b4",
    "Z2": "b1 b2 b3 b4 a5 b5 b6 b7 a1 a2 a3 a4",
    "Z3": "b1 b2 b3 b4 a1 a2 a3 a4 a5 b5 b6 b7",
}
TABLE = {
    "R": (0.462610, 0.462610, 0.494183),
    "AOA on the drawn sample": (0.585137, 0.340083, 0.389631),
    "IPS = SNIPS on that sample": (0.483073, 0.393389, 0.426421),
    "E[AOA given non-empty]": (0.559878, 0.365342, 0.414188),
    "E[SNIPS given non-empty]": (0.499204, 0.426017, 0.464088),
    "E[IPS]": (0.462610, 0.462610, 0.494183),
}
OTHERS = {  # metric: true and AOA for Z1, Z2, Z3
    "auc(literal)": ((0.458333, 0.625), (0.458333, 0.291667), (0.625, 0.541667)),
    "recall@5": ((0.5, 0.75), (0.5, 0.25), (0.625, 0.5)),
    "adg@5": ((0.320201, 0.515402), (0.320201, 0.125), (0.368557, 0.221713)),
}
lists = pytest.mark.parametrize(("name", "place"), [("Z1", 0), ("Z2", 1), ("Z3", 2)])
DRAWN = np.isin(RELEVANT, OBSERVED)


def gains_of(name: str, word: str = "adg") -> Floats:
    ranking = LISTS[name].split()
    above = np.array([ranking.index(item) for item in RELEVANT])
    metric = parse_metric(word)
    assert isinstance(metric, Metric)
    return metric.row_gains(above, np.zeros_like(above), np.full_like(above, 12))


def world_of(name: str, word: str = "adg") -> Relevant:
    propensity = np.array([0.75 if item[0] == "a" else 0.25 for item in RELEVANT])
    return Relevant(np.zeros(8, dtype=int), gains_of(name, word), propensity)


@lists
def test_the_true_reward(name: str, place: int) -> None:
    assert world_of(name).truth == pytest.approx(TABLE["R"][place], abs=5e-7)


@lists
@pytest.mark.parametrize("aoa", [Aoa(), Aoa(per="pair")], ids=str)
def test_the_average_on_the_drawn_sample(name: str, place: int, aoa: Aoa) -> None:
    assert world_of(name).value(aoa, DRAWN) == pytest.approx(TABLE["AOA on the drawn sample"][place], abs=5e-7)


@lists
@pytest.mark.parametrize("estimator", [Ips(), Snips(), Snips(per="user"), Snips(per="balanced")], ids=str)
def test_ips_and_snips_on_the_drawn_sample(name: str, place: int, estimator: Ips | Snips) -> None:
    """The weights of the sample add up to 8, the number of relevant items, so both agree."""
    world = world_of(name)
    assert (1 / world.propensity[DRAWN]).sum() == pytest.approx(8)
    assert world.value(estimator, DRAWN) == pytest.approx(TABLE["IPS = SNIPS on that sample"][place], abs=5e-7)


@lists
@pytest.mark.parametrize(
    ("estimator", "row"), [(Aoa(), "E[AOA given non-empty]"), (Snips(per="user"), "E[SNIPS given non-empty]")], ids=str
)
def test_expectations_given_that_something_is_observed(name: str, place: int, estimator: Aoa | Snips, row: str) -> None:
    world = world_of(name)
    values = [(v, p) for seen, p in world.patterns() if (v := world.value(estimator, seen)) is not None]
    mass = sum(p for _, p in values)
    assert mass == pytest.approx(0.998764, abs=5e-7)
    assert sum(v * p for v, p in values) / mass == pytest.approx(TABLE[row][place], abs=5e-7)


@lists
def test_the_expectation_of_ips(name: str, place: int) -> None:
    world = world_of(name)
    mean = sum((world.value(Ips(), seen) or 0.0) * p for seen, p in world.patterns())
    assert mean == pytest.approx(TABLE["E[IPS]"][place], abs=5e-7)
    assert mean == pytest.approx(world.truth, rel=1e-12)


@lists
@pytest.mark.parametrize("word", OTHERS)
def test_the_other_metrics(name: str, place: int, word: str) -> None:
    world = world_of(name, word)
    true, naive = OTHERS[word][place]
    assert world.truth == pytest.approx(true, abs=5e-7)
    assert world.value(Aoa(), DRAWN) == pytest.approx(naive, abs=5e-7)


def test_the_naive_average_crowns_the_wrong_list() -> None:
    """AOA puts Z1 first; the truth, and the expectation of IPS, put Z3 first."""
    by = {key: dict(zip(LISTS, values, strict=True)) for key, values in TABLE.items()}
    assert max(by["AOA on the drawn sample"], key=by["AOA on the drawn sample"].__getitem__) == "Z1"
    assert max(by["R"], key=by["R"].__getitem__) == max(by["E[IPS]"], key=by["E[IPS]"].__getitem__) == "Z3"
