"""ADG estimated and trained with inverse propensities: its world, its draws and what it says of its numbers."""

import json

import numpy as np
import pytest

from unskew.data import Interactions, Split
from unskew.ranking import MatrixScorer
from unskew.simulators import Marketplace, World
from unskew.studies import Context, Study
from unskew.studies.framework.trials import Trials
from unskew.studies.lim2015 import weighted, weighted_world
from unskew.studies.lim2015.weighted import Gain, claims, gain_of_weights, notes, true_adg
from unskew.studies.lim2015.weighted_world import HELD, KNOWN, NAIVE, Draw, Way, errors_of, head_share, true_values

WAYS = tuple(Way(word, per) for per in ("user", "pair") for word in ("", "popularity", KNOWN))
EASY = Marketplace(users=400, items=60, floor=0.3, holdout=HELD)


def rows(users, items, n_users, n_items, **more) -> Interactions:
    return Interactions.from_arrays(users, items, n_users=n_users, n_items=n_items, **more)


def draw_of(train, held, exposure, *, n_users, truth=None) -> Draw:
    """A log by hand: (users, items) of train and of validation, which is the test too, and what is relevant."""
    n = {"n_users": n_users, "n_items": len(exposure)}
    part = rows(*held, **n, propensity=np.asarray(exposure)[list(held[1])])
    users, items = (np.asarray(each) for each in truth or held)
    offsets = np.concatenate([[0], np.cumsum(np.bincount(users, minlength=n_users))])
    world = World(rows(*train, **n), part, offsets, items)
    return Draw(world, Split(world.train, part, part), np.asarray(exposure, dtype=float))


def test_true_adg_is_that_over_everything_relevant_outside_train() -> None:
    """User 0: items 1 and 2 of the candidates 1, 2, 3 stand first and second; user 1: item 3 stands third.

    Gains 1, 1/log2(3) and 1/2 (Lim et al. 2015, eq. of ADG).
    """
    draw = draw_of(([0, 1], [0, 1]), ([0], [1]), [0.5] * 4, n_users=2, truth=([0, 0, 1], [1, 2, 3]))
    scorer = MatrixScorer(np.array([[9.0, 3, 2, 1], [4, 9, 3, 1]]))
    users, pairs = true_values(draw, {"m": scorer})["m"]
    second = 1 / np.log2(3)
    assert users == pytest.approx(((1 + second) / 2 + 0.5) / 2)
    assert pairs == pytest.approx((1 + second + 0.5) / 3)


def test_the_propensities_of_the_items_are_those_of_the_world() -> None:
    draw = Draw.of(EASY, np.random.default_rng(0))
    assert np.sort(draw.exposure)[::-1] == pytest.approx(EASY.exposure())
    assert draw.training(KNOWN) == pytest.approx(draw.exposure[draw.split.train.items])
    assert draw.head.sum() == 3
    assert draw.exposure[draw.head].min() == pytest.approx(EASY.exposure()[2])


def test_validation_and_test_share_what_is_held_out() -> None:
    draw = Draw.of(EASY, np.random.default_rng(0))
    validation, test, held = draw.split.validation, draw.split.test, draw.world.test
    assert validation is not None
    keys = [set(zip(part.users.tolist(), part.items.tolist(), strict=True)) for part in (validation, test, held)]
    assert not keys[0] & keys[1]
    assert keys[0] | keys[1] == keys[2]


@pytest.mark.parametrize("part", ["validation", "test"])
def test_the_propensities_of_a_part_are_the_chance_to_be_in_it(part: str) -> None:
    """Each row stands for 1/P relevant ones: a z test of their sum, which fails wrongly 1 time in 10,000."""
    draw = Draw.of(EASY, np.random.default_rng(1))
    P = getattr(draw.split, part).propensity
    off = np.sum(1 / P) - len(draw.world.truth)
    assert abs(off) < 3.9 * np.sqrt(np.sum((1 - P) / P**2))


def test_a_way_is_trained_as_it_says() -> None:
    learner = Way(KNOWN, "pair").learner(0.3, Context())
    assert (learner.word, learner.per, learner.propensity, learner.regularisation) == ("mf-adg", "pair", KNOWN, 0.3)
    assert Way("popularity", model="mf-auc").learner(0.1, Context()).word == "mf-auc"


def test_the_share_of_draws_on_the_head_by_hand() -> None:
    """Item 0 is the head. Users have rows {0, 1} and {0}; weights are 1 for item 0 and 4 for item 1."""
    draw = draw_of(([0, 0, 1], [0, 1, 0]), ([1], [2]), [1.0, 0.25, 0.25, 0.25], n_users=2)
    found = [head_share(draw, Way(weights, per)) for per in ("user", "pair") for weights in ("", KNOWN)]
    assert found == pytest.approx([(1 / 2 + 1) / 2, (1 / 5 + 1) / 2, 2 / 3, 2 / 6])


