"""`dm`, `dr` and `blend` in an evaluation, against dense sums over all candidates."""

import json
from functools import cache

import numpy as np
import polars as pl
import pytest
from selected_logs import ITEMS, USERS, SelectedLog, ndcg_by_enumeration

from unskew import Report, Split, evaluate
from unskew.arrays import Floats
from unskew.errors import ConfigError, DataError
from unskew.evaluation.fitting import automatic
from unskew.evaluation.fitting.relevance import fit_exposure
from unskew.evaluation.fitting.self_check import SelfCheck
from unskew.logistic import sigmoid
from unskew.propensities import Exposure
from unskew.ranking import MatrixScorer

WORDS = ("recall@5", "adg", "auc")


@cache
def log() -> SelectedLog:
    return SelectedLog.of()


@cache
def report() -> Report:
    return evaluate(
        log().models, log().split(), metrics=[*WORDS, "dcg@5"], estimators=["dm", "dr", "blend"], positive="rating>=1"
    )


def chances(run: Report, q: str = "labels") -> Floats:
    """q of all candidates, 0 for other pairs."""
    block = run.propensities.relevance.chances[q].block(np.arange(USERS), np.arange(ITEMS)).astype(float)
    return np.where(log().candidates, block, 0.0)


def value(run: Report, metric: str, estimator: str, model: str) -> float:
    (row,) = [e for e in run.estimates if (e.metric, e.estimator, e.model) == (metric, estimator, model)]
    assert row.value is not None
    return row.value


def dense(metric: str, estimator: str, model: str) -> float:
    """The estimate from matrices of all pairs, as the formulas are printed."""
    world, run = log(), report()
    gains, q = world.gains(metric, model), chances(run)
    per_user = metric.startswith("dcg")
    direct = np.sum(q * gains) / (USERS if per_user else q.sum())
    if estimator == "dm":
        return float(direct)
    exposure = run.propensities.relevance.exposure
    assert exposure is not None
    if estimator == "blend":
        users, items = np.nonzero(world.in_test & world.drawn.relevant)
        weight = sigmoid(exposure.logits(users, items)) ** -0.75
        scale = q.sum() / USERS if per_user else 1.0
        effective = weight.sum() ** 2 / np.sum(weight**2)
        share = effective / (effective + 100) / 2
        weighted = scale * np.sum(weight * gains[users, items]) / weight.sum()
        return float((1 - share) * direct + share * weighted)
    users, items = np.nonzero(world.in_test)
    weight = 1 / sigmoid(exposure.logits(users, items))
    weight = np.minimum(weight, 10 * np.median(weight))
    weight *= world.candidates.sum() / weight.sum()
    chance = run.propensities.relevance.chances["labels"].rows(users, items)  # in 64 bits
    error = weight * (world.drawn.relevant[users, items] - chance)
    above = np.sum(q * gains) + np.sum(error * gains[users, items])
    return float(above / (USERS if per_user else q.sum() + error.sum()))


@pytest.mark.parametrize("estimator", ["dm", "dr", "blend"])
@pytest.mark.parametrize("metric", [*WORDS, "dcg@5"])
def test_the_estimates_are_those_of_dense_sums(metric: str, estimator: str) -> None:
    for model in log().models:
        assert value(report(), metric, estimator, model) == pytest.approx(dense(metric, estimator, model), rel=1e-9)


def test_the_exposure_model_of_blend_is_that_of_the_split() -> None:
    exposure = report().propensities.relevance.exposure
    assert exposure is not None
    again = fit_exposure(Exposure(), log().split())
    test = log().split().test
    np.testing.assert_array_equal(exposure(test.users, test.items), again(test.users, test.items))
    assert exposure.power == 0.75


def test_a_named_exposure_is_used_instead() -> None:
    options = {"metrics": ["auc"], "estimators": ["blend"], "positive": "rating>=1"}
    plain = evaluate(log().models, log().split(), **options)  # type: ignore[arg-type]
    named = evaluate(log().models, log().split(), propensity="exposure(power=0.25)", **options)  # type: ignore[arg-type]
    assert named.propensities.relevance.exposure is not None
    assert named.propensities.relevance.exposure.power == 0.25
    assert value(named, "auc", "blend", "taste") != value(plain, "auc", "blend", "taste")


