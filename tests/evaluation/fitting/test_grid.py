"""Several settings of a model: tried side by side, chosen by validation, with weights where the model has them."""

from dataclasses import replace

import numpy as np
import pytest

from unskew.data import Interactions
from unskew.data.splitters import split_per_user
from unskew.errors import ConfigError, DataError, DivergenceError
from unskew.evaluation import choose, evaluate
from unskew.evaluation.fitting.grid import labels
from unskew.evaluation.fitting.propensities import training_propensity
from unskew.evaluation.fitting.selection import choose_by
from unskew.models import Bpr, MfAdg, MfAuc
from unskew.propensities import PropensityModel

SMALL = {"factors": 4, "iterations": 2000, "every": 1000, "gamma": 5}


def world(seed=0):
    """Two tastes, and within each some items that most have."""
    rng = np.random.default_rng(seed)
    taste = np.arange(60) % 2
    liked = np.where(np.add.outer(taste, np.arange(40)) % 2, 0.6, 0.05) * np.linspace(1, 0.3, 40)
    log = Interactions.from_arrays(*np.nonzero(rng.random(liked.shape) < liked), n_users=60, n_items=40)
    return split_per_user(log, 0.2, validation=0.2, least=5, rng=seed)


def content(scorer):
    return [scorer.user_factors.tobytes(), scorer.item_factors.tobytes(), scorer.item_bias.tobytes()]


def test_tune_chooses_rate_and_penalty_by_validation_whatever_the_threads():
    split, model = world(), MfAdg(tune=True, **SMALL)
    runs = [choose(model, split, ["adg", "recall@3"], threads=threads) for threads in (1, 2, 3)]
    for metric in ("adg", "recall@3"):
        chosen = runs[0][metric]
        assert [str(run[metric].model) for run in runs] == [str(chosen.model)] * 3
        assert [content(run[metric].scorer) for run in runs] == [content(chosen.scorer)] * 3
        # what was chosen is the best of all, and gives the same factors alone
        tried = [choose(each, split, [metric])[metric] for each in model.settings_to_try()]
        assert chosen.value == max(each.value for each in tried)
        assert content(chosen.model.fit(split.train)) == content(chosen.scorer)


def test_settings_are_distinguished_by_what_varies():
    assert labels([MfAdg()]) == [""]
    assert labels([replace(Bpr(), regularisation=x) for x in (0.1, 0.01)]) == [" at 0.1", " at 0.01"]
    tried = [MfAdg(learning_rate=a, regularisation=b) for a, b in ((0.1, 0.01), (0.05, 1e-5))]
    assert labels(tried) == [" at 0.01, 0.1", " at 1e-05, 0.05"]


def test_progress_side_by_side_is_one_bar_for_all():
    seen, said = [], []

    class Bars:
        def __call__(self, stage, done, total):
            seen.append((stage, done, total))

        def say(self, stage, words):
            said.append((stage, words))

    settings = [MfAdg(learning_rate=rate, **SMALL) for rate in (0.01, 0.05)]
    choose(settings[0], world(), settings=settings, threads=2, name="mine", progress=Bars())
    assert {stage for stage, _, _ in seen} == {"training mine, 2 settings"}
    assert max(done for _, done, _ in seen) == 4000 == seen[0][2]
    assert all(words.startswith("mine at 0.0") for _, words in said)


def test_settings_that_diverge_are_passed_over_unless_all_do():
    split = world()
    wild = MfAdg(learning_rate=1e6, regularisation=0.0, **SMALL)
    calm = MfAdg(**SMALL)
    chosen = choose(calm, split, ["adg"], settings=[wild, calm])["adg"]
    assert chosen.model.learning_rate == calm.learning_rate
    with pytest.raises(DivergenceError, match="training diverged"):
        choose(wild, split, ["adg"], settings=[wild, replace(wild, learning_rate=1e7)])


def test_an_error_in_one_of_them_ends_all(tmp_path):
    file = tmp_path / "full"
    file.write_text("not a folder")
    with pytest.raises(DataError):
        choose(MfAdg(tune=True, **SMALL), world(), checkpoints=file)


def test_no_setting_and_two_grids_are_refused():
    with pytest.raises(ConfigError, match="give penalties or settings"):
        choose(MfAdg(), world(), penalties=[0.1], settings=[MfAdg()])
    with pytest.raises(ConfigError, match="give at least one"):
        choose(MfAdg(), world(), settings=[])


