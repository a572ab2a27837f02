"""Whole runs of the models that learn from pairs: the same start, the same bytes, weights, and going on."""

from dataclasses import replace

import numpy as np
import pytest
from descents import small_log

from unskew.data import Interactions
from unskew.errors import ConfigError, DataError, DivergenceError, PropensityError
from unskew.models import MfAdg, MfAuc, Model
from unskew.models.model import Observed
from unskew.models.training.pair_model import LEARNING_RATES, PENALTIES

SMALL = {"factors": 3, "iterations": 600, "every": 200, "regularisation": 0.01}
WORDS = ["mf-auc", "mf-adg(gamma=2)", "mf-adg(propensity=column, gamma=1)", "mf-auc(per=pair)"]


def made(word, **options):
    return replace(Model.from_word(word), **(SMALL | options))


def weighted_log(order=None):
    log = small_log()
    log = log.with_propensity(np.random.default_rng(0).uniform(0.1, 1, len(log)))
    return log if order is None else log.take(order)


def content(scorer):
    return [scorer.user_factors.tobytes(), scorer.item_factors.tobytes(), scorer.item_bias.tobytes()]


class StoppedError(Exception):
    pass


def test_both_models_begin_with_the_same_numbers():
    log = small_log()
    runs = [model.start(Observed.of(log), log, 11, 1) for model in (MfAuc(), MfAdg(gamma=5, learning_rate=0.01))]
    for name, part in runs[0].arrays_now().items():
        assert np.array_equal(part, runs[1].arrays_now()[name])
    assert not runs[0].bias.any()
    other = MfAuc().start(Observed.of(log), log, 12, 1)
    assert not np.array_equal(other.users, runs[0].users)


def test_the_first_factors_have_the_spread_asked_for():
    """The mean square of 120,000 normal numbers is within 2 % of the variance: five standard deviations."""
    log = Interactions.from_arrays(np.arange(2000), np.arange(2000) % 400, n_users=2000, n_items=400)
    run = MfAdg(init=0.3).start(Observed.of(log), log, 0, 1)
    assert np.mean(np.concatenate([run.users, run.items]) ** 2) == pytest.approx(0.09, rel=0.02)


@pytest.mark.parametrize("word", WORDS)
def test_the_order_of_rows_and_the_number_of_threads_do_not_matter(word):
    whole = made(word).train(weighted_log(), threads=1).last
    shuffled = weighted_log(np.random.default_rng(1).permutation(len(weighted_log())))
    assert content(made(word).train(shuffled, threads=2).last) == content(whole)


@pytest.mark.parametrize("word", WORDS)
def test_a_run_that_was_stopped_goes_on_to_the_same_bytes(word, tmp_path):
    file = tmp_path / "run.npz"

    def judge(scorer):
        return {"long": float(np.linalg.norm(scorer.user_factors))}

    whole = made(word).train(weighted_log(), judge=judge, metrics=("long",))

    def stop(done, total):
        if done == 600:
            raise StoppedError

    with pytest.raises(StoppedError):
        made(word).train(weighted_log(), judge=judge, metrics=("long",), checkpoint=file, progress=stop)
    again = made(word).train(weighted_log(), judge=judge, metrics=("long",), checkpoint=file)
    assert content(again.last) == content(whole.last)
    assert again.checks == whole.checks
    assert content(again.chosen("long")) == content(whole.chosen("long"))


def test_a_checkpoint_of_other_weights_is_refused(tmp_path):
    file = tmp_path / "run.npz"
    model = made("mf-adg(propensity=column)")
    model.train(weighted_log(), checkpoint=file)
    other = weighted_log().with_propensity(np.full(len(weighted_log()), 0.5))
    with pytest.raises(DataError, match="this checkpoint is of another data set"):
        model.train(other, checkpoint=file)


def test_only_the_ratio_of_weights_within_a_user_counts():
    log = weighted_log()
    scale = np.where(log.users % 2, 0.5, 0.25)  # powers of two, so that no bit is lost
    scaled = log.with_propensity(log.propensity * scale)
    model = made("mf-adg(propensity=column)")
    assert content(model.fit(scaled)) == content(model.fit(log))


def test_weights_move_what_is_rare_up():
    """Two items that all users have: the bias grows with each draw, which weights make 20 times as likely for one.

    Of 300 draws about 14 are then of the other; more than 60 would be so once in far over a million seeds.
    """
    users = np.repeat(np.arange(60), 2)
    log = Interactions.from_arrays(users, np.tile([0, 1], 60), n_users=60, n_items=6)
    log = log.with_propensity(np.tile([1.0, 0.05], 60))
    model = MfAuc(factors=2, iterations=300, learning_rate=0.001, init=0.01)
    plain = model.fit(log).item_bias
    weighted = replace(model, propensity="column").fit(log).item_bias
    assert 0.5 < plain[1] / plain[0] < 2
    assert weighted[1] > 4 * weighted[0]


def test_pairs_are_drawn_in_proportion_to_the_rows_or_weights_of_a_user():
    """One user has 9 items and one has 1: the second's vector moves in half of the steps, or in a tenth.

    Of 2,000 draws 1,000 or 200 are expected; the bounds are ten standard deviations away.
    """
    log = Interactions.from_arrays(np.repeat([0, 1], [9, 1]), [*range(9), 10], n_users=2, n_items=12)
    steps = {}
    for per in ("user", "pair"):
        run = MfAuc(factors=2, init=1e-3, learning_rate=1e-6, regularisation=0.0, iterations=2000, every=2000, per=per)
        bias = run.fit(log).item_bias / 1e-6
        steps[per] = bias[10] - np.median(bias[[9, 11]])
    assert 800 < steps["user"] < 1200
    assert 65 < steps["pair"] < 335
    with pytest.raises(ConfigError, match=r"mf-adg\(per=row\): expected user or pair"):
        MfAdg(per="row")


def test_weights_need_propensities():
    model = made("mf-adg(propensity=column)")
    with pytest.raises(PropensityError, match="needs the propensity of each row"):
        model.fit(small_log())


def test_a_row_without_weights_is_learnt_from_alike_whatever_its_propensity():
    assert content(made("mf-adg").fit(weighted_log())) == content(made("mf-adg").fit(small_log()))


def test_a_run_that_diverges_is_stopped_with_a_hint():
    wild = made("mf-auc", learning_rate=1e6, regularisation=0.0)
    with pytest.raises(
        DivergenceError, match=r"training diverged: at step 200 .*; try a smaller learning-rate than 1e"
    ):
        wild.fit(small_log())


def test_the_grid_has_every_pair_of_a_rate_and_a_penalty():
    tried = MfAdg(gamma=7, tune=True).settings_to_try()
    assert len(tried) == len(LEARNING_RATES) * len(PENALTIES) == 21
    assert {(each.learning_rate, each.regularisation) for each in tried} == {
        (rate, penalty) for rate in LEARNING_RATES for penalty in PENALTIES
    }
    assert all(each.gamma == 7 and not each.tune for each in tried)


def test_progress_ends_at_the_last_step_and_losses_are_told():
    seen, told = [], []
    made("mf-adg").train(small_log(), progress=lambda *where: seen.append(where), say=told.append)
    assert seen[0] == (200, 600)
    assert seen[-1] == (600, 600)
    assert len(told) == 3
    assert all(words.startswith("loss ") for words in told)
