"""The sweep of gamma: from -1, no correction, to 3; where the order of models changes."""

import numpy as np
import pytest

from unskew import Interactions, Report, Split, evaluate
from unskew.evaluation import Sweep
from unskew.evaluation.estimating.gamma_sweep import GAMMAS, OrderChange
from unskew.ranking import MatrixScorer
from unskew.testing.worlds.head_and_tail import NAIVE_AND_SNIPS
from unskew.testing.worlds.long_tail import ITEMS, USERS, skewed_split, whole_scores


def two_models(**options: object) -> Report:
    """One model likes what is popular, the other what is not, so the order turns around."""
    head = np.tile(-np.arange(ITEMS, dtype=float), (USERS, 1))
    models = {"head": MatrixScorer(head), "tail": MatrixScorer(-head), "some": whole_scores()}
    return evaluate(models, skewed_split(), **options)  # type: ignore[arg-type]


def at(sweep: Sweep, model: str, gamma: float) -> float:
    return float(sweep.values[model][sweep.gammas.index(gamma)])


def test_gamma_runs_from_no_correction_to_a_strong_one() -> None:
    assert (GAMMAS[0], GAMMAS[-1]) == (-1, 3)
    assert 0 in GAMMAS
    assert list(GAMMAS) == sorted(GAMMAS)


@pytest.mark.parametrize(("form", "naive"), [("pair", "aoa(per=pair)"), ("balanced", "aoa"), ("user", "aoa")])
@pytest.mark.parametrize("smoothing", [0, 1, 2.5])
def test_without_correction_the_sweep_is_the_naive_average_of_its_form(form: str, naive: str, smoothing: float) -> None:
    snips = "snips" if form == "pair" else f"snips(per={form})"
    report = two_models(
        metrics=["auc", "recall@5"], estimators=[snips, naive], propensity=f"popularity(smoothing={smoothing})"
    )
    for sweep in report.sweeps:
        assert sweep.estimator == snips
        for model in report.models:
            assert at(sweep, model, -1) == pytest.approx(report.value(model, sweep.metric, naive), rel=1e-12)


@pytest.mark.parametrize("gamma", [-1, 0, 0.5, 3])
@pytest.mark.parametrize("estimator", ["snips", "snips(per=user)", "snips(clip=0.2)"])
def test_at_the_gamma_of_the_run_the_sweep_is_the_estimate(gamma: float, estimator: str) -> None:
    report = two_models(metrics=["auc"], estimators=[estimator], propensity=f"popularity(gamma={gamma})")
    [sweep] = report.sweeps
    for model in report.models:
        assert at(sweep, model, gamma) == pytest.approx(report.value(model, "auc", estimator), rel=1e-12)


def test_the_smoothing_of_the_run_is_that_of_the_sweep() -> None:
    report = two_models(metrics=["auc"], estimators=["snips"], propensity="popularity(smoothing=0)")
    assert at(report.sweeps[0], "head", 0) == pytest.approx(report.value("head", "auc", "snips"), rel=1e-12)


def test_smoothing_zero_leaves_out_items_never_seen_also_without_correction() -> None:
    train = Interactions.from_arrays([0, 1, 2], [0, 0, 1], n_users=3, n_items=4)
    test = Interactions.from_arrays([0, 0, 1], [1, 2, 3], n_users=3, n_items=4)
    model = MatrixScorer(np.tile([4.0, 3, 2, 1], (3, 1)))
    report = evaluate({"m": model}, Split(train, test), metrics=["recall@1"], propensity="popularity(smoothing=0)")
    assert report.sweeps[0].values["m"].tolist() == [1.0] * len(GAMMAS)


def test_nothing_is_swept_when_no_item_has_a_propensity() -> None:
    train = Interactions.from_arrays([0, 1], [0, 0], n_users=2, n_items=4)
    test = Interactions.from_arrays([0, 1], [1, 2], n_users=2, n_items=4)
    models = {"m": MatrixScorer(np.eye(2, 4)), "n": MatrixScorer(-np.eye(2, 4))}
    report = evaluate(models, Split(train, test), estimators=["aoa"], propensity="popularity(smoothing=0)")
    assert report.sweeps == []
    assert "m" in str(report)


def test_only_means_are_swept_once_each() -> None:
    report = two_models(metrics=["recall@5", "ndcg@5", "dcg@5", "auc"])
    assert [sweep.metric for sweep in report.sweeps] == ["recall@5", "auc"]


def test_a_run_without_snips_is_swept_over_pairs() -> None:
    assert two_models(metrics=["auc"], estimators=["aoa"]).sweeps[0].estimator == "snips"


def test_stronger_correction_favours_the_model_of_the_tail() -> None:
    sweep = two_models(metrics=["auc"]).sweeps[0]
    assert (np.diff(sweep.values["head"]) < 0).all()
    assert (np.diff(sweep.values["tail"]) > 0).all()
    assert sweep.order(0)[0] == "head"


def test_changes_say_between_which_gammas_which_order_turns() -> None:
    gammas = (-1.0, 0.0, 1.0, 2.0)
    sweep = Sweep("auc", "snips", gammas, {"b": np.array([3.0, 3, 1, 1]), "a": np.array([2.0, 2, 2, 0])})
    assert [sweep.order(k) for k in range(4)] == [("b", "a"), ("b", "a"), ("a", "b"), ("b", "a")]
    assert sweep.changes == [
        OrderChange(0.0, 1.0, ("b", "a"), ("a", "b")),
        OrderChange(1.0, 2.0, ("a", "b"), ("b", "a")),
    ]


def test_equal_models_are_ordered_by_name_and_never_change() -> None:
    report = evaluate({"b": whole_scores(), "a": whole_scores()}, skewed_split(), metrics=["auc"], estimators=["snips"])
    assert report.sweeps[0].order(0) == ("a", "b")
    assert report.sweeps[0].changes == []


def test_the_printed_report_says_who_is_first_at_which_gamma() -> None:
    report = two_models(metrics=["auc", "recall@5"], estimators=NAIVE_AND_SNIPS)
    text = str(report)
    assert "first for gamma" in text
    for answer in report.answers:
        assert answer.spans[0][1] == -0.5
        assert answer.spans[-1][2] == 1.5
        row = next(line for line in text.splitlines() if line.lstrip().startswith(answer.metric))
        assert (", ".join(answer.spans[0][0]) or "none") in row
