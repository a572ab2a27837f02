"""Models that learn step by step, chosen by validation rows."""

from dataclasses import replace

import numpy as np
import pytest

from unskew import Interactions, Split, evaluate
from unskew.data import split_fractions
from unskew.errors import ConfigError, DataError
from unskew.evaluation import choose
from unskew.evaluation.checking.overlap import VALIDATION_IN_TEST, VALIDATION_IN_TRAIN
from unskew.evaluation.fitting.selection import validation_judge
from unskew.models import Bpr, Model
from unskew.models.training.gradient_model import PENALTIES
from unskew.ranking import MatrixScorer
from unskew.testing.worlds.long_tail import ITEMS, USERS, skewed_rows

MODEL = Bpr(factors=4, iterations=60, batch=100, learning_rate=0.05, every=20, regularisation=0.001)
METRICS = ["recall@3", "auc", "ndcg@5"]


def world(*, rated=False):
    rng = np.random.default_rng(2)
    train, validation, test = (
        skewed_rows(2 * rows, rng, values=rng.integers(1, 6, 2 * rows)) if rated else skewed_rows(rows, rng)
        for rows in (400, 150, 150)
    )
    return Split(train, test, validation)


def content(scorer):
    return [scorer.user_factors.tobytes(), scorer.item_factors.tobytes(), scorer.item_bias.tobytes()]


def on_validation(scorer, split, metric, positive=None):
    swapped = Split(split.train, split.validation, split.test, candidates=split.rule)
    options = {"metrics": [metric], "estimators": ["aoa"], "positive": positive}
    return evaluate({"m": scorer}, swapped, **options).value("m", metric, "aoa")


def test_each_metric_gets_the_regularisation_and_the_step_that_were_best_by_it():
    split, penalties = world(), (0.3, 0.01, 0)
    chosen = choose(MODEL, split, METRICS, penalties=penalties, rng=6)
    assert set(chosen) == set(METRICS)
    tried = [replace(MODEL, regularisation=penalty, iterations=at) for penalty in penalties for at in (20, 40, 60)]
    scorers = [model.fit(split.train, rng=6) for model in tried]
    for metric in METRICS:
        values = [on_validation(scorer, split, metric) for scorer in scorers]
        best = int(np.argmax(values))  # the first of equals
        assert chosen[metric].model == tried[best]
        assert chosen[metric].value == values[best]
        assert content(chosen[metric].scorer) == content(scorers[best])
    assert len({str(each.model) for each in chosen.values()}) > 1  # they disagree, or this shows little


def test_without_validation_the_last_step_is_taken():
    split = world()
    chosen = choose(MODEL, Split(split.train, split.test), ["auc"])["auc"]
    assert chosen.model == MODEL
    assert chosen.value is None
    assert content(chosen.scorer) == content(MODEL.fit(split.train))


def test_tune_tries_the_grid_and_is_over_then():
    seen = []
    model = replace(MODEL, tune=True, iterations=4, every=2)
    chosen = choose(model, world(), ["auc"], progress=lambda stage, done, total: seen.append(stage))["auc"]
    assert set(seen) == {f"training {model} at {penalty:g}" for penalty in PENALTIES}
    assert chosen.model.regularisation in PENALTIES
    assert not chosen.model.tune


@pytest.mark.parametrize(
    "model, options", [(replace(MODEL, tune=True), {}), (MODEL, {"penalties": [0.1, 0.01]})], ids=["tune", "penalties"]
)
def test_a_choice_without_validation_rows_is_refused(model, options):
    split = world()
    with pytest.raises(ConfigError, match=r"^bpr\(.*: tune chooses by validation rows.*; give validation=\.\.\.$"):
        choose(model, Split(split.train, split.test), **options)


def test_a_log_without_a_positive_is_refused_as_such():
    split = world(rated=True)
    with pytest.raises(DataError, match=r"has no rows for bpr.*; check the file and positive="):
        choose(MODEL, split, ["auc"], train=split.train.where("rating>5"))


def test_nothing_to_choose_from_is_refused():
    with pytest.raises(ConfigError, match="no regularisation to choose from"):
        choose(MODEL, world(), penalties=[])
    split = world()
    empty = Split(split.train, split.test, split.test.take(np.empty(0, dtype=int)))
    with pytest.raises(DataError, match="there is no validation row to choose by; leave out validation="):
        choose(MODEL, empty)


