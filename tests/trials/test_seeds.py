"""What an error audit draws by chance, and that it draws nothing twice."""

from dataclasses import dataclass, field

import numpy as np
import pytest

from unskew import audit
from unskew.data import Interactions, split_fractions
from unskew.models import Model
from unskew.models.model import Progress
from unskew.ranking import MatrixScorer
from unskew.simulators import Ibp, PreferenceWorld, World
from unskew.trials.seeds import Purpose, stream_of

WORLD = Ibp(users=60, alpha=20, c=1, sigma=0.2, sizes="pareto(scale=6, shape=1, upper=40)")
RUNS = 4


@pytest.fixture(scope="module")
def log() -> Interactions:
    rows = WORLD.log(5)
    return Interactions.from_arrays(rows.users, rows.items)


@dataclass(frozen=True, eq=False)
class Noting(Model):
    """Notes the first number of the generator it is trained with; scores by training counts."""

    drawn: list[float] = field(default_factory=list)

    def learn(self, train: Interactions, rng: np.random.Generator, progress: Progress) -> MatrixScorer:
        self.drawn.append(rng.random())
        scores = np.tile(train.item_counts.astype(float), (train.n_users, 1))
        return MatrixScorer(scores, user_ids=train.user_vocabulary.ids, item_ids=train.item_vocabulary.ids)


@pytest.mark.parametrize("seed", [0, 7, 2**40])
def test_no_simulated_run_has_the_stream_of_another_purpose(seed: int) -> None:
    own = [stream_of(seed, purpose).random() for purpose in Purpose]
    runs = [np.random.default_rng([seed, run]).random() for run in range(200)]
    models = [np.random.default_rng([seed, run, 1]).random() for run in range(200)]
    assert len({*own, *runs, *models}) == len(own) + 400


def test_stand_ins_are_fitted_in_a_world_that_no_run_has(log: Interactions, monkeypatch: pytest.MonkeyPatch) -> None:
    seeds: list[int] = []
    draw = PreferenceWorld.draw

    def noted(self: PreferenceWorld, rng: np.random.Generator) -> World:
        seeds.append(rng.bit_generator.state["state"]["state"])
        return draw(self, rng)

    monkeypatch.setattr(PreferenceWorld, "draw", noted)
    split = split_fractions(log, (0.8, 0.2), rng=0)
    shape = split.train.n_users, split.train.n_items
    scores = np.random.default_rng(0).normal(size=shape)
    ids = {"user_ids": split.train.user_vocabulary.ids, "item_ids": split.train.item_vocabulary.ids}
    models = {"noise": MatrixScorer(scores, **ids)}
    audit(split.train, models, test=split.test, metrics=["auc"], k=5, depth="quick", world=str(WORLD), runs=RUNS)
    counts = {each: seeds.count(each) for each in seeds}
    # each run twice, with the reference recommenders and with the stand-in, and one world besides
    assert sorted(counts.values()) == [1] + [2] * RUNS


def test_a_model_is_trained_with_another_seed_in_each_run_and_the_same_in_each_audit(log: Interactions) -> None:
    drawn = []
    for _ in range(2):
        model = Noting()
        audit(log, {"mine": model}, metrics=["auc"], k=5, depth="quick", world=str(WORLD), runs=RUNS, threads=1)
        drawn.append(model.drawn)
    assert drawn[0] == drawn[1]
    _, timed, *runs = drawn[0]  # first on the log itself, then once to see how long it takes
    assert timed == runs[0]
    assert len(set(runs)) == RUNS == len(runs)
