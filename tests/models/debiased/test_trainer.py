"""Epochs, validation, early stop, and the best state."""

import numpy as np
import pytest
from label_worlds import log
from torch_or_skip import torch

from unskew.errors import ConfigError, DataError, DivergenceError
from unskew.models import Bias, DebiasedFit, DebiasedModel, Model
from unskew.models.debiased import trainer
from unskew.models.debiased.labelled import Labelled

WORDS = sorted(member.word for member in Model.members() if issubclass(member, DebiasedModel))
ALL = pytest.mark.parametrize(
    "text", [f"{word}(backbone={backbone}, epochs=4)" for word in WORDS for backbone in ("mf", "lightgcn")]
)
TRAIN, UNIFORM, VALIDATION = log(n_users=30, n_items=20), log(1, 30, 20, 0.2), log(2, 30, 20, 0.3)


def train(text, rng=0, **parts):
    parts = {"uniform": UNIFORM, "validation": VALIDATION} | parts
    return Model.from_word(text).train(TRAIN, rng=rng, **parts)


def arrays(scorer):
    biases = [bias for bias in (scorer.user_bias, scorer.item_bias) if bias is not None]
    return [scorer.user_factors, scorer.item_factors, *biases]


def same(one, other):
    return all(np.array_equal(a, b) for a, b in zip(arrays(one), arrays(other), strict=True))


def test_the_words_are_the_five_methods():
    assert WORDS == ["autodebias", "bias", "dr", "ips", "negs"]


@ALL
def test_the_same_seed_gives_the_same_factors_and_another_gives_others(text):
    first = train(text, rng=3)
    assert same(first.scorer, train(text, rng=3).scorer)
    assert same(first.scorer, train(text, rng=np.random.default_rng(3)).scorer)
    assert not same(first.scorer, train(text, rng=4).scorer)


@ALL
def test_what_comes_back_fits_together(text):
    progress, told = [], []
    fit = train(text, progress=lambda done, total: progress.append((done, total)), say=told.append)
    assert fit.epochs == len(fit.checks) == len(told) == 4
    aucs = [check.metrics["auc"] for check in fit.checks]
    assert fit.auc == max(aucs)
    assert fit.best_epoch == 1 + aucs.index(max(aucs))
    assert progress == sorted(progress)
    assert progress[-1] == (4, 4)
    assert fit.scorer.name == str(Model.from_word(text))
    assert fit.scorer.shape == (30, 20)
    assert "auc" in repr(fit)


@ALL
def test_the_best_state_is_a_copy_that_later_epochs_leave_alone(text):
    # the run of just as many epochs as the best one is the same run up to there
    long = train(text.replace("epochs=4", "epochs=12, patience=0"))
    short = train(text.replace("epochs=4", f"epochs={long.best_epoch}, patience=0"))
    assert same(long.scorer, short.last)
    if long.best_epoch < 12:
        assert not same(long.scorer, long.last)


@ALL
def test_global_random_numbers_and_threads_are_left_as_they_were(text):
    torch.manual_seed(1)
    before, threads = torch.get_rng_state(), torch.get_num_threads()
    train(text)
    assert torch.equal(torch.get_rng_state(), before)
    assert torch.get_num_threads() == threads


def test_the_order_of_rows_does_not_matter():
    shuffled = TRAIN.take(np.random.default_rng(0).permutation(len(TRAIN)))
    assert same(Bias(epochs=3).train(TRAIN).scorer, Bias(epochs=3).train(shuffled).scorer)


def test_without_validation_the_last_state_comes_back():
    fit = Bias(epochs=5).train(TRAIN)
    assert (fit.best_epoch, fit.epochs, fit.auc) == (5, 5, None)
    assert same(fit.scorer, fit.last)
    assert same(fit.scorer, Bias(epochs=5).fit(TRAIN))


@pytest.mark.parametrize("patience, start, epochs, best", [(3, 0, 5, 2), (0, 0, 9, 9), (2, 5, 7, 2), (8, 0, 9, 9)])
def test_it_stops_after_so_many_epochs_without_a_better_one(patience, start, epochs, best, monkeypatch):
    seen = iter([0.5, 0.7, 0.6, 0.69, 0.5, 0.5, 0.5, 0.5, 0.9])
    monkeypatch.setattr(trainer, "auc_of", lambda *_: next(seen))
    monkeypatch.setattr(Bias, "patient_until", start)
    fit = Bias(epochs=9, patience=patience).train(TRAIN, validation=VALIDATION)
    assert (fit.epochs, fit.best_epoch) == (epochs, best)
    assert isinstance(fit, DebiasedFit)


def test_autodebias_never_stops_before_its_fiftieth_epoch(monkeypatch):
    seen = iter([0.9] + [0.5] * 99)
    monkeypatch.setattr(trainer, "auc_of", lambda *_: next(seen))
    fit = train("autodebias(patience=3)")
    assert (fit.epochs, fit.best_epoch) == (53, 1)


def test_auc_counts_all_pairs_of_rows_with_ties_as_half():
    from unskew.models.debiased.labelled import Rows

    rows = Labelled.of(TRAIN, "bias", both=True)
    backbone = trainer.backbone_of(Bias(factors=1), rows, np.random.default_rng(0))
    backbone.users.zero_()
    backbone.item_bias[:4] = torch.tensor([0.0, 1.0, 1.0, 2.0])
    judged = Rows(np.array([0, 1, 2, 5]), np.array([0, 1, 2, 3]), np.array([-1, 1, -1, 1], dtype=np.int8))
    # positives score 1 and 2, negatives 0 and 1: 1 > 0, 1 = 1, 2 > 0, 2 > 1
    assert trainer.auc_of(backbone, judged) == 3.5 / 4