def test_the_chances_are_learnt_from_train_and_test() -> None:
    world, run = log(), report()
    observed = world.drawn.observed
    labels = world.drawn.relevant & observed
    fitted = run.propensities.relevance.chances["labels"]
    overall = labels.sum() / observed.sum()
    rate = (labels.sum(axis=0) + 5 * overall) / (observed.sum(axis=0) + 5)
    by_item = fitted.rows(np.zeros(ITEMS, int), np.arange(ITEMS))
    slopes = fitted.fit.slopes  # type: ignore[attr-defined]
    want = slopes[0] * np.log(rate / (1 - rate)) + slopes[2] * np.log1p(observed.sum(axis=0))
    got = np.log(by_item / (1 - by_item))
    np.testing.assert_allclose(got - got[0], want - want[0], atol=1e-8)


def test_threads_do_not_change_a_byte() -> None:
    words = [*WORDS, "dcg@5", "ndcg@5"]
    texts = []
    for threads in (1, 2):
        run = evaluate(
            log().models,
            log().split(slice_rows=150),
            metrics=words,
            estimators=["dm", "blend"],
            positive="rating>=1",
            threads=threads,
            block_size=7,  # several blocks
        )
        record = run.to_dict()
        texts.append(json.dumps([record[key] for key in ("estimates", "comparisons", "slice")], default=str))
    assert texts[0] == texts[1]


def test_lists_are_expected_under_independent_chances() -> None:
    """Against a simulation of every user; within five standard errors of 2,000 draws per user."""
    models = {"taste": log().models["taste"]}
    run = evaluate(models, log().split(), metrics=["ndcg@5"], estimators=["dm"], positive="rating>=1")
    q, some = chances(run), []
    weight = 1 - np.prod(1 - q, axis=1)
    for user in range(USERS):
        chosen = log().candidates[user]
        scores = log().scores["taste"][user, chosen]
        some.append(ndcg_by_enumeration(scores, q[user, chosen], 5, 2000, user))
    want = np.sum(weight * some) / weight.sum()
    assert value(run, "ndcg@5", "dm", "taste") == pytest.approx(want, abs=5 * 0.3 / np.sqrt(2000 * USERS))


def test_blend_of_a_list_is_dm() -> None:
    run = evaluate(log().models, log().split(), metrics=["ndcg@5"], estimators=["dm", "blend"], positive="rating>=1")
    for model in log().models:
        assert value(run, "ndcg@5", "blend", model) == value(run, "ndcg@5", "dm", model)


def test_scores_of_a_file_are_the_chances(tmp_path) -> None:
    q = np.random.default_rng(0).uniform(0.05, 0.9, (USERS, ITEMS))
    users, items = np.indices(q.shape).reshape(2, -1)
    file = tmp_path / "q.csv"
    pl.DataFrame({"user": users, "item": items, "score": q.ravel()}).write_csv(file)
    word = f"dm(q=scores({file}))"
    run = evaluate(log().models, log().split(), metrics=["adg"], estimators=[word], positive="rating>=1")
    kept = np.where(log().candidates, q, 0)
    for model in log().models:
        want = np.sum(kept * log().gains("adg", model)) / kept.sum()
        assert value(run, "adg", word, model) == pytest.approx(want, rel=1e-9)