def test_the_plain_mean_and_snips_choose_each_for_itself() -> None:
    """Three held-out rows of an item with P = .9 and one with P = .05: weights 3.3 together against 20."""
    draw = draw_of(([0, 1, 2, 3], [4] * 4), ([0, 1, 2, 3], [0, 0, 0, 3]), [0.9, 0.5, 0.5, 0.05, 0.5], n_users=4)
    up, down = (
        MatrixScorer(np.tile(np.array(line, dtype=float), (4, 1))) for line in ([4, 3, 2, 1, 0], [1, 2, 3, 4, 0])
    )
    way = Way(KNOWN)
    chosen = weighted_world._choose(draw, way, {(way, 0.1): up, (way, 0.2): down}, (0.1, 0.2))
    assert chosen == {"aoa": 0.1, "known": 0.2, "own": 0.2}


def trial(plain: float, known: float, *, chosen: float, naive: float, snips: float):
    """Numbers of two models with these true values of ADG; estimates are off by the last two."""
    true = np.array([plain, known])
    for way in WAYS:
        for by in ("aoa", "own", "known"):
            yield ("true", way, by), chosen if by == NAIVE else known if way.weights else plain
            yield ("true over pairs", way, by), 0.0
        yield ("head", way, ""), 0.1
    off = {NAIVE: naive, KNOWN: snips, "popularity": 0.0, "popularity(gamma=1)": 0.0}
    for name, by in off.items():
        yield from errors_of(name, true[::-1] if name == "popularity" else true + by, true)
    yield ("true head", "", ""), 0.05
    yield ("rows", "", ""), 4.0


def trials_of(logs: int = 6, **changed) -> Trials:
    settings = {"plain": 0.2, "known": 0.3, "chosen": 0.1, "naive": 0.05, "snips": 0.01} | changed
    wiggle = np.linspace(-1e-3, 1e-3, logs)
    moved = [settings | {"chosen": settings["chosen"] + by, "naive": settings["naive"] + by} for by in wiggle]
    return Trials.collect(("quantity", "of", "by"), "log", (number for each in moved for number in trial(**each)))


def test_errors_and_orders_by_hand() -> None:
    trials = trials_of()
    assert trials["bias", KNOWN, ""] == pytest.approx(0.01)
    assert trials["rmse", KNOWN, ""] == pytest.approx(0.01)
    assert trials["in order", KNOWN, ""].tolist() == [1.0] * 6
    assert trials["in order", "popularity", ""].tolist() == [0.0] * 6
    assert trials["lost", KNOWN, ""] == pytest.approx(0.0)
    assert trials["lost", "popularity", ""] == pytest.approx(0.1)
    assert gain_of_weights(trials, Way(KNOWN)).mean.value == pytest.approx(0.1)
    assert true_adg(trials, Way(), "own") == pytest.approx(true_adg(trials, Way(), NAIVE))


def test_a_claim_can_hold_fail_and_be_left_open() -> None:
    assert [claim.holds for claim in claims(trials_of())] == [True, True]
    assert [claim.holds for claim in claims(trials_of(snips=0.2, chosen=0.25))] == [False, False]
    assert [claim.holds for claim in claims(trials_of(snips=0.05, chosen=0.2))] == [False, False]
    assert [claim.holds for claim in claims(trials_of(logs=2, snips=0.05, chosen=0.2))] == [None, None]


@pytest.mark.parametrize(
    ("differences", "direction", "holds", "word"),
    [
        ([0.1, 0.11, 0.12, 0.1, 0.11], 1, True, "raises"),
        ([-0.1, -0.11, -0.12, -0.1, -0.11], -1, False, "lowers"),
        ([0.1, -0.11, 0.12, -0.1, 0.11], 0, False, "does not clearly move"),
        ([0.1, 0.2], 0, None, "does not clearly move"),  # t of 3 with one degree of freedom
    ],
)
def test_a_gain_is_found_by_a_t_test(differences, direction, holds, word) -> None:
    gain = Gain.of(np.array(differences))
    assert gain.direction == direction
    assert gain.holds is holds
    assert word in gain.verb
    assert gain.helped == sum(each > 0 for each in differences)


def test_whether_weights_help_is_measured_and_never_fails_the_study() -> None:
    worse = trials_of(known=0.15)
    assert "lowers true ADG" in next(notes(worse))
    assert not any("training with" in claim.claim for claim in claims(worse))
    assert "raises true ADG" in next(notes(trials_of()))


SMALL = Context(
    fast=True,
    sizes={
        weighted_world.STEPS: 3000,
        weighted_world.FACTORS: 4,
        weighted.MAIN: Marketplace(holdout=HELD, users=300),
    },
)


def test_the_small_version_has_the_shape_of_a_table_and_is_the_same_again() -> None:
    study = Study("made", "A made paper", "N. N. (2000)", (weighted.TABLE,))
    found, again = (json.loads(study.run(SMALL).to_json()) for _ in range(2))
    table = found["tables"][0]
    assert table["cells"] == again["tables"][0]["cells"]
    assert all(cell["paper"] is None and not cell["comparable"] for cell in table["cells"])
    columns = {cell["column"] for cell in table["cells"]}
    assert {"chosen by aoa", "chosen by known P", "gain of weights", "bias", "pairs in order"} <= columns
    assert all(0.1 < cell["ours"] < 0.3 for cell in table["cells"] if cell["column"].startswith("chosen"))
    assert len(table["claims"]) == 2
    assert [len(panel["series"]) for panel in table["figures"][0]["panels"]] == [4, 4]
    assert any(note.startswith("Measured.") for note in table["notes"])