def test_the_auc_of_negs_is_the_mean_over_users_of_their_own():
    from unskew.models.debiased.labelled import Rows

    rows = Labelled.of(TRAIN, "bias", both=True)
    backbone = trainer.backbone_of(Bias(factors=1), rows, np.random.default_rng(0))
    backbone.users.zero_()
    backbone.item_bias[:4] = torch.tensor([0.0, 1.0, 1.0, 2.0])
    users, items = np.array([0, 0, 0, 1, 1, 2, 3]), np.array([0, 1, 3, 1, 2, 3, 0])
    labels = np.array([-1, 1, -1, 1, -1, -1, 1], dtype=np.int8)
    # user 0: 1 > 0, 1 < 2; user 1: 1 = 1; users 2 and 3 have rows of one kind
    assert trainer.user_auc_of(backbone, Rows(users, items, labels)) == (0.5 + 0.5) / 2
    labels[2] = 1  # user 0: 1 > 0, 2 > 0
    assert trainer.user_auc_of(backbone, Rows(users, items, labels)) == (1 + 0.5) / 2
    alone = Rows(np.arange(4), np.arange(4), np.array([-1, 1, -1, 1], dtype=np.int8))
    assert trainer.user_auc_of(backbone, alone) == trainer.auc_of(backbone, alone)


def test_negs_is_judged_per_user_and_other_models_over_all(monkeypatch):
    monkeypatch.setattr(trainer, "auc_of", lambda *_: 0.25)
    monkeypatch.setattr(trainer, "user_auc_of", lambda *_: 0.75)
    assert train("negs(epochs=1)").auc == 0.75
    assert train("bias(epochs=1)").auc == 0.25


@pytest.mark.parametrize("block, sizes", [(None, [6] * 5), (7, [6] * 5), (30, [30]), (20, [15, 15]), (100, [30])])
def test_blocks_cover_all_users_once(block, sizes):
    blocks = trainer.blocks_of(Bias(block=block), (30, 20))
    assert [each.stop - each.start for each in blocks] == sizes
    assert [user for each in blocks for user in range(each.start, each.stop)] == list(range(30))


def test_a_large_catalogue_makes_smaller_blocks():
    blocks = trainer.blocks_of(Bias(), (1000, 100_000))
    assert {each.stop - each.start for each in blocks} == {10}


@pytest.mark.parametrize("word", ["ips", "dr", "autodebias"])
def test_who_needs_a_uniform_sample_says_so(word):
    with pytest.raises(ConfigError, match=rf"{word} also needs a small uniform sample.* --uniform"):
        Model.from_word(word).fit(TRAIN)


def test_without_torch_there_is_a_hint(monkeypatch):
    from unskew.models.debiased import model

    monkeypatch.setattr(model, "find_spec", lambda _: None)
    with pytest.raises(ConfigError, match=r"bias needs torch, which is not installed: pip install 'unskew\[models\]'"):
        Bias().fit(TRAIN)


def test_an_empty_log_is_refused():
    with pytest.raises(DataError, match=r"train\.csv: has no rows for bias"):
        Bias().fit(TRAIN.take(np.array([], dtype=int)))


def test_numbers_that_grow_without_bound_are_an_error_that_names_the_rate():
    with pytest.raises(DivergenceError, match=r"optimiser=sgd.*after epoch .* smaller learning-rate than 1"):
        train("bias(optimiser=sgd, learning-rate=1)")


@pytest.mark.parametrize(
    "text, message",
    [
        ("bias(backbone=gcn)", "gcn"),
        ("bias(optimiser=adagrad)", "adagrad"),
        ("bias(loss=hinge)", "hinge"),
        ("negs(hardest=101)", "hardest must be at most drawn"),
        ("bias(factors=0)", "factors=0.*whole number"),
        ("bias(block=0)", "block=0.*whole number"),
        ("bias(epochs=0)", "epochs=0.*whole number"),
        ("bias(layers=0)", "layers=0.*whole number"),
        ("bias(patience=-1)", "patience=-1.*whole number"),
        ("bias(learning-rate=0)", "learning-rate=0.*above 0"),
        ("bias(regularisation=-1)", "regularisation=-1.*at least 0"),
        ("dr(imputation-factors=0)", "imputation-factors=0.*whole number"),
        ("dr(imputation-rate=0)", "imputation-rate=0.*above 0"),
        ("autodebias(look-ahead=0)", "look-ahead=0.*above 0"),
        ("autodebias(frozen=-1)", "frozen=-1.*whole number"),
        ("autodebias(label-rate=-1)", "label-rate=-1.*at least 0"),
        ("negs(drawn=0)", "drawn=0.*whole number"),
        ("negs(loss=bce)", "no option 'loss'"),
    ],
)
def test_a_bad_option_is_refused_by_name(text, message):
    with pytest.raises(ConfigError, match=message) as caught:
        Model.from_word(text)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "options", [{"backbone": "gcn"}, {"optimiser": "adagrad"}, {"loss": "hinge"}], ids=["backbone", "optimiser", "loss"]
)
def test_a_choice_that_does_not_exist_is_refused_in_python_too(options):
    (option, value), *_ = options.items()
    with pytest.raises(ConfigError, match=rf"bias\({option}={value}\): expected .* or "):
        Bias(**options)