def test_a_file_that_lacks_candidates_is_warned_of_and_one_number_for_all_of_them_is_refused(tmp_path) -> None:
    users, items = np.nonzero(log().candidates)
    chances = pl.DataFrame({"user": users, "item": items, "score": np.linspace(0.1, 0.9, len(users))})
    file = tmp_path / "q.csv"
    word = f"dm(q=scores({file}))"

    def judge() -> Report:
        return evaluate(log().models, log().split(), metrics=["adg"], estimators=[word], positive="rating>=1")

    chances.write_csv(file)
    assert not [text for text in judge().warnings if "lacks" in text]
    lacking = round(0.2 * len(users))
    chances.tail(-lacking).write_csv(file)
    (text,) = [text for text in judge().warnings if "lacks" in text]
    assert "lacks 20 % of the candidates, which count as never relevant" in text
    chances.with_columns(score=pl.lit(0.3)).write_csv(file)
    with pytest.raises(DataError, match=r"q\.csv: every chance is 0\.3, which says nothing about the pairs"):
        judge()


def test_all_items_are_candidates_under_all() -> None:
    split = log().split(candidates="all")
    run = evaluate({"taste": log().models["taste"]}, split, metrics=["auc"], estimators=["dm"], positive="rating>=1")
    q = run.propensities.relevance.chances["labels"].block(np.arange(USERS), np.arange(ITEMS)).astype(float)
    scores = log().scores["taste"]
    above = (scores[:, None, :] > scores[:, :, None]).sum(axis=2)
    assert value(run, "auc", "dm", "taste") == pytest.approx(np.sum(q * (1 - above / ITEMS)) / q.sum(), rel=1e-9)


def test_an_item_that_only_a_model_knows_is_a_candidate_with_the_overall_rate() -> None:
    scores = np.column_stack([log().scores["taste"], np.full(USERS, 99.0)])  # first in every list
    split = log().split()
    wider = MatrixScorer(scores, item_ids=np.arange(ITEMS + 1))
    run = evaluate({"wider": wider}, split, metrics=["recall@1"], estimators=["dm"], positive="rating>=1")
    fitted = run.propensities.relevance.chances["labels"]
    extra = fitted.block(np.arange(USERS), np.array([-1]))[:, 0].astype(float)
    assert value(run, "recall@1", "dm", "wider") == pytest.approx(extra.sum() / (chances(run).sum() + extra.sum()))


def test_users_whom_no_model_knows_are_left_out() -> None:
    known = np.arange(USERS - 10)
    scorer = MatrixScorer(log().scores["taste"][:-10], user_ids=known)
    run = evaluate({"m": scorer}, log().split(), metrics=["adg"], estimators=["dm", "blend"], positive="rating>=1")
    q = chances(run)[:-10]
    want = np.sum(q * log().gains("adg", "taste")[:-10]) / q.sum()
    assert value(run, "adg", "dm", "m") == pytest.approx(want, rel=1e-9)
    assert run.estimates[0].users == USERS - 10


def test_a_user_of_test_alone_is_summed_too() -> None:
    world = log()
    mask = world.in_train.copy()
    mask[3] = False
    split = Split(world.rows(mask, "train"), world.rows(world.in_test | (world.in_train & ~mask), "test"))
    run = evaluate(
        {"m": world.models["taste"]}, split, metrics=["adg"], estimators=["dm", "blend"], positive="rating>=1"
    )
    assert {e.users for e in run.estimates} == {USERS}


@pytest.mark.parametrize("estimator", ["dm", "dr", "blend"])
def test_other_sets_of_candidates_and_ties_by_order_are_refused(estimator: str) -> None:
    def refused(kind: type[Exception], says: str, split: Split | None = None, **options: object) -> None:
        given = {"metrics": ["recall@5"], "estimators": [estimator], "positive": "rating>=1", **options}
        with pytest.raises(kind, match=says):
            evaluate(log().models, split or log().split(), **given)  # type: ignore[arg-type]

    refused(ConfigError, "about the candidates of all users; use .*any", users="served")
    refused(ConfigError, "ties have no order under ties=random; use ties=expected", ties="random")
    refused(ConfigError, "ties have no order under ties=ordinal; use ties=expected", ties="ordinal")
    refused(ConfigError, "sums over all candidates need all of them; use", candidates="sampled(10)")
    refused(ConfigError, "sums over all candidates need all of them; use", candidates="listed")
    exposed = Split(log().rows(log().in_train, "train"), log().random_slice(100), exposed=True)
    refused(ConfigError, "needs the log; give .*test", exposed, positive=None)
    refused(
        DataError,
        "rows are positive, so the chance of relevance cannot be learnt",
        log().split(positives=True),
        positive=None,
    )


