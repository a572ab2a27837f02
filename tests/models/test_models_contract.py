"""What every registered model must do."""

import importlib
import pkgutil

import numpy as np
import pytest

import unskew.models
from unskew.data import Interactions, Split
from unskew.errors import ConfigError, DataError
from unskew.models import DebiasedModel, Model, RatingModel, StepwiseModel
from unskew.testing import check_model
from unskew.testing.worlds.two_tastes import checkerboard

# settings that suit the small worlds below, which hold two tastes
SMALL = {
    "als": "als(factors=2)",
    "svd": "svd(rank=2)",
    "ease": "ease(regularisation=2)",
    "bpr": "bpr(factors=2, iterations=100, learning-rate=0.1, batch=200)",
    "cml": "cml(factors=2, iterations=60, learning-rate=0.03, batch=1000)",
    "cml-rank": "cml-rank(factors=2, iterations=60, learning-rate=0.03, batch=1000, negatives=3)",
    "mf-auc": "mf-auc(factors=2, regularisation=0.05, iterations=5000, every=1000)",
    "mf-adg": "mf-adg(factors=2, regularisation=0.05, iterations=5000, every=1000, gamma=1)",
    "pmf": "pmf(factors=2, regularisation=0.1, iterations=100, learning-rate=0.1, batch=200)",
}
TINY = SMALL | {"svd": "svd(rank=1)"}
# models of ratings and of labels have contracts of their own
WORDS = sorted(member.word for member in Model.members() if not issubclass(member, (RatingModel, DebiasedModel)))
# these compare what a user has had with what not, so they learn of an item nobody had, and refuse where all had all
COMPARING = sorted(member.word for member in Model.members() if issubclass(member, StepwiseModel))
PERSONAL = [word for word in WORDS if word not in {"popular", "random"}]
ANYBODY = ["popular", "random"]


def made(word, settings=SMALL):
    return Model.from_word(settings.get(word, word))


def world():
    users, items, _, _ = checkerboard()
    return Interactions.from_arrays(users, items)


def scores(scorer):
    return scorer.score(np.arange(len(scorer.user_ids)))


def test_every_file_of_the_family_is_imported_and_registered():
    files = {name for _, name, package in pkgutil.iter_modules(unskew.models.__path__) if not package}
    homes = {member.__module__.removeprefix("unskew.models.") for member in Model.members()}
    modules = {home for home in homes if "." not in home} | {"model", "closed_kernel"}
    assert files == modules
    assert {"als", "bpr", "cml", "cml-rank", "ease", "item-knn", "pmf", "popular", "random", "svd"} <= set(WORDS)
    assert all(hasattr(importlib.import_module("unskew.models"), member.__name__) for member in Model.members())


@pytest.mark.parametrize("word", WORDS)
def test_parse_and_print_are_inverse(word):
    assert str(Model.from_word(word)) == word
    small = made(word)
    assert str(small) == SMALL.get(word, word)
    assert Model.from_word(str(small)) == small


@pytest.mark.parametrize("word", WORDS)
def test_every_model_keeps_the_contract(word):
    check_model(made(word))


@pytest.mark.parametrize(
    "word", ["cpt-v", "hl-mar(factors=2, iterations=20)", "hl-mnar(factors=2, iterations=5, sample=500)", "mf-naive"]
)
def test_models_of_ratings_keep_the_contract(word):
    check_model(Model.from_word(word), rated=True)


@pytest.mark.parametrize("word", PERSONAL)
def test_the_other_colour_of_the_checkerboard_stays_below(word):
    users, items, missed_users, missed_items = checkerboard()
    given = scores(made(word).fit(Interactions.from_arrays(users, items, n_users=24, n_items=16)))
    other = np.add.outer(np.arange(24), np.arange(16)) % 2 == 1
    best_other = np.where(other, given, -np.inf).max(axis=1)
    assert np.all(given[missed_users, missed_items] > best_other[missed_users])


@pytest.mark.parametrize("word", ["als", "random", *COMPARING])
def test_another_seed_gives_other_bytes(word):
    rows = np.arange(24)
    assert not np.array_equal(made(word).fit(world(), rng=5).score(rows), made(word).fit(world(), rng=6).score(rows))


