"""The words mf-ips and mf-naive, on made logs and on Coat (Schnabel et al. 2016, Table 2)."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from rating_logs import log_of, small

from unskew.blas import one_thread
from unskew.data.sources import get_source, status_of
from unskew.errors import ConfigError
from unskew.models import MfIps, MfNaive, Model, fit_mf


def scores(scorer):
    return scorer.score(np.arange(len(scorer.user_ids)))


def test_the_scores_are_those_of_the_fit():
    rated = small()
    given = scores(MfIps(factors=3, penalty=0.5, loss="mae", offsets="free").fit(log_of(rated)))
    read = replace(rated, weights=1 / (1 / rated.weights))  # what is left of them by way of the propensity
    naive = scores(MfNaive(factors=3, penalty=0.5).fit(log_of(rated)))
    with one_thread():
        plain, unweighted = fit_mf(read, 3, 0.5, loss="mae", offsets="free"), fit_mf(small(weighted=False), 3, 0.5)
    np.testing.assert_allclose(given, plain.matrix(), rtol=1e-12)
    np.testing.assert_allclose(naive, unweighted.matrix(), rtol=1e-12)


def test_the_first_fit_of_a_process_has_the_same_bytes_on_any_number_of_threads():
    """Libraries that are loaded while learning must be kept to one thread too."""
    program = (
        "import hashlib\n"
        "import numpy as np\n"
        "from unskew import Interactions\n"
        "from unskew.models import Model\n"
        "rng = np.random.default_rng(0)\n"
        "users, items = np.nonzero(rng.random((300, 200)) < 0.1)\n"
        "log = Interactions.from_arrays(users, items, rng.integers(1, 6, len(users)), n_users=300, n_items=200)\n"
        "scorer = Model.from_word('mf-naive(factors=10, penalty=1)').fit(log)\n"
        "print(hashlib.sha256(scorer.user_factors.tobytes()).hexdigest())\n"
    )
    found = [
        subprocess.run(
            [sys.executable, "-c", program],
            env=os.environ | {"OPENBLAS_NUM_THREADS": threads},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for threads in ("1", "2")
    ]
    assert found[0] == found[1]


@pytest.mark.parametrize("options", ["factors=3, penalty=0.5", "loss=mae", "offsets=free", "tune"])
def test_equal_propensities_make_both_the_same_to_the_byte(options):
    # 128 rows of 16 x 16 pairs, so that P = 1/2 and its inverse are exact
    grid = np.add.outer(np.arange(16), np.arange(16))
    users, items = np.nonzero(grid % 2 == 0)
    base = small(n_users=16, n_items=16, share=1.0)
    values = base.values.reshape(16, 16)[users, items]
    rated = type(base).unweighted(users, items, values, 16, 16)
    ips = Model.from_word(f"mf-ips({options})").fit(log_of(rated))
    naive = Model.from_word(f"mf-naive({options})").fit(log_of(rated, propensity=None))
    assert scores(ips).tobytes() == scores(naive).tobytes()


def test_clipping_cuts_the_weights():
    rated = small()
    clipped = scores(MfIps(factors=2, penalty=1, clip=0.25).fit(log_of(rated)))
    floor = np.maximum(1 / rated.weights, 0.25)
    by_hand = scores(MfIps(factors=2, penalty=1).fit(log_of(rated, propensity=floor)))
    np.testing.assert_array_equal(clipped, by_hand)
    assert not np.array_equal(clipped, scores(MfIps(factors=2, penalty=1).fit(log_of(rated))))


def test_a_propensity_word_is_kept_for_whoever_evaluates():
    model = Model.from_word("mf-ips(propensity=naive-bayes(mcar=sample.csv), clip=0.01)")
    assert model.propensity == "naive-bayes(mcar=sample.csv)"
    assert str(model) == "mf-ips(propensity=naive-bayes(mcar=sample.csv), clip=0.01)"
    assert Model.from_word(str(model)) == model


def test_a_tuned_run_chooses_within_the_grid_and_tells_its_progress():
    calls = []
    scorer = MfNaive(tune=True).fit(log_of(small()), progress=lambda *call: calls.append(call))
    assert scorer.user_factors.shape[1] in {5, 10, 20, 40}
    assert calls == sorted(calls)
    assert calls[-1][0] == calls[-1][1]


@pytest.mark.parametrize(
    "word, message",
    [
        ("mf-ips(factors=0)", "factors=0.*whole number of at least 1"),
        ("mf-naive(penalty=-1)", "penalty=-1.*at least 0"),
        ("mf-naive(penalty=nan)", "penalty=nan.*finite number"),
        ("mf-ips(clip=-0.1)", "clip=-0.1.*finite number"),
        ("mf-ips(loss=huber)", "loss=huber.*choose from mse, mae"),
        ("mf-ips(offsets=fre)", "did you mean 'free'"),
        ("mf-ips(tune, factors=5)", "tune chooses factors and penalty"),
        ("mf-naive(propensity=uniform)", "no option 'propensity'"),
        ("mf-naive(clip=0.1)", "no option 'clip'"),
        ("mf-i", "did you mean 'mf-"),
    ],
)
def test_an_option_that_means_nothing_is_refused_with_a_hint(word, message):
    with pytest.raises(ConfigError, match=message):
        Model.from_word(word)


def test_python_values_are_checked_too():
    with pytest.raises(ConfigError, match="expected mse or mae"):
        MfNaive(loss="squared")


def coat():
    if "UNSKEW_DATA" not in os.environ:
        pytest.skip("real data: set UNSKEW_DATA to the folder that holds it")
    folder = Path(os.environ["UNSKEW_DATA"]) / "coat"
    if status_of(get_source("coat"), folder).presence == "absent":
        pytest.skip("real data: coat is not in the folder UNSKEW_DATA")
    split = get_source("coat").read_split(folder)
    if split.train.propensity is None:
        pytest.skip("real data: coat came without its propensities.ascii")
    return split


@pytest.mark.parametrize("offsets", ["regularised", "free"])
@pytest.mark.parametrize("loss", ["mse", "mae"])
def test_propensities_improve_the_ratings_of_random_coats(loss, offsets):
    split = coat()
    test = split.test
    mse, mae = {}, {}
    for model in (MfIps(loss=loss, offsets=offsets), MfNaive(loss=loss, offsets=offsets)):
        errors = scores(model.fit(split.train))[test.users, test.items] - test.values
        mse[model.word], mae[model.word] = np.mean(errors**2), np.mean(np.abs(errors))
    assert mse["mf-ips"] < mse["mf-naive"]
    assert mae["mf-ips"] < mae["mf-naive"]
    if (loss, offsets) == ("mse", "regularised"):  # the paper prints 1.093 and 1.202, .860 and .920
        assert [mse["mf-ips"], mse["mf-naive"]] == pytest.approx([1.093, 1.202], abs=0.01)
        assert [mae["mf-ips"], mae["mf-naive"]] == pytest.approx([0.860, 0.920], abs=0.02)
