"""Settings of the models of Lim et al. (2015): ladders that grow at their edges, choices, and the cache."""

import numpy as np
import pytest

from unskew.data import Interactions
from unskew.errors import DivergenceError
from unskew.evaluation import choose
from unskew.studies import Context
from unskew.studies.lim2015 import tuning
from unskew.studies.lim2015.protocol import hold_out
from unskew.studies.lim2015.tuning import Grid, Ladder, Tried, best_of, learner, tune

LADDER = Ladder((0.02, 0.05, 0.1), below=(0.005, 0.01), above=(0.2,))
STEPS = 2000


@pytest.mark.parametrize(
    ("tried", "best", "wider"),
    [
        ((0.02, 0.05, 0.1), [0.05], (0.02, 0.05, 0.1)),
        ((0.02, 0.05, 0.1), [0.1, 0.05], (0.02, 0.05, 0.1, 0.2)),
        ((0.02, 0.05, 0.1), [0.02, 0.1], (0.01, 0.02, 0.05, 0.1, 0.2)),
        ((0.01, 0.02, 0.05, 0.1), [0.01], (0.005, 0.01, 0.02, 0.05, 0.1)),
        ((0.005, 0.01, 0.02, 0.05, 0.1, 0.2), [0.005, 0.2], (0.005, 0.01, 0.02, 0.05, 0.1, 0.2)),
    ],
)
def test_a_ladder_gets_a_rung_where_the_best_is_at_an_edge(tried, best, wider):
    assert LADDER.widen(tried, best) == wider


def test_a_ladder_says_what_it_has():
    assert str(Ladder((0.1,))) == "0.1"
    assert str(LADDER) == "0.02, 0.05, 0.1 (and 0.005, 0.01, 0.2 where the best is at an edge)"


def tried_of(values, halfway=None):
    by = {setting: {("all", "adg"): value} for setting, value in values.items()}
    return Tried(by, by if halfway is None else {key: {("all", "adg"): halfway} for key in by}, {})


def test_the_best_may_be_at_an_edge_and_may_be_still_rising():
    grid, choice = Grid(LADDER, Ladder((0.1, 0.2))), ("all", "adg")
    inside = tried_of({(0.2, 0.1, 0.1): 0.1, (0.05, 0.15, 0.1): 0.3}, halfway=0.2)
    assert inside.best[choice] == (0.05, 0.15, 0.1)
    assert inside.is_rising(choice)
    assert not inside.is_at_edge(choice, grid)
    assert tried_of({(0.2, 0.15, 0.1): 0.1}).is_at_edge(choice, grid)
    assert tried_of({(0.05, 0.2, 0.1): 0.1}).is_at_edge(choice, grid)
    assert not tried_of({(0.05, 0.2, 0.1): 0.1}).is_at_edge(choice, Grid(LADDER, Ladder((0.2,))))
    assert not tried_of({(0.05, 0.2, 0.1): 0.1}).is_rising(choice)
    assert not tried_of({(0.05, 0.2, 0.1): 0.1}, halfway=0.3).is_rising(choice)


@pytest.fixture(scope="module")
def split():
    rng = np.random.default_rng(6)
    items = np.concatenate([rng.choice(40, 15, replace=False) for _ in range(50)])
    return hold_out(Interactions.from_arrays(np.repeat(np.arange(50), 15), items, n_users=50, n_items=40), rng=0)


@pytest.mark.parametrize("rule", tuning.RULES)
def test_the_choice_is_that_of_evaluation(split, rule):
    """One rule at a time, with `choose`, which judges by `evaluate`."""
    grid = Grid(Ladder((0.05, 0.1)), Ladder((0.01, 0.2)))
    for name, metrics in tuning.CHOICES.items():
        tried = tune(Context(), split, 3, name, STEPS, grid, name)
        settings = [learner(name, STEPS, rate, penalty) for rate in (0.05, 0.1) for penalty in (0.01, 0.2)]
        # at the end only, as the study takes them
        settings = [type(each)(**{**vars(each), "every": STEPS}) for each in settings]
        picked = choose(settings[0], split.with_candidates(rule), metrics, settings=settings, rng=3)
        for metric in metrics:
            setting, other = tried.best[rule, metric], picked[metric]
            assert setting[:2] == (other.model.learning_rate, other.model.regularisation)
            assert tried.values[setting][rule, metric] == pytest.approx(other.value, abs=1e-9)
            assert np.array_equal(tried.scorers[setting].item_factors, other.scorer.item_factors)


def test_settings_are_tried_beyond_an_edge_until_the_best_is_inside(split):
    grid = Grid(Ladder((0.05,), below=(0.01,), above=(0.1, 0.2)), Ladder((0.1,)))
    tried = tune(Context(), split, 0, "mf-adg", STEPS, grid, "made")
    rates = sorted(setting[0] for setting in tried.values)
    assert {0.01, 0.05, 0.1} <= set(rates)
    for choice, best in tried.best.items():
        assert best[0] in {0.01, 0.2} or (rates[0] < best[0] < rates[-1])
        assert best in tried.scorers
        assert tried.values[best][choice] == max(value[choice] for value in tried.values.values())
    assert set(tried.scorers) == set(tried.best.values())


def test_settings_that_diverge_are_left_out_unless_all_do(split, monkeypatch):
    real = tuning.try_all

    def fragile(grid, *rest):
        if all(each.learning_rate >= 0.1 for each in grid):
            raise DivergenceError("training diverged")
        return real([each for each in grid if each.learning_rate < 0.1], *rest)

    monkeypatch.setattr(tuning, "try_all", fragile)
    grid = Grid(Ladder((0.01, 0.05), above=(0.1,)), Ladder((0.1,)))
    assert {setting[0] for setting in tune(Context(), split, 0, "mf-adg", STEPS, grid, "made").values} == {0.01, 0.05}
    with pytest.raises(DivergenceError):
        tune(Context(), split, 0, "mf-adg", STEPS, Grid(Ladder((0.1,)), Ladder((0.1,))), "made")


def test_what_was_tried_is_read_from_the_cache_and_gives_the_same(split, tmp_path, monkeypatch):
    grid = Grid(Ladder((0.05, 0.1)), Ladder((0.01, 0.2)))
    context = Context(cache=tmp_path)
    first = tune(context, split, 0, "mf-auc", STEPS, grid, "made")
    (path,) = (tmp_path / "lim2015" / "fits").iterdir()
    with monkeypatch.context() as patch:
        patch.setattr(tuning, "_search", None)
        again = tune(context, split, 0, "mf-auc", STEPS, grid, "made")
        for seed, name, steps in ((1, "mf-auc", STEPS), (0, "mf-adg", STEPS), (0, "mf-auc", STEPS + 2)):
            with pytest.raises(TypeError):  # another run is trained
                tune(context, split, seed, name, steps, grid, "made")
    assert (again.values, again.halfway, again.best) == (first.values, first.halfway, first.best)
    for setting, scorer in first.scorers.items():
        ranks = [tuning.ranks_of(each, split) for each in (scorer, again.scorers[setting])]
        assert np.array_equal(ranks[0].above, ranks[1].above)
    path.write_bytes(path.read_bytes()[:1000])
    assert tune(context, split, 0, "mf-auc", STEPS, grid, "made").values == first.values


def test_the_best_of_equals_is_the_first():
    choice = ("all", "adg")
    assert best_of({(1.0, 0.0, 0.0): {choice: 0.2}, (2.0, 0.0, 0.0): {choice: 0.2}}) == {choice: (1.0, 0.0, 0.0)}
