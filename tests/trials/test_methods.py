import numpy as np
import pytest

from unskew.errors import ConfigError, PropensityError
from unskew.metrics import parse_metric
from unskew.propensities import PropensityModel
from unskew.testing.worlds.true_worlds import make_world
from unskew.trials import METHODS, Method, run_trial


def test_the_default_corrections_are_nine() -> None:
    labels = [each.label for each in METHODS]
    assert labels[:3] == ["aoa", "ips, true", "snips, true"]
    assert len(set(labels)) == 9
    assert sum(each.admits(parse_metric("recall@5")) for each in METHODS) == 9
    assert sum(each.admits(parse_metric("dcg@5")) for each in METHODS) == 3
    assert sum(each.admits(parse_metric("ndcg@5")) for each in METHODS) == 1


@pytest.mark.parametrize(("word", "over_pairs"), [("snips", True), ("snips(per=balanced)", False), ("ips", False)])
def test_the_target_follows_the_estimator(word: str, over_pairs: bool) -> None:
    assert Method(word, "true").over_pairs(parse_metric("auc")) == over_pairs
    assert not Method("ips", "true").over_pairs(parse_metric("dcg@5"))


def test_an_estimator_is_given_the_propensities_it_needs() -> None:
    with pytest.raises(ConfigError, match="snips needs propensities"):
        Method("snips")
    with pytest.raises(ConfigError, match="aoa uses no propensities"):
        Method("aoa", "true")
    with pytest.raises(ConfigError, match="choose none, true or estimated"):
        Method("ips", "guessed")  # type: ignore[arg-type]


def test_rows_without_an_estimated_propensity_are_left_out() -> None:
    # item 3 is in no training row, so without smoothing it has none; user 1 has no other row
    world = make_world(
        {0: [0, 1, 3], 1: [0, 1, 3]},
        {0: [0], 1: [0], 2: [1, 2]},
        {0: {1: 0.5, 3: 0.5}, 1: {3: 0.5}},
        n_users=3,
        n_items=4,
    )
    methods = (Method("snips", "estimated", "popularity(smoothing=0)"), Method("snips", "true"))
    trial = run_trial(world, ("popular",), metrics=("recall@1",), methods=methods)
    # items 1 and 2 tie, so item 1 gains 1/2; all three rows of weight 2 give 1/6
    assert trial.estimate[0, 0] == pytest.approx([1 / 2, 1 / 6])
    assert np.isnan(trial.std_error[0, 0, 0])  # one user has no spread


def test_a_propensity_of_zero_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    class Fitted:
        absolute = True

        def __call__(self, users: object, items: np.ndarray, values: object = None) -> np.ndarray:
            return np.zeros(len(items))

    class Given:
        def fit(self, train: object, test: object) -> Fitted:
            return Fitted()

    monkeypatch.setattr(PropensityModel, "from_word", lambda word: Given())
    world = make_world({0: [0, 1]}, {0: [0], 1: [1]}, {0: {1: 0.5}}, n_users=2, n_items=2)
    with pytest.raises(PropensityError, match=r"outside \(0, 1\]"):
        run_trial(world, ("popular",), metrics=("recall@1",), methods=(Method("ips", "estimated"),))