def test_saved_ranks_are_refused() -> None:
    ranks = report().samples.judged.ranks["taste"]
    with pytest.raises(ConfigError, match="model 'taste' has ranks of held-out rows only"):
        evaluate({"taste": ranks}, log().split(), metrics=["adg"], estimators=["dm"], positive="rating>=1")


def test_dr_of_a_list_and_q_of_a_slice_without_one_are_refused() -> None:
    with pytest.raises(ConfigError, match="dr cannot estimate ndcg@5; use dm or blend"):
        evaluate(log().models, log().split(), metrics=["ndcg@5"], estimators=["dr"], positive="rating>=1")
    with pytest.raises(ConfigError, match="q=slice needs random rows"):
        evaluate(log().models, log().split(), metrics=["adg"], estimators=["dm(q=slice)"], positive="rating>=1")


def test_an_unknown_source_of_chances_is_refused_with_a_hint() -> None:
    with pytest.raises(ConfigError, match="did you mean 'labels'"):
        evaluate(log().models, log().split(), metrics=["adg"], estimators=["dm(q=label)"], positive="rating>=1")


def test_a_pair_of_train_that_is_held_out_again_is_not_a_candidate() -> None:
    world = log()
    both = world.in_test.copy()
    both[:, :3] |= world.in_train[:, :3]
    split = Split(world.rows(world.in_train, "train"), world.rows(both, "test"))
    run = evaluate(
        {"m": world.models["taste"]}, split, metrics=["adg"], estimators=["dr", "blend"], positive="rating>=1"
    )
    exposure = run.propensities.relevance.exposure
    assert exposure is not None
    assert len(exposure.keys) == int(world.candidates.sum())


def test_the_naive_average_of_pairs_is_the_twin() -> None:
    answer = {a.metric: a for a in report().answers}["adg"]
    assert answer.naive is not None
    assert answer.naive.estimator == "aoa(per=pair)"
    assert answer.judging.estimator == "blend"


def test_blend_is_closer_to_the_truth_than_the_naive_average() -> None:
    """On the mean over 5 logs and 3 models its error is below that of the naive average."""
    errors: dict[str, list[float]] = {"aoa(per=pair)": [], "blend": []}
    for seed in range(5):
        world = SelectedLog.of("mixed", seed)
        run = evaluate(world.models, world.split(), metrics=["adg"], estimators=[*errors], positive="rating>=1")
        for row in run.estimates:
            assert row.value is not None
            errors[row.estimator].append(abs(row.value - world.truth("adg", row.model)))
    assert np.mean(errors["blend"]) < 0.7 * np.mean(errors["aoa(per=pair)"])


@pytest.mark.parametrize("estimator", ["dm", "dr", "blend", "auto"])
def test_values_0_and_1_are_labels_without_a_condition(estimator: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else a row of value 0 would be negative in q and positive in the weighted mean."""
    monkeypatch.setattr(automatic, "self_check", lambda _, word, *rest: SelfCheck(word, 0.4, 0.7, 0.5))
    options = {"metrics": ["adg"], "estimators": ["aoa(per=pair)", estimator]}
    plain = evaluate(log().models, log().split(), **options)  # type: ignore[arg-type]
    named = evaluate(log().models, log().split(), positive="rating>=1", **options)  # type: ignore[arg-type]
    assert plain.estimates == named.estimates
    assert plain.to_dict()["run"]["positive"] == "rating>=1"


def test_without_an_estimator_that_learns_from_labels_all_rows_are_positive() -> None:
    plain = evaluate(log().models, log().split(), metrics=["adg"], estimators=["aoa(per=pair)", "snips"])
    assert plain.settings.positive is None
    assert plain.samples.judged.rows == int(log().in_test.sum())
