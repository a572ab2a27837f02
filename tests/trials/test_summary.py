from statistics import NormalDist

import numpy as np
import pytest

from unskew.errors import ConfigError
from unskew.trials import Design, Method, Summary, Trials, smallest_detectable, wrong_winner

NAN = float("nan")


def make_trials(
    truth: list[tuple[float, float]], estimate: list[tuple[float, float]], errors: list[float], *, shift: float = NAN
) -> Trials:
    """Trials of two recommenders by one metric and one method; all errors as given."""
    true, seen = (np.array(values, dtype=float)[:, :, None, None] for values in (truth, estimate))
    error = np.array(errors)[:, None, None, None]
    runs = len(errors)
    return Trials(
        Design(("a", "b"), ("recall@10",), (Method(),)),
        world="by hand",
        seed=0,
        truth=true,
        population=true + np.array([shift, 0])[:, None, None],
        estimate=seen,
        std_error=np.repeat(error, 2, axis=1),
        difference=seen[:, :1] - seen[:, 1:],
        difference_error=error,
        users=np.full(runs, 10),
        panel_users=np.zeros(runs, dtype=int),
        dropped=np.zeros(runs, dtype=int),
    )


def test_a_cell_by_hand() -> None:
    # errors of a: 0.1, -0.1, 0.3; reach of the intervals 1.96 x 0.1 = 0.196
    trials = make_trials([(0.5, 0.2)] * 3, [(0.6, 0.2), (0.4, 0.2), (0.8, 0.2)], [0.1] * 3, shift=0.25)
    cell = Summary(trials).cell("a", "recall@10", "aoa")
    assert (cell.runs, cell.truth, cell.estimate) == (3, 0.5, pytest.approx(0.6))
    assert cell.bias == pytest.approx(0.1)
    assert cell.spread == pytest.approx(0.2)
    assert cell.bias_error == pytest.approx(0.2 / 3**0.5)
    assert cell.rmse == pytest.approx((0.11 / 3) ** 0.5)
    assert cell.std_error == pytest.approx(0.1)
    assert cell.coverage == pytest.approx(2 / 3)
    assert cell.coverage_population == pytest.approx(2 / 3)  # 0.75 is missed by 0.4
    assert Summary(trials).cell("b", "recall@10", "aoa").coverage == 1
    assert cell.to_dict()["recommender"] == "a"


def test_a_pair_by_hand() -> None:
    # estimated gaps 0.3, -0.3, 0.1, 0, true ones 0.2 but in the last run -0.2; reach 0.196 and in the last run 0.02
    trials = make_trials(
        [(0.4, 0.2), (0.4, 0.2), (0.4, 0.2), (0.2, 0.4)],
        [(0.5, 0.2), (0.2, 0.5), (0.3, 0.2), (0.3, 0.3)],
        [0.1, 0.1, 0.1, 0.01],
    )
    pair = Summary(trials).pair("a", "b", "recall@10", "aoa")
    assert (pair.true_gap, pair.gap) == (pytest.approx(0.1), pytest.approx(0.025))
    assert (pair.true_ratio, pair.ratio) == (pytest.approx(0.35 / 0.25), pytest.approx(0.325 / 0.3))
    assert pair.first_chosen == 3 / 4  # a tie counts as a win
    assert pair.right_chosen == 3 / 4
    assert (pair.right_verdict, pair.wrong_verdict, pair.undecided) == (1 / 4, 1 / 4, 2 / 4)
    assert (pair.clear, pair.right_when_clear) == (1 / 4, 1)
    assert pair.coverage == 2 / 4
    assert pair.coverage_population is None
    assert pair.population_spread is None
    back = Summary(trials).pair("b", "a", "recall@10", "aoa")
    assert back.gap == pytest.approx(-0.025)
    assert back.first_chosen == 2 / 4
    assert (back.right_verdict, back.wrong_verdict, back.coverage) == (1 / 4, 1 / 4, 2 / 4)


def test_all_cells_and_pairs_that_go_together_are_listed() -> None:
    design = Design(("a", "b", "c"), ("recall@10", "dcg@10", "mrr@10"))
    shape = (2, 3, 3, len(design.methods))
    empty = np.zeros(shape)
    trials = Trials(design, "by hand", 0, *[empty] * 6, *[np.ones(2, dtype=int)] * 3)
    summary = Summary(trials)
    assert len(list(summary.cells)) == 3 * (9 + 3 + 1)
    assert len(list(summary.pairs)) == 3 * (9 + 3 + 1)


def test_a_recommender_alike_for_all_users_is_covered_despite_rounding() -> None:
    trials = make_trials([(0.1, 0.2)] * 2, [(0.1 + 1e-17, 0.2), (0.1, 0.2 * (1 + 1e-15))], [0.0, 0.0])
    assert Summary(trials).cell("b", "recall@10", "aoa").coverage == 1
    assert Summary(trials).pair("a", "b", "recall@10", "aoa").coverage == 1


def test_what_is_not_there_is_asked_for_in_vain() -> None:
    summary = Summary(make_trials([(0.5, 0.2)], [(0.5, 0.2)], [0.1]))
    with pytest.raises(ConfigError, match="unknown recommender 'c'"):
        summary.cell("c", "recall@10", "aoa")
    with pytest.raises(ConfigError, match=r"unknown metric of these trials 'recall@11'.*recall@10"):
        summary.cell("a", "recall@11", "aoa")
    with pytest.raises(ConfigError, match="with itself"):
        summary.pair("a", "a", "recall@10", "aoa")
    assert summary.cell("a", "recall@10", "aoa").spread is None  # one run


def test_the_chance_of_a_wrong_winner() -> None:
    errors = np.array([-0.2, -0.1, 0.0, 0.1, 0.2, 0.3])
    # seen 0.15: the truth is 0.15 - e, below 0 for 0.2 and 0.3
    seen = wrong_winner(errors, 0.15)
    assert seen.counted == pytest.approx(2 / 6)
    assert seen.normal == pytest.approx(NormalDist().cdf(-(0.15 - 0.05) / errors.std(ddof=1)))
    # seen -0.15: the truth is above 0 for -0.2 alone
    assert wrong_winner(errors, -0.15).counted == pytest.approx(1 / 6)
    assert wrong_winner(errors, -0.15).normal == pytest.approx(NormalDist().cdf(-(0.15 + 0.05) / errors.std(ddof=1)))
    assert wrong_winner(np.zeros(5), 0.1) == wrong_winner(np.zeros(5), -0.1)
    assert wrong_winner(np.zeros(5), 0.0).counted == 0.5
    with pytest.raises(ConfigError, match="no error of this difference"):
        wrong_winner(np.array([NAN]), 0.1)


def test_the_smallest_difference_is_detected_as_often_as_it_says() -> None:
    rng = np.random.default_rng(0)
    spread, bias = 0.02, -0.01
    errors = rng.normal(bias, spread, 20_000)
    least = smallest_detectable(errors)
    assert least == pytest.approx((1.96 + 0.8416) * spread + 0.01, rel=0.03)
    # the share of normal intervals above 0; 20,000 draws have a standard error of 0.003, and the bias hinders here
    assert np.mean(least + errors - 1.96 * spread > 0) == pytest.approx(0.8, abs=0.015)
    with pytest.raises(ConfigError, match="at least 2 runs"):
        smallest_detectable(errors[:1])
    with pytest.raises(ConfigError, match="power=1"):
        smallest_detectable(errors, power=1)