def test_an_evaluation_records_the_word_that_gives_the_same_numbers_without_validation():
    split, word = world(), str(replace(MODEL, iterations=100))
    report = evaluate({"bpr": word}, split, metrics=["auc", "recall@3"], seed=3, propensity="popularity")
    chosen = report.models["bpr"]
    assert chosen == str(choose(Model.from_word(word), split, ["auc"], rng=3)["auc"].model)
    plain = Split(split.train, split.test)
    again = evaluate({"bpr": chosen}, plain, metrics=["auc", "recall@3"], seed=3, propensity="popularity")
    assert again.models == {"bpr": chosen}
    for metric in ("auc", "recall@3"):
        for estimator in ("aoa(per=pair)", "snips"):
            assert again.value("bpr", metric, estimator) == report.value("bpr", metric, estimator)


def test_the_number_of_threads_does_not_matter():
    runs = [
        evaluate({"bpr": MODEL}, world(), metrics=["auc"], threads=threads, propensity="popularity")
        for threads in (1, 2)
    ]
    assert runs[0].models == runs[1].models
    assert runs[0].value("bpr", "auc", "snips") == runs[1].value("bpr", "auc", "snips")


def one_each(candidates):
    """Each user had an item, and has one in validation and three in the test, which the scorer puts on top."""
    users = np.arange(USERS)
    rows = {"n_users": USERS, "n_items": ITEMS}
    train = Interactions.from_arrays(users, users % ITEMS, **rows)
    validation = Interactions.from_arrays(users, (users + 1) % ITEMS, **rows)
    later = np.add.outer(users, [2, 3, 4]) % ITEMS
    test = Interactions.from_arrays(np.repeat(users, 3), later.ravel(), **rows)
    scores = np.zeros((USERS, ITEMS))
    scores[users, (users + 1) % ITEMS] = 1
    scores[np.repeat(users, 3), later.ravel()] = 2
    return Split(train, test, validation, candidates=candidates), MatrixScorer(scores)


def test_sampled_candidates_of_validation_are_no_test_items():
    split, scorer = one_each("sampled(10)")
    assert validation_judge(evaluate, split, ["recall@1"])(scorer) == {"recall@1": 1}
    # under unseen the test items are candidates as any other
    split, scorer = one_each("unseen")
    assert validation_judge(evaluate, split, ["recall@1"])(scorer) == {"recall@1": 0}


def test_positives_are_learnt_from_and_judged_and_the_other_rows_of_train_stay_seen():
    split, positive = world(rated=True), "rating>=4"
    report = evaluate({"bpr": MODEL}, split, metrics=["auc"], positive=positive, propensity="popularity")
    chosen = choose(MODEL, split, ["auc"], train=split.train.where(positive), positive=positive)["auc"]
    assert report.models["bpr"] == str(chosen.model)
    assert content(chosen.scorer) == content(chosen.model.fit(split.train.where(positive)))
    assert chosen.value == on_validation(chosen.scorer, split, "auc", positive)
    narrow = Split(split.train.where(positive), split.test, split.validation)
    assert chosen.value != on_validation(chosen.scorer, narrow, "auc", positive)


def test_checkpoints_are_kept_by_name_and_gone_on_from(tmp_path):
    split = world()
    whole = choose(MODEL, split, METRICS, penalties=(0.1, 0.01))
    options = {"penalties": (0.1, 0.01), "checkpoints": tmp_path, "name": "modèle/1 (a)"}

    def stop(stage, done, total):
        if stage.endswith("0.01") and done == 40:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        choose(MODEL, split, METRICS, progress=stop, **options)
    assert {path.name for path in tmp_path.iterdir()} == {f"modèle-1-a-acddf5b8-at-{at}.npz" for at in ("0.1", "0.01")}
    stages = []
    again = choose(MODEL, split, METRICS, progress=lambda *stage: stages.append(stage), **options)
    assert [(str(again[m].model), again[m].value, content(again[m].scorer)) for m in METRICS] == [
        (str(whole[m].model), whole[m].value, content(whole[m].scorer)) for m in METRICS
    ]
    assert ("training modèle/1 (a) at 0.01", 20, 60) not in stages  # that part was not done again


