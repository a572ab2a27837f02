"""What every registered model of ratings must do, and the rows it learns from."""

import numpy as np
import pytest
from rating_logs import log_of, small
from threadpoolctl import threadpool_limits

from unskew.data import Interactions, Split
from unskew.errors import DataError, PropensityError
from unskew.models import Model, Rated, RatingModel

SMALL = {
    "hl-mar": "hl-mar(factors=2)",
    "hl-mnar": "hl-mnar(factors=2)",
    "mf-ips": "mf-ips(factors=2, penalty=1)",
    "mf-naive": "mf-naive(factors=2, penalty=1)",
}
WORDS = sorted(member.word for member in Model.members() if issubclass(member, RatingModel))


def made(word):
    return Model.from_word(SMALL.get(word, word))


def scores(scorer):
    return scorer.score(np.arange(len(scorer.user_ids)))


def test_the_models_of_ratings_are_registered():
    assert WORDS == ["cpt-v", "hl-mar", "hl-mnar", "mf-ips", "mf-naive"]
    assert [word for word in WORDS if made(word).uses_propensity] == ["mf-ips"]


@pytest.mark.parametrize("word", WORDS)
def test_parse_and_print_are_inverse(word):
    assert str(Model.from_word(word)) == word
    assert str(made(word)) == SMALL.get(word, word)


@pytest.mark.parametrize("word", WORDS)
def test_scores_are_finite_predicted_ratings(word):
    rated = small()
    scorer = made(word).fit(log_of(rated))
    given = scores(scorer)
    assert scorer.ratings
    assert scorer.name == str(made(word))
    assert given.shape == (rated.n_users, rated.n_items)
    assert np.isfinite(given).all()
    predicted = given[rated.users, rated.items]
    assert np.mean((predicted - rated.values) ** 2) < np.var(rated.values)


@pytest.mark.parametrize("word", WORDS)
def test_the_same_seed_gives_the_same_bytes_whatever_the_order_of_rows_and_threads(word):
    log = log_of(small())
    shuffled = log.take(np.random.default_rng(0).permutation(len(log)))
    first = scores(made(word).fit(log, rng=3)).tobytes()
    assert scores(made(word).fit(shuffled, rng=3)).tobytes() == first
    with threadpool_limits(limits=1):
        assert scores(made(word).fit(log, rng=np.random.default_rng(3))).tobytes() == first


@pytest.mark.parametrize("word", WORDS)
def test_what_only_the_test_holds_changes_nothing_and_new_users_are_scored_alike(word):
    rated = small()
    columns = {"values": rated.values, "propensity": 1 / rated.weights}
    train = Interactions.from_arrays(
        [f"u{user:02}" for user in rated.users], [f"i{item:02}" for item in rated.items], **columns
    )
    alone = made(word).fit(train)
    split = Split(train=train, test=Interactions.from_arrays(["zoe", "adam"], ["i00", "new"], values=[3, 4]))
    scorer = made(word).fit(split.train)
    np.testing.assert_array_equal(scorer.item_ids, alone.item_ids)
    np.testing.assert_array_equal(scorer.user_ids, ["adam", *alone.user_ids, "zoe"])
    np.testing.assert_array_equal(scores(scorer)[1:-1], scores(alone))
    np.testing.assert_array_equal(scores(scorer)[0], scores(scorer)[-1])


@pytest.mark.parametrize("word", WORDS)
def test_a_log_without_ratings_is_refused_with_a_hint(word):
    with pytest.raises(DataError, match=r"train\.csv: has no ratings.*; name their column"):
        made(word).fit(log_of(small(), values=None))


@pytest.mark.parametrize("word", WORDS)
def test_an_empty_log_is_refused_with_a_hint(word):
    empty = Interactions.from_arrays([], [], [], n_users=3, n_items=4, name="train.csv")
    with pytest.raises(DataError, match=r"has no rows for .*; check"):
        made(word).fit(empty)


@pytest.mark.parametrize("word", WORDS)
def test_propensities_are_asked_for_only_by_those_that_use_them(word):
    without = log_of(small(), propensity=None)
    if made(word).uses_propensity:
        with pytest.raises(PropensityError, match=r"has no propensities.*; give a column .* or"):
            made(word).fit(without)
    else:
        assert scores(made(word).fit(without)).tobytes() == scores(made(word).fit(log_of(small()))).tobytes()


@pytest.mark.parametrize("word", WORDS)
def test_progress_ends_complete(word):
    calls = []
    made(word).fit(log_of(small()), progress=lambda done, total: calls.append((done, total)))
    assert calls == sorted(calls)
    assert calls[-1][0] == calls[-1][1]


@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize("n_users, n_items", [(1, 1), (1, 5), (5, 1)])
def test_a_single_user_or_item_is_enough(word, n_users, n_items):
    users, items = np.divmod(np.arange(n_users * n_items), n_items)
    log = Interactions.from_arrays(users, items, users + items + 1.0, propensity=np.full(len(users), 0.5))
    assert np.isfinite(scores(made(word).fit(log))).all()


def test_rows_are_put_in_the_order_of_users_and_items():
    rated = Rated(np.array([1, 0, 1]), np.array([2, 1, 0]), np.array([3.0, 4, 5]), np.array([1.0, 2, 3]), 3, 3)
    assert rated.users.tolist() == [0, 1, 1]
    assert rated.items.tolist() == [1, 0, 2]
    assert rated.values.tolist() == [4, 5, 3]
    assert rated.weights.tolist() == [2, 3, 1]
    assert rated.starts.tolist() == [0, 1, 3, 3]


def test_weights_are_scaled_and_then_cut():
    rated = Rated(np.array([0, 1]), np.array([0, 0]), np.ones(2), np.array([3.0, 6]), 2, 1)
    assert rated.take(np.array([0, 1]), scale=2, most=8).weights.tolist() == [6, 8]


@pytest.mark.parametrize(
    "columns, message",
    [
        (([0, 1], [0], [1.0], [1.0]), "columns of the same length"),
        (([], [], [], []), "at least one row"),
        (([0, 3], [0, 0], [1.0, 2], [1.0, 1]), "row 2 has user 3"),
        (([0, 1], [-1, 0], [1.0, 2], [1.0, 1]), "row 1 has user 0, item -1"),
        (([0, 1], [0, 0], [1.0, np.nan], [1.0, 1]), "row 2 .* value nan"),
        (([0, 1], [0, 0], [1.0, 2], [1.0, 0]), "row 2 .* weight 0"),
        (([0, 0], [1, 1], [1.0, 2], [1.0, 1]), "occurs twice"),
    ],
)
def test_rows_that_cannot_be_used_are_named(columns, message):
    with pytest.raises(DataError, match=message):
        Rated(*map(np.array, columns), n_users=3, n_items=2)
