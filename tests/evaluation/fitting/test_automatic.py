"""What ``auto`` is on each kind of log, and the sentence that says why."""

from functools import cache

import numpy as np
import pytest
from selected_logs import ITEMS, USERS, SelectedLog

from unskew import Interactions, Report, Split, evaluate
from unskew.evaluation.fitting import automatic
from unskew.evaluation.fitting.relevance import shared_exposure
from unskew.evaluation.fitting.self_check import LogShape, SelfCheck, self_check, shape_of
from unskew.logistic import sigmoid
from unskew.propensities import Exposure
from unskew.ranking import MatrixScorer
from unskew.simulators import SelectionWorld


@pytest.fixture(autouse=True)
def _passing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The check on simulated logs passes, without simulating any."""
    monkeypatch.setattr(automatic, "self_check", lambda _, word, *rest: SelfCheck(word, 0.4, 0.7, 0.5))


@cache
def log() -> SelectedLog:
    return SelectedLog.of()


@cache
def popular_log() -> SelectedLog:
    """A log whose positives are clearly selected: popular items have far more of them."""
    return SelectedLog.of("popq")


def run(split: Split, world: SelectedLog | None = None, **options: object) -> Report:
    given = {"metrics": ["adg", "recall@5"], "estimators": ["auto"], **options}
    return evaluate((world or log()).models, split, **given)  # type: ignore[arg-type]


def check(report: Report, estimator: str, propensity: str, why: str) -> None:
    """The choice, the estimates, the record and the summary say the same."""
    assert report.chosen is not None
    assert (report.chosen.estimator, report.chosen.propensity) == (estimator, propensity)
    assert why in report.chosen.sentence
    assert {row.estimator for row in report.estimates} == {estimator}
    assert report.to_dict()["run"]["auto"] == {
        "estimator": estimator,
        "propensity": propensity,
        "why": report.chosen.sentence,
    }
    assert [text for text in report.verdict.summary if why in text]


def test_with_random_rows_it_is_blend() -> None:
    report = run(log().split(slice_rows=150), positive="rating>=1")
    check(report, "blend", "exposure", "because there are random rows to check it with")
    assert report.propensities.relevance.exposure is not None
    assert report.propensities.relevance.exposure.power == 0.75


def test_with_random_rows_and_positives_alone_the_chances_are_learnt_from_the_slice() -> None:
    report = run(log().split(positives=True, slice_rows=150))
    check(report, "blend(q=slice)", "exposure(power=0.5)", "because there are random rows to check it with")
    assert report.propensities.relevance.exposure is not None
    assert report.propensities.relevance.exposure.power == 0.5
    for word in ("blend(q=slice)", "blend"):  # the same exposure is the default of a blend that is named
        named = run(log().split(positives=True, slice_rows=150), estimators=[word])
        assert [row.value for row in named.estimates] == [row.value for row in report.estimates]


def test_with_labels_it_is_blend() -> None:
    report = run(log().split(), positive="rating>=1")
    check(report, "blend", "exposure", "because the log has rows that are not positive, from which relevance is learnt")


def test_with_positives_alone_it_is_snips_by_exposure_to_the_power_of_a_half() -> None:
    world = popular_log()
    report = run(world.split(positives=True), world)
    check(
        report, "snips", "exposure(power=0.5)", "because all rows of the log count as positive; rows that are not, or"
    )
    assert report.to_dict()["run"]["propensity"] == "exposure(power=0.5)"
    named = run(world.split(positives=True), world, estimators=["snips"], propensity="exposure(power=0.5)")
    assert [row.value for row in report.estimates] == [row.value for row in named.estimates]


def test_positives_that_may_be_unselected_are_averaged() -> None:
    world = SelectedLog.of("mar")
    report = run(world.split(positives=True), world)
    check(report, "aoa(per=pair)", "", "do not differ clearly more in their numbers of rows")
    labelled = run(world.split(), world, positive="rating>=1")
    assert labelled.chosen is not None
    assert labelled.chosen.estimator == "blend"  # labels say what is relevant, whether it was selected or not


def test_relevance_alone_varies_between_items_as_in_the_world_without_selection() -> None:
    logits = SelectionWorld.preset("mar", users=1000, items=4000).draw(5).relevance_logit
    rates = sigmoid(logits).mean(axis=0)
    assert rates.var() / rates.mean() ** 2 == pytest.approx(automatic.RELEVANCE_ALONE, abs=0.01)


@pytest.mark.parametrize("positives", [False, True])
def test_exposure_is_fitted_once(monkeypatch: pytest.MonkeyPatch, positives: bool) -> None:
    world, fits, regress = popular_log(), [], Exposure.regress
    monkeypatch.setattr(Exposure, "regress", lambda *args, **rest: fits.append(1) or regress(*args, **rest))
    split = world.split(positives=positives)
    report = run(split, world, positive=None if positives else "rating>=1")
    assert len(fits) == 1
    with shared_exposure():
        again = [run(split, world, positive=None if positives else "rating>=1") for _ in range(2)]
        run(world.split(positives=not positives), world, positive="rating>=1" if positives else None)
    assert len(fits) == 3
    for other in again:
        assert [row.value for row in other.estimates] == [row.value for row in report.estimates]


def test_with_a_named_propensity_it_is_snips_with_that() -> None:
    report = run(log().split(), positive="rating>=1", propensity="popularity(gamma=2)")
    check(report, "snips", "popularity(gamma=2)", "because a propensity was given")


def test_with_a_column_of_propensities_it_is_snips_with_that() -> None:
    world = log()
    users, items = np.nonzero(world.in_test & world.drawn.relevant)
    test = Interactions.from_arrays(
        users, items, propensity=world.drawn.chance[users, items].astype(float), n_users=USERS, n_items=ITEMS
    )
    report = run(Split(world.rows(world.in_train, "train", positives=True), test))
    assert report.chosen is not None
    assert report.chosen.estimator == "snips"
    assert str(report.settings.propensity) == "column"
    assert "a propensity was given" in report.chosen.sentence


def test_where_nothing_can_be_learnt_it_is_the_naive_average() -> None:
    world = log()
    train = world.rows(world.in_train, "train", positives=True)
    few = world.rows(world.in_test, "test", positives=True)
    report = run(Split(train, few.take(np.arange(len(few)) < 20)))
    check(report, "aoa(per=pair)", "", "because 20 held-out rows are too few to learn exposure")


def test_where_candidates_are_listed_it_is_the_naive_average() -> None:
    report = run(log().split(positives=True), candidates="listed")
    check(report, "aoa(per=pair)", "", "because the candidates are listed")


def test_saved_ranks_of_labelled_rows_are_weighted_by_exposure() -> None:
    """Ranks of held-out rows have no sum over all candidates."""
    first = run(log().split(), positive="rating>=1", estimators=["aoa"])
    ranks = first.samples.judged.ranks["taste"]
    report = evaluate({"taste": ranks}, log().split(), metrics=["adg"], estimators=["auto"], positive="rating>=1")
    assert report.chosen is not None
    assert report.chosen.estimator == "snips"
    assert "are not possible with saved ranks" in report.chosen.sentence


@pytest.mark.parametrize(
    ("options", "why"), [({"users": "served"}, "users of each model"), ({"ties": "ordinal"}, "ties=ordinal")]
)
def test_where_no_sum_over_candidates_is_possible_labelled_rows_are_weighted(options: dict[str, str], why: str) -> None:
    report = run(log().split(), positive="rating>=1", **options)
    check(report, "snips", "exposure(power=0.5)", f"are not possible with {why}")


def test_metrics_over_all_pairs_are_weighted_and_the_reason_is_true() -> None:
    rng = np.random.default_rng(0)
    rows = Interactions.from_arrays(
        rng.integers(0, 30, 400),
        rng.integers(0, 20, 400),
        rng.integers(1, 6, 400).astype(float),
        n_users=30,
        n_items=20,
    ).distinct()
    half = rng.random(len(rows)) < 0.5
    split = Split(rows.take(half), rows.take(~half))
    report = evaluate(
        {"m": MatrixScorer(rng.uniform(1, 5, (30, 20)), ratings=True)},
        split,
        metrics=["mae"],
        estimators=["auto"],
    )
    assert report.chosen is not None
    assert report.chosen.estimator == "snips"
    assert report.chosen.sentence == "auto is snips, because the run has metrics over all pairs"


def test_an_estimator_that_fails_on_simulated_logs_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(automatic, "self_check", lambda _, word, *rest: SelfCheck(word, 1.2, 0.7, 0.5))
    report = run(log().split(), positive="rating>=1")
    check(report, "aoa(per=pair)", "", "blend is not better: its error is 1.20 of the naive average's")
    monkeypatch.setattr(automatic, "self_check", lambda _, word, *rest: SelfCheck(word, 0.2, 0.4, 0.5))
    worse = run(log().split(), positive="rating>=1")
    check(
        worse, "aoa(per=pair)", "", "blend is closer to the truth (its error is 0.20 of the naive average's) but orders"
    )
    sliced = run(log().split(slice_rows=150), positive="rating>=1")  # random rows check it instead
    assert sliced.chosen is not None
    assert sliced.chosen.estimator == "blend"


@pytest.mark.parametrize(
    ("error", "tau", "passes"), [(0.9, 0.5, True), (0.9, 0.46, True), (0.9, 0.4, False), (1.0, 0.9, False)]
)
def test_a_check_passes_with_a_smaller_error_and_no_worse_order(error: float, tau: float, *, passes: bool) -> None:
    assert SelfCheck("blend", error, tau, 0.5).passes is passes


def test_an_order_that_is_lost_within_its_error_over_logs_is_not_lost() -> None:
    assert SelfCheck("blend", 0.2, 0.4, 0.5, tau_error=0.06).passes
    assert not SelfCheck("blend", 0.2, 0.4, 0.5, tau_error=0.04).passes


def test_the_shape_is_that_of_the_log() -> None:
    split = log().split()
    labels = np.concatenate([split.train.values, split.test.values])  # type: ignore[list-item]
    shape = shape_of(split.train, split.test, labels)
    assert (shape.users, shape.items) == (USERS, 50)  # at least 50
    assert shape.positive == pytest.approx(labels.mean(), abs=0.051)
    assert shape.density == pytest.approx(len(labels) / USERS / 50, abs=0.006)
    positives = log().split(positives=True)
    rows = len(positives.train) + len(positives.test)
    assert shape_of(positives.train, positives.test, np.ones(rows)).positive is None


def test_blend_has_a_smaller_error_than_the_naive_average_on_simulated_logs() -> None:
    checked = self_check(LogShape(60, 50, 0.3, 0.3, 0.4), "blend", "", evaluate)
    assert checked.error < 0.7
    assert min(checked.tau, checked.naive_tau) > 0.5
    assert self_check(LogShape(60, 50, 0.3, 0.3, 0.4), "blend", "", evaluate) is checked  # kept


def test_lists_that_the_choice_cannot_estimate_are_averaged() -> None:
    report = run(popular_log().split(positives=True), popular_log(), metrics=["adg", "ndcg@5"])
    assert {(row.metric, row.estimator) for row in report.estimates} == {("adg", "snips"), ("ndcg@5", "aoa")}


def test_it_is_the_default_next_to_the_naive_average() -> None:
    report = evaluate(log().models, log().split(), positive="rating>=1")
    assert [str(estimator) for estimator in report.settings.estimators] == ["aoa(per=pair)", "blend"]
    assert report.chosen is not None


def test_an_estimator_that_is_named_next_to_it_is_kept_once() -> None:
    report = run(log().split(), positive="rating>=1", estimators=["blend", "auto", "dm"])
    assert sorted({row.estimator for row in report.estimates}) == ["blend", "dm"]
    assert len(report.estimates) == 2 * 2 * 3


def test_without_it_nothing_is_said() -> None:
    report = run(log().split(), positive="rating>=1", estimators=["dm"])
    assert report.chosen is None
    assert "auto" not in report.to_dict()["run"]