def test_checkpoints_judged_otherwise_are_refused(tmp_path):
    split = world(rated=True)
    options = {"checkpoints": tmp_path, "name": "m", "positive": "rating>=2"}
    choose(MODEL, split, ["auc"], **options)
    fewer = split.validation.take(np.arange(len(split.validation) - 1))
    others = [
        (Split(split.train, split.test, fewer), options),
        (split.with_candidates("all"), options),
        (split, {**options, "positive": "rating>=3"}),
    ]
    for other, asked in others:
        with pytest.raises(DataError, match="was validated on other rows, or among other candidates"):
            choose(MODEL, other, ["auc"], **asked)
    without = Split(split.train, split.test.take(np.arange(9)), split.validation)  # its rows do not judge
    choose(MODEL, without, ["auc"], **options)
    drawn = {**options, "name": "drawn"}
    choose(MODEL, split.with_candidates("sampled(5)"), ["auc"], **drawn)
    with pytest.raises(DataError, match="was validated on other rows"):  # but draws keep away from them
        choose(MODEL, without.with_candidates("sampled(5)"), ["auc"], **drawn)


def test_a_missing_folder_for_checkpoints_is_refused(tmp_path):
    with pytest.raises(DataError, match=r"where: cannot be a folder for checkpoints .*; name another"):
        choose(MODEL, world(), checkpoints=tmp_path / "no" / "where")


def test_losses_and_metrics_are_said_where_there_is_room():
    said = []

    class Bars:
        def __call__(self, stage, done, total):
            pass

        def say(self, stage, words):
            said.append((stage, words))

    choose(MODEL, world(), ["auc"], name="mine", progress=Bars())
    assert len(said) == 3
    assert all(stage == "training mine" for stage, _ in said)
    assert said[0][1].startswith("loss 0.")
    assert ", auc 0." in said[0][1]


def test_the_run_says_what_chose_a_model():
    report = evaluate(
        {"mine": MODEL, "popular": "popular"}, world(), metrics=["auc", "recall@3"], propensity="popularity"
    )
    assert report.run["chosen_by"] == {"mine": "auc on validation"}
    assert "chosen_by" not in evaluate({"popular": "popular"}, world(), metrics=["auc"], propensity="popularity").run


def test_a_model_without_steps_cannot_be_chosen():
    with pytest.raises(
        ConfigError, match=r"als is not trained step by step.*: bpr, cml, cml-rank, mf-adg, mf-auc, pmf$"
    ):
        choose(Model.from_word("als"), world())


def overlap(split):
    report = evaluate({"mine": MODEL}, split, metrics=["auc"], propensity="popularity")
    return [text for text in report.warnings if "validation rows are also in" in text]


def test_validation_rows_that_are_not_held_out_are_warned_of():
    split = split_fractions(skewed_rows(500, np.random.default_rng(2)), (60, 20, 20), rng=0)
    assert overlap(split) == []
    rows = len(split.validation)
    mixed = Split(split.train, split.test, joined(split.validation, split.train.take(np.arange(7))))
    assert overlap(mixed) == [VALIDATION_IN_TRAIN.format(shared=7, rows=rows + 7)]
    tested = Split(split.train, split.test, joined(split.validation, split.test.take(np.arange(5))))
    assert overlap(tested) == [VALIDATION_IN_TEST.format(shared=5, rows=rows + 5)]
    with pytest.raises(DataError, match="validation rows are also in train, so they cannot judge"):
        choose(MODEL, Split(split.train, split.test, split.train), ["auc"])


def joined(rows, others):
    users, items = (np.concatenate([getattr(part, axis) for part in (rows, others)]) for axis in ("users", "items"))
    return Interactions(users, items, rows.user_vocabulary, rows.item_vocabulary)


def test_names_that_look_alike_in_a_file_name_keep_apart(tmp_path):
    split = world()
    for name in ("a/b", "a-b"):
        choose(
            replace(MODEL, factors=len(name) + (name == "a-b")), split, ["auc"], checkpoints=tmp_path / "new", name=name
        )
    assert len(list((tmp_path / "new").glob("*.npz"))) == 2


def test_what_was_chosen_is_shown_without_its_numbers():
    chosen = choose(MODEL, world(), ["auc"])["auc"]
    assert repr(chosen.scorer).startswith("FactorScorer(bpr(")
    assert len(repr(chosen)) < 500
    assert repr(MODEL.train(world().train)).startswith("Trained(60 steps, loss ")


def test_validation_rows_that_cannot_judge_name_their_file_and_the_model() -> None:
    split = world()
    strangers = Interactions.from_arrays(["nobody"], [0], name="strangers.csv")
    known = Interactions.from_arrays(split.train.users.astype(str), split.train.items)
    with pytest.raises(DataError, match=r"strangers\.csv: the validation rows cannot judge a model: .*'mine'"):
        choose(MODEL, Split(known, known, strangers), ["auc"], name="mine")
