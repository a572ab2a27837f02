"""`blend` with a slice of random rows in an evaluation: a dense oracle, warnings, the record and refusals."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from selected_logs import ITEMS, USERS, SelectedLog, selected_by_popularity

from unskew import Interactions, Report, Split, evaluate
from unskew.arrays import Floats
from unskew.errors import ConfigError, DataError
from unskew.estimators.imputed import tilted_weights
from unskew.estimators.imputed.sliced import WORTH, mahalanobis
from unskew.logistic import sigmoid
from unskew.ranking import MatrixScorer

WORDS = ("recall@5", "adg", "auc")
ROWS = 200


@cache
def log() -> SelectedLog:
    return SelectedLog.of()


def run(split: Split, **options: object) -> Report:
    given = {"metrics": [*WORDS], "estimators": ["blend"], "positive": "rating>=1", **options}
    return evaluate(log().models, split, **given)  # type: ignore[arg-type]


@cache
def report() -> Report:
    return run(log().split(slice_rows=ROWS), metrics=[*WORDS, "dcg@5", "ndcg@5"])


def values(of: Report, metric: str, estimator: str = "blend") -> Floats:
    rows = {e.model: e.value for e in of.estimates if (e.metric, e.estimator) == (metric, estimator)}
    return np.array([rows[model] for model in log().models], dtype=float)


class Dense:
    """The formulas on matrices of all pairs, from the fitted chances and exposure of a report."""

    def __init__(self, of: Report, q: str = "labels") -> None:
        world, relevance = log(), of.propensities.relevance
        self.world, self.fitted = world, relevance.chances[q]
        self.candidates = world.candidates
        self.q = np.where(self.candidates, self.fitted.block(np.arange(USERS), np.arange(ITEMS)), 0.0)
        assert relevance.exposure is not None
        self.exposure, self.labelled = relevance.exposure, relevance.labelled
        assert of.inputs.split.slice is not None
        drawn = of.inputs.split.slice
        self.users, self.items, self.label = drawn.users, drawn.items, np.asarray(drawn.values)

    def tilted(self) -> tuple[Floats, Floats, Floats]:
        """Users, items and weights of the held-out positives."""
        users, items = np.nonzero(self.world.in_test & self.world.drawn.relevant)
        count = np.log1p(self.world.in_train.sum(axis=0))
        features = np.column_stack([count[items], self.exposure.logits(users, items)])
        drawn = np.column_stack([count[self.items], self.exposure.logits(self.users, self.items)])
        center, spread = drawn.mean(axis=0), drawn.std(axis=0)
        target = ((drawn - center) / spread)[self.label > 0].mean(axis=0)
        weight = sigmoid(self.exposure.logits(users, items)) ** -0.75
        return users, items, tilted_weights((features - center) / spread, weight, target, int(self.label.sum()))

    def parts(self, word: str) -> tuple[Floats, Floats, Floats, Floats]:
        """The one-step estimates, the base, the variance of the first without and with a design effect of users."""
        gains = np.stack([self.world.gains(word, model) for model in self.world.models])
        per_user = word.startswith("dcg")
        n, size, mass = len(self.users), int(self.candidates.sum()), float(self.q.sum())
        direct = (gains * self.q).sum(axis=(1, 2)) / (USERS if per_user else mass)
        centre = 0 * direct if per_user else direct
        scale = size / (USERS if per_user else mass)
        error = self.label - self.fitted.rows(self.users, self.items)
        away = gains[:, self.users, self.items] - centre[:, None]
        one_step = direct + scale * (error * away).mean(axis=1)
        spread = np.where(self.candidates, self.q * (1 - self.q), 0.0)
        deviation = gains - centre[:, None, None]
        variance = scale**2 * np.einsum("aui,bui,ui->ab", deviation, deviation, spread) / (size * n)
        errors = scale * error * away
        errors = errors - errors.mean(axis=1, keepdims=True)
        by_user = np.array([errors[:, self.users == user].sum(axis=1) for user in range(USERS)]).T / n
        base = direct
        if self.labelled:
            users, items, weight = self.tilted()
            level = mass / USERS if per_user else 1.0
            base = (direct + level * gains[:, users, items] @ weight) / 2
        return one_step, base, variance, by_user @ by_user.T

    def blend(self, word: str, broad: list[str]) -> Floats:
        """The estimate of each model, with the design effect of the metrics without a cut-off."""
        effects = []
        for other in broad:
            _, _, variance, clustered = self.parts(other)
            effects.append(np.trace(clustered) / np.trace(variance))
        one_step, base, variance, _ = self.parts(word)
        noise = variance * max(1.0, float(np.mean(effects)))
        distance, directions = mahalanobis(one_step - base, noise)
        ratio = self.label.sum() / WORTH
        likelihood = (1 + ratio) ** (-directions / 2) * np.exp(-distance / (2 * (1 + ratio)))
        share = np.sum(likelihood * ratio / (1 + ratio)) / np.sum(likelihood)
        return base + share * (one_step - base)


@pytest.mark.parametrize("metric", [*WORDS, "dcg@5"])
def test_the_estimates_are_those_of_dense_matrices(metric: str) -> None:
    dense = Dense(report())
    np.testing.assert_allclose(values(report(), metric), dense.blend(metric, ["adg", "auc"]), rtol=1e-8)


def test_the_record_has_the_slice_alone_and_the_base() -> None:
    dense, record = Dense(report()), report().to_dict()["slice"]
    assert (record["rows"], record["positives"]) == (ROWS, int(dense.label.sum()))
    assert list(record["models"]) == list(log().models)
    for row in record["estimates"]:
        one_step, base, _, _ = dense.parts(row["metric"])
        np.testing.assert_allclose(row["slice_alone"], one_step, rtol=1e-9)
        np.testing.assert_allclose(row["without"], base, rtol=1e-9)
        assert 0 < row["share"] < 1
        assert row["design_effect"] >= 1
    assert {row["metric"] for row in record["estimates"]} == {*WORDS, "dcg@5"}


def test_positives_alone_have_chances_from_the_slice_and_no_weighted_rows() -> None:
    split = log().split(positives=True, slice_rows=ROWS)
    drawn = run(split, positive=None, estimators=["blend(q=slice)"])
    relevance = drawn.propensities.relevance
    assert not relevance.labelled
    (row,) = [e for e in drawn.to_dict()["slice"]["estimates"] if e["metric"] == "adg"]
    fitted = relevance.chances["slice"]
    candidates = ~(log().in_train & log().drawn.relevant)
    q = np.where(candidates, fitted.block(np.arange(USERS), np.arange(ITEMS)), 0)
    scores = log().scores["taste"]
    above = np.array([[np.sum((scores[u] > scores[u, i]) & candidates[u]) for i in range(ITEMS)] for u in range(USERS)])
    gain = 1 / np.log2(above + 2)
    assert row["without"][0] == pytest.approx(np.sum(q * gain) / q.sum(), rel=1e-9)


def test_blend_of_positives_alone_uses_the_slice_for_its_chances_too() -> None:
    split = log().split(positives=True, slice_rows=ROWS)
    plain, named = (run(split, positive=None, estimators=[word]) for word in ("blend", "blend(q=slice)"))
    np.testing.assert_allclose(values(plain, "adg"), values(named, "adg", "blend(q=slice)"))


def test_dm_is_recalibrated_by_the_slice_but_not_shrunk() -> None:
    with_slice = run(log().split(slice_rows=ROWS), estimators=["dm"])
    dense = Dense(with_slice)
    for place, model in enumerate(log().models):
        want = np.sum(dense.q * log().gains("adg", model)) / dense.q.sum()
        assert values(with_slice, "adg", "dm")[place] == pytest.approx(want, rel=1e-9)
    without = run(log().split(), estimators=["dm"])
    assert not np.allclose(values(without, "adg", "dm"), values(with_slice, "adg", "dm"), rtol=1e-6)


def test_the_errors_of_differences_are_those_of_the_joint_covariance() -> None:
    """A difference of two models has a smaller error than independent ones would."""
    rows = {e.model: e for e in report().estimates if e.metric == "auc"}
    for pair in (c for c in report().comparisons if c.metric == "auc"):
        assert pair.low is not None
        assert pair.high is not None
        assert pair.difference == pytest.approx(rows[pair.a].value - rows[pair.b].value)  # type: ignore[operator]
        apart = np.hypot(rows[pair.a].std_error, rows[pair.b].std_error)  # type: ignore[arg-type]
        assert (pair.high - pair.low) / (2 * 1.96) < 1.2 * apart


def test_the_effective_sample_is_the_positives_of_the_slice() -> None:
    positives = report().to_dict()["slice"]["positives"]
    for row in report().estimates:
        if row.metric == "ndcg@5":
            assert row.effective_sample_size != positives
        else:
            assert row.effective_sample_size == positives
        assert row.users == USERS


def test_lists_are_not_shrunk() -> None:
    assert "ndcg@5" not in {row["metric"] for row in report().to_dict()["slice"]["estimates"]}
    lists = run(log().split(slice_rows=ROWS), metrics=["ndcg@5"], estimators=["dm", "blend"])
    np.testing.assert_allclose(values(lists, "ndcg@5"), values(lists, "ndcg@5", "dm"))


def test_a_bootstrap_next_to_a_slice_draws_users_but_not_directions() -> None:
    """The directions of a joint covariance are not users, so their intervals are by their standard errors."""
    models = {"taste": log().models["taste"]}
    options = {"metrics": ["adg", "ndcg@5"], "estimators": ["blend"], "positive": "rating>=1"}
    for some in (models, log().models):
        drawn, delta = (
            evaluate(some, log().split(slice_rows=ROWS), interval=interval, **options)  # type: ignore[arg-type]
            for interval in ("bootstrap(200)", "delta")
        )
        for row, other in zip(drawn.estimates, delta.estimates, strict=True):
            assert ((row.low, row.high) == (other.low, other.high)) is (row.metric == "adg")
        assert all(pair.low is not None for pair in drawn.comparisons)


def test_directions_as_many_as_users_are_not_drawn_with_them() -> None:
    rng = np.random.default_rng(0)
    models = {f"m{k}": MatrixScorer(rng.random((USERS, ITEMS))) for k in range(USERS // 2)}  # two directions per model
    options = {"metrics": ["adg"], "estimators": ["dm", "blend"], "positive": "rating>=1"}
    drawn, delta = (
        evaluate(models, log().split(slice_rows=ROWS), interval=interval, **options)  # type: ignore[arg-type]
        for interval in ("bootstrap(50)", "delta")
    )
    for row, other in zip(drawn.estimates, delta.estimates, strict=True):
        assert ((row.low, row.high) == (other.low, other.high)) is (row.estimator == "blend")


def test_truth_is_inside_the_intervals() -> None:
    """Of 5 logs, 3 metrics and 3 models at least 36 of 45 hold the truth; they are correlated, so a loose bound."""
    inside = 0
    for seed in range(5):
        world = SelectedLog.of("mixed", seed)
        drawn = evaluate(
            world.models,
            world.split(slice_rows=300, seed=seed),
            metrics=[*WORDS],
            estimators=["blend"],
            positive="rating>=1",
        )
        for row in drawn.estimates:
            assert row.low is not None
            assert row.high is not None
            inside += row.low <= world.truth(row.metric, row.model) <= row.high
    assert inside >= 36


def test_few_positives_are_warned_of_and_decide_nothing() -> None:
    drawn = run(log().split(slice_rows=15))
    positives = drawn.to_dict()["slice"]["positives"]
    assert positives < 10
    assert [text for text in drawn.warnings if text.startswith(f"the slice has {positives} positive")]
    assert drawn.estimated.methods is not None  # the methods still have to agree
    assert "methods" in drawn.to_dict()
    assert report().estimated.methods is None
    assert "methods" not in report().to_dict()
    assert not [text for text in report().warnings if "fewer than 10" in text]


def test_a_slice_without_a_positive_leaves_the_base() -> None:
    world = log()
    free = np.argwhere(world.candidates & ~world.drawn.relevant)
    chosen = free[np.random.default_rng(0).choice(len(free), 40, replace=False)]
    drawn = run(replace(world.split(), slice=world.slice_of(chosen[:, 0], chosen[:, 1])))
    for row in drawn.to_dict()["slice"]["estimates"]:
        assert row["share"] == 0
        np.testing.assert_allclose(values(drawn, row["metric"]), row["without"])


def test_a_slice_by_popularity_is_refused_and_a_weaker_one_warned_of() -> None:
    world = log()
    with pytest.raises(DataError, match=r"its items are more popular .* so it is not random"):
        run(replace(world.split(), slice=selected_by_popularity(world, 600, 1.5)))
    texts = []
    for seed in range(10):  # one that is doubtful but not surely selected
        sliced = replace(world.split(), slice=selected_by_popularity(world, 200, 0.6, seed))
        try:
            drawn = run(sliced, metrics=["auc"])
        except DataError:
            continue
        texts += [text for text in drawn.warnings if "more popular than the candidates" in text]
    assert texts
    assert not [text for text in report().warnings if "drawn" in text and "popular than" in text]


def test_a_method_that_the_slice_refutes_is_named() -> None:
    """Observation by relevance itself: the naive average is far off, and many random rows show it."""
    world = SelectedLog.of("popq", 3)
    many = evaluate(
        world.models,
        world.split(slice_rows=900),
        metrics=["auc", "adg"],
        estimators=["blend"],
        positive="rating>=1",
    )
    rows = {(row["metric"], row["method"]): row["p_value"] for row in many.to_dict()["slice"]["refutations"]}
    assert {method for _, method in rows} == {"naive", "popularity", "exposure"}
    assert rows["auc", "naive"] < 0.005
    (text,) = [text for text in many.warnings if text.startswith("the naive average is refuted by your slice")]
    assert "trust the estimates with the slice" in text


def test_items_and_users_of_a_slice_must_be_known() -> None:
    world = log()
    train, test = world.rows(world.in_train, "train"), world.rows(world.in_test, "test")
    unknown = Interactions.from_arrays([0, 1], [3, ITEMS + 7], [1.0, 0.0])
    with pytest.raises(DataError, match=r"is neither in train nor known to a model; name all items .*catalogue"):
        run(Split(train, test, slice=unknown))
    nobody = Interactions.from_arrays([USERS + 5, USERS + 6], [3, 4], [1.0, 0.0])
    with pytest.raises(DataError, match="no user of the slice is judged"):
        run(Split(train, test, slice=nobody))


def test_rows_of_a_slice_that_are_in_train_are_not_candidates() -> None:
    world = log()
    users, items = (part[:5] for part in np.nonzero(world.in_train))
    with pytest.raises(DataError, match="every row is also in train, so no candidate was drawn"):
        run(replace(world.split(), slice=world.slice_of(users, items)))
    more = world.random_slice(ROWS)
    both = world.slice_of(np.concatenate([more.users, users]), np.concatenate([more.items, items]))
    drawn = run(replace(world.split(), slice=both))
    assert drawn.to_dict()["slice"]["rows"] == ROWS
    np.testing.assert_allclose(values(drawn, "auc"), values(run(world.split(slice_rows=ROWS)), "auc"))


@pytest.mark.parametrize("rule", ["listed", "trained", "sampled(5)"])
def test_other_candidates_are_refused(rule: str) -> None:
    with pytest.raises(ConfigError, match="a random slice needs the candidates all or unseen"):
        log().split(slice_rows=50, candidates=rule)


def test_a_slice_next_to_an_exposed_test_and_one_without_labels_are_refused() -> None:
    world = log()
    train = world.rows(world.in_train, "train")
    with pytest.raises(ConfigError, match="the test is exposed already"):
        Split(train, world.random_slice(50), exposed=True, slice=world.random_slice(20, 1))
    with pytest.raises(DataError, match="label"):
        Split(train, world.rows(world.in_test, "test"), slice=world.rows(world.in_test, "s", positives=True))
    with pytest.raises(DataError, match="slice must be Interactions, not list"):
        Split(train, world.rows(world.in_test, "test"), slice=[1])  # type: ignore[arg-type]


def test_a_slice_of_all_candidates_works_under_all() -> None:
    world = log()
    sliced = world.drawn.random_slice(ROWS, 0, outside=np.zeros((USERS, ITEMS), bool))
    drawn = run(replace(world.split(candidates="all"), slice=sliced))
    assert drawn.to_dict()["slice"]["rows"] == ROWS


def test_one_model_alone_and_models_that_are_the_same_have_estimates() -> None:
    scores = log().scores["taste"]
    for models in ({"a": scores}, {"a": scores, "b": scores}, {"a": scores, "b": -scores}):
        drawn = evaluate(
            {name: MatrixScorer(each) for name, each in models.items()},
            log().split(slice_rows=ROWS),
            metrics=["auc"],
            estimators=["blend"],
            positive="rating>=1",
        )
        assert all(row.value is not None and row.std_error for row in drawn.estimates)


def test_the_split_in_the_record_names_the_slice() -> None:
    data = report().to_dict()["run"]["data"]
    assert data["slice"]["rows"] == ROWS


def test_the_report_says_what_it_assumes_and_what_would_decide() -> None:
    text = str(report())
    positives = report().to_dict()["slice"]["positives"]
    assert [d for d in report().verdict.doubts if f"{ROWS} rows of the slice ({positives} positive)" in d]
    assert "blend" in text
    needed = [answer.needed for answer in report().answers if answer.kind == "open"]
    assert all(number is None or number >= ROWS for number in needed)


def test_a_user_without_a_candidate_is_not_in_the_way() -> None:
    world = log()
    had = world.in_train.copy()
    had[5] = True
    sliced = world.drawn.random_slice(ROWS, 0, outside=had)
    split = Split(world.rows(had, "train"), world.rows(world.in_test & ~had, "test"), slice=sliced)
    drawn = run(split, estimators=["blend", "dm", "dr"])
    assert all(row.value is not None for row in drawn.estimates)