@pytest.mark.parametrize("word", WORDS)
def test_users_of_the_test_alone_are_known_only_to_models_that_score_anybody(word):
    users, items, _, _ = checkerboard()
    train = Interactions.from_arrays([f"u{u:02}" for u in users], [f"i{i:02}" for i in items])
    test = Interactions.from_arrays(["new", "u00", "a"], ["i00", "later", "early"])
    split = Split(train=train, test=test)
    assert len(split.train.item_vocabulary) == train.n_items + 2
    expected = split.user_vocabulary.ids if word in ANYBODY else train.user_vocabulary.ids
    np.testing.assert_array_equal(made(word).fit(split.train).user_ids, expected)


@pytest.mark.parametrize("word", WORDS)
def test_declared_items_are_known_and_declared_users_without_rows_are_not(word):
    users, items, _, _ = checkerboard()
    train = Interactions.from_arrays(users + 2, items + 1, n_users=30, n_items=20)
    scorer = made(word).fit(train)
    np.testing.assert_array_equal(scorer.item_ids, np.arange(20))
    expected = np.arange(30) if word in ANYBODY else np.arange(2, 26)
    np.testing.assert_array_equal(scorer.user_ids, expected)
    if word not in {"random", *COMPARING}:
        assert np.all(scores(scorer)[:, [0, 17, 18, 19]] == 0)  # nothing is known of them


@pytest.mark.parametrize("word", [word for word in WORDS if word not in COMPARING])
@pytest.mark.parametrize("n_users, n_items", [(1, 1), (1, 5), (5, 1)])
def test_a_single_user_or_item_is_enough(word, n_users, n_items):
    users, items = np.divmod(np.arange(n_users * n_items), n_items)
    scorer = made(word, TINY).fit(Interactions.from_arrays(users, items))
    given = scores(scorer)
    assert given.shape == (n_users, n_items)
    assert np.isfinite(given).all()


@pytest.mark.parametrize("word", WORDS)
def test_an_empty_log_is_refused_with_a_hint(word):
    empty = Interactions.from_arrays([], [], n_users=3, n_items=4, name="train.csv")
    with pytest.raises(DataError, match=r"train\.csv: has no rows for .*; check"):
        made(word).fit(empty)


@pytest.mark.parametrize(
    "text",
    [
        "als(factors=0)",
        "als(iterations=0)",
        "als(regularisation=0)",
        "als(regularisation=nan)",
        "als(alpha=-1)",
        "als(alpha=inf)",
        "svd(rank=0)",
        "ease(regularisation=0)",
        "ease(regularisation=-3)",
        "ease(max-items=0)",
        "item-knn(neighbours=0)",
        "item-knn(shrinkage=-1)",
        "item-knn(shrinkage=nan)",
        "bpr(factors=0)",
        "bpr(batch=0)",
        "bpr(every=0)",
        "bpr(patience=-1)",
        "bpr(learning-rate=0)",
        "bpr(learning-rate=inf)",
        "bpr(regularisation=-1)",
        "cml(margin=0)",
        "cml-rank(negatives=0)",
        "pmf(iterations=0)",
    ],
)
def test_an_option_out_of_range_is_refused_by_name(text):
    option = text.partition("(")[2].rstrip(")").replace("=", "=.*")
    with pytest.raises(ConfigError, match=rf"{option}.*expected a (whole|finite) number"):
        Model.from_word(text)


@pytest.mark.parametrize(
    "text, hint",
    [
        ("alz", "did you mean 'als'"),
        ("knn", "did you mean 'item-knn'"),
        ("als(factor=3)", "did you mean 'factors'"),
        ("als(factors=many)", "expected a whole number"),
        ("popular@10", "has no cut-off"),
        ("random(seed=3)", "no options"),
    ],
)
def test_a_word_that_means_nothing_gets_a_hint(text, hint):
    with pytest.raises(ConfigError, match=hint):
        Model.from_word(text)


def test_a_python_value_of_the_wrong_type_is_refused():
    with pytest.raises(ConfigError, match="whole number"):
        unskew.models.Als(factors=2.5)
    with pytest.raises(ConfigError, match="finite number"):
        unskew.models.Ease(regularisation="much")
