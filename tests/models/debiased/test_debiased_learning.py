"""What the corrections are worth in a world where labels decide what is observed."""

import numpy as np
import pytest

from unskew.data import Interactions
from unskew.models import Model

N_USERS, N_ITEMS = 120, 100


def world(seed=0):
    """A quarter of the pairs are liked, by three tastes; liked ones are seen with chance 1/2, the others with 0.03."""
    rng = np.random.default_rng(seed)
    tastes = rng.normal(size=(N_USERS, 3)) @ rng.normal(size=(N_ITEMS, 3)).T
    liked = tastes > np.quantile(tastes, 0.75)
    seen = rng.random(liked.shape) < np.where(liked, 0.5, 0.03)
    pairs = rng.permutation(liked.size)
    parts = np.flatnonzero(seen), pairs[:600], pairs[600:1200], pairs[1200:]
    return [
        Interactions.from_arrays(
            part // N_ITEMS, part % N_ITEMS, liked.reshape(-1)[part].astype(float), n_users=N_USERS, n_items=N_ITEMS
        )
        for part in parts
    ]


@pytest.fixture(scope="module")
def auc():
    """AUC on pairs that were drawn uniformly, by word."""
    pytest.importorskip("torch", reason="torch is not installed: pip install 'unskew[models]'")
    train, uniform, validation, test = world()

    def judge(text):
        scorer = Model.from_word(text).train(train, uniform=uniform, validation=validation).scorer
        scores = scorer.score(np.arange(N_USERS))[test.users, test.items]
        order = np.argsort(np.argsort(scores))
        positive = test.values == 1
        n = int(positive.sum())
        return (order[positive].sum() - n * (n - 1) / 2) / (n * (len(test) - n))

    words = ["bias", "ips", "dr", "autodebias(epochs=30)", "bias(backbone=lightgcn)"]
    return {word.partition("(epochs")[0]: judge(word) for word in words}


# 10,800 pairs, 2,700 of them liked: the standard error of an AUC is below 0.007 (Hanley and McNeil 1982), that of a
# difference below 0.01, so a lead of 0.05 means one of five standard errors or more


def test_all_learn_something(auc):
    assert min(auc.values()) > 0.65


def test_autodebias_beats_what_does_without_a_uniform_sample(auc):
    assert auc["autodebias"] > auc["bias"] + 0.1


def test_known_propensities_help_too_and_imputing_helps_more(auc):
    assert auc["ips"] > auc["bias"] + 0.05
    assert auc["autodebias"] > auc["ips"] + 0.03