def test_tuning_without_validation_rows_is_refused():
    split = world()
    with pytest.raises(ConfigError, match=r"tune chooses by validation rows, .*; give validation="):
        choose(MfAdg(tune=True), replace(split, validation=None))
    empty = replace(split, validation=split.validation.take(np.arange(0)))
    with pytest.raises(DataError, match="there is no validation row to choose by"):
        choose(MfAdg(tune=True), empty)


@pytest.mark.parametrize("model", [MfAuc, MfAdg])
def test_a_weighted_model_is_trained_and_chosen_with_the_same_weights(model):
    split, word = world(), "popularity(gamma=1)"
    options = {key: value for key, value in SMALL.items() if key != "gamma" or model is MfAdg}
    weighted = model(propensity=word, **options)
    report = evaluate({"mine": weighted}, split, metrics=["ndcg", "adg"], seed=4, propensity="popularity")
    assert report.run["chosen_by"] == {"mine": "snips of adg on validation"}
    chances = training_propensity(PropensityModel.from_word(word), split.train, scaled=False)
    train = split.train.with_propensity(chances)
    by_hand = choose(weighted, split, ["adg"], train=train, estimator="snips", propensity=word, rng=4)["adg"]
    assert report.models["mine"] == str(by_hand.model)
    assert f"propensity={word}" in str(by_hand.model)
    again = evaluate({"mine": by_hand.scorer}, split, metrics=["adg"], seed=4, propensity="popularity")
    assert again.value("mine", "adg", "snips") == report.value("mine", "adg", "snips")
    plain = evaluate(
        {"mine": replace(weighted, propensity="")}, split, metrics=["adg"], seed=4, propensity="popularity"
    )
    assert plain.value("mine", "adg", "snips") != report.value("mine", "adg", "snips")


def test_an_evaluation_hands_the_weights_to_the_choice(monkeypatch):
    asked = []

    def note(judge, model, split, metrics, **options):
        asked.append(options)
        return choose_by(judge, model, split, metrics, **options)

    monkeypatch.setattr("unskew.evaluation.fitting.models.choose_by", note)
    models = {"plain": MfAdg(**SMALL), "weighted": MfAdg(propensity="popularity", **SMALL)}
    evaluate(models, world(), metrics=["adg"], propensity="popularity")
    assert ("estimator" in asked[0], asked[0]["train"].propensity) == (False, None)
    assert (asked[1]["estimator"], asked[1]["propensity"]) == ("snips", "popularity")
    assert asked[1]["train"].propensity is not None


def test_the_estimator_decides_the_choice():
    """By popularity(gamma=3) rare items decide, which other settings serve: the two choices differ."""
    split = world()
    settings = [MfAuc(factors=2, iterations=n, every=n, learning_rate=0.1) for n in (1, 300, 1000)]
    by = {
        form: choose(settings[0], split, ["adg"], settings=settings, estimator=form, propensity="popularity(gamma=3)")
        for form in ("aoa", "snips")
    }
    for form, chosen in by.items():
        values = {}
        for each in settings:
            report = evaluate(
                {"m": each.fit(split.train)},
                replace(split, test=split.validation, validation=split.test),
                metrics=["adg"],
                estimators=["aoa", "snips"],
                propensity="popularity(gamma=3)",
            )
            values[each.iterations] = report.value("m", "adg", form)
        assert chosen["adg"].model.iterations == max(values, key=values.get)
        assert chosen["adg"].value == pytest.approx(max(values.values()))
    assert by["aoa"]["adg"].model != by["snips"]["adg"].model


def test_a_generator_gives_the_same_choice_on_any_number_of_threads():
    split, settings = world(), [MfAdg(learning_rate=rate, **SMALL) for rate in (0.01, 0.02, 0.05, 0.1)]
    runs = [
        choose(settings[0], split, ["adg"], settings=settings, rng=np.random.default_rng(5), threads=threads)["adg"]
        for threads in (1, 4, 4)
    ]
    assert len({str(run.model) for run in runs}) == 1
    assert content(runs[0].scorer) == content(runs[1].scorer) == content(runs[2].scorer)


def test_weights_are_the_inverse_of_the_propensities_as_they_are():
    """Popularity is known up to scale; only ratios count, so nothing is scaled or cut at 1."""
    train = world().train
    chances = training_propensity(PropensityModel.from_word("popularity(smoothing=0)"), train, scaled=False)
    assert chances == pytest.approx(np.sqrt(train.item_counts / train.item_counts.max())[train.items])
