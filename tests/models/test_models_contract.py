"""What every registered model must do."""

import importlib
import pkgutil

import numpy as np
import pytest
from numba import get_num_threads, set_num_threads
from threadpoolctl import threadpool_limits

import unskew.models
from unskew.data import Interactions, Split
from unskew.errors import ConfigError, DataError
from unskew.models import DebiasedModel, Model, RatingModel, StepwiseModel

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


def checkerboard(n_users=24, n_items=16, seed=1):
    """Even users had most of the even items, odd users most of the odd ones; also what they missed."""
    rng = np.random.default_rng(seed)
    users, items = np.nonzero(np.add.outer(np.arange(n_users), np.arange(n_items)) % 2 == 0)
    missed = rng.random(len(users)) < 0.2
    return users[~missed], items[~missed], users[missed], items[missed]


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


@pytest.mark.parametrize("word", PERSONAL)
def test_the_other_colour_of_the_checkerboard_stays_below(word):
    users, items, missed_users, missed_items = checkerboard()
    given = scores(made(word).fit(Interactions.from_arrays(users, items, n_users=24, n_items=16)))
    other = np.add.outer(np.arange(24), np.arange(16)) % 2 == 1
    best_other = np.where(other, given, -np.inf).max(axis=1)
    assert np.all(given[missed_users, missed_items] > best_other[missed_users])


@pytest.mark.parametrize("word", WORDS)
def test_there_is_a_finite_score_for_each_user_and_item(word):
    train = world()
    scorer = made(word).fit(train)
    given = scorer.score(np.array([3, 0, 7]))
    assert given.shape == (3, train.n_items)
    assert given.dtype in {np.dtype(np.float32), np.dtype(np.float64)}
    assert np.isfinite(given).all()
    assert scorer.name == str(made(word))


@pytest.mark.parametrize("word", WORDS)
def test_blocks_and_their_order_do_not_matter(word):
    scorer = made(word).fit(world())
    whole = scores(scorer)
    order = np.random.default_rng(0).permutation(len(whole))
    pieces = np.concatenate([scorer.score(block) for block in np.array_split(order, 5)])
    np.testing.assert_allclose(pieces, whole[order], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("word", WORDS)
def test_the_same_seed_gives_the_same_bytes(word):
    rows = np.arange(24)
    given = made(word).fit(world(), rng=5).score(rows)
    assert given.tobytes() == made(word).fit(world(), rng=5).score(rows).tobytes()
    generator = np.random.default_rng(5)
    assert given.tobytes() == made(word).fit(world(), rng=generator).score(rows).tobytes()


@pytest.mark.parametrize("word", ["als", "random", *COMPARING])
def test_another_seed_gives_other_bytes(word):
    rows = np.arange(24)
    assert not np.array_equal(made(word).fit(world(), rng=5).score(rows), made(word).fit(world(), rng=6).score(rows))


@pytest.mark.parametrize("word", WORDS)
def test_the_order_of_rows_does_not_matter(word):
    train = world()
    shuffled = train.take(np.random.default_rng(0).permutation(len(train)))
    assert scores(made(word).fit(train)).tobytes() == scores(made(word).fit(shuffled)).tobytes()


@pytest.mark.parametrize("word", WORDS)
def test_values_are_ignored(word):
    users, items, _, _ = checkerboard()
    rated = Interactions.from_arrays(users, items, values=np.arange(len(users)) % 5 + 1)
    assert scores(made(word).fit(rated)).tobytes() == scores(made(word).fit(world())).tobytes()


@pytest.mark.parametrize("word", WORDS)
def test_the_number_of_threads_does_not_matter(word):
    rng = np.random.default_rng(2)
    train = Interactions.from_arrays(rng.integers(900, size=6000), rng.integers(300, size=6000))
    before = get_num_threads()
    try:
        set_num_threads(1)
        with threadpool_limits(limits=1):
            alone = made(word).fit(train)
    finally:
        set_num_threads(before)
    assert scores(alone).tobytes() == scores(made(word).fit(train)).tobytes()


@pytest.mark.parametrize("word", WORDS)
def test_what_only_the_test_holds_is_unknown(word):
    users, items, _, _ = checkerboard()
    train = Interactions.from_arrays([f"u{u:02}" for u in users], [f"i{i:02}" for i in items])
    test = Interactions.from_arrays(["new", "u00", "a"], ["i00", "later", "early"])
    split = Split(train=train, test=test)
    assert len(split.train.item_vocabulary) == train.n_items + 2
    scorer = made(word).fit(split.train)
    np.testing.assert_array_equal(scorer.item_ids, train.item_vocabulary.ids)
    everybody = word in ANYBODY
    expected = split.user_vocabulary.ids if everybody else train.user_vocabulary.ids
    np.testing.assert_array_equal(scorer.user_ids, expected)
    assert scores(scorer).shape == (len(expected), train.n_items)
    if not everybody:
        np.testing.assert_array_equal(scores(scorer), scores(made(word).fit(train)))


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


@pytest.mark.parametrize("word", WORDS)
def test_progress_is_told_and_ends_complete(word):
    calls = []
    made(word).fit(world(), progress=lambda done, total: calls.append((done, total)))
    assert calls
    assert calls[-1][0] == calls[-1][1]
    assert calls == sorted(calls)


@pytest.mark.parametrize("word", WORDS)
def test_fitting_changes_neither_model_nor_log(word):
    train, model = world(), made(word)
    before = train.sha256
    first, second = model.fit(train), model.fit(train)
    assert first is not second
    assert Interactions.from_arrays(train.users, train.items).sha256 == before
    assert model == made(word)


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
