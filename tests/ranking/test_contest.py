"""Who is judged on what: one catalogue per run, the same users for all models, all that is dropped counted."""

from typing import Any

import numpy as np
import pytest

from unskew import Interactions, Split
from unskew.errors import ConfigError, DataError
from unskew.ranking import FactorScorer, ListScorer, MatrixScorer, Scorer, prepare_contest, rank
from unskew.testing.worlds.integer_worlds import rows_of


def log(*pairs: tuple[object, object], **columns: list[float]) -> Interactions:
    users, items = zip(*pairs, strict=True)
    return Interactions.from_arrays(list(users), list(items), **columns)


def constant(users: list[object], items: list[object]) -> MatrixScorer:
    return MatrixScorer(np.zeros((len(users), len(items))), user_ids=users, item_ids=items)


TRAIN = log(("u", "a"), ("v", "b"))
TEST = log(("u", "b"), ("v", "a"))


def test_the_catalogue_is_the_items_of_train_and_of_all_models() -> None:
    models = {"one": constant(["u", "v"], ["a", "b", "c"]), "two": constant(["u", "v"], ["a", "d"])}
    contest = prepare_contest(models, Split(TRAIN, TEST))
    assert contest.catalogue_ids.tolist() == ["a", "b", "c", "d"]
    assert contest.bindings["one"].unknown_items == 1
    assert contest.bindings["two"].unknown_items == 2
    assert contest.candidates.tolist() == [3, 3]


def test_items_seen_in_training_are_the_only_candidates_under_trained() -> None:
    contest = prepare_contest({"one": constant(["u", "v"], ["a", "b", "c"])}, Split(TRAIN, TEST, candidates="trained"))
    assert contest.catalogue_ids.tolist() == ["a", "b"]


def test_validation_items_stay_candidates_but_add_nothing_to_the_catalogue() -> None:
    validation = log(("u", "c"), ("u", "z"))
    train = log(("u", "a"), ("v", "b"), ("v", "c"))
    contest = prepare_contest({"one": constant(["u", "v"], ["a", "b", "c"])}, Split(train, TEST, validation))
    assert contest.catalogue_ids.tolist() == ["a", "b", "c"]
    assert contest.candidates.tolist() == [2, 1]


@pytest.mark.parametrize("kind", ["matrix", "factors"])
def test_an_item_a_model_does_not_know_ranks_last_tied(kind: str) -> None:
    """Even below negative scores."""
    train = log(("u", "a"), ("v", "b"), ("v", "y"), ("v", "z"))
    test = log(("u", "b"), ("u", "y"))
    scores = np.array([[-5.0, -7.0, -1.0]])
    scorer: Scorer = MatrixScorer(scores, user_ids=["u"], item_ids=["a", "b", "c"])
    if kind == "factors":
        scorer = FactorScorer(np.ones((1, 1)), scores.T, user_ids=["u"], item_ids=["a", "b", "c"])
    ranks = rank(scorer, prepare_contest({"model": scorer}, Split(train, test)))
    # candidates b, c (known) and y, z (not)
    assert ranks.above.tolist() == [1, 2]
    assert ranks.tied.tolist() == [0, 1]
    assert ranks.candidates.tolist() == [4, 4]


def test_a_user_whom_a_model_does_not_know_has_an_empty_list_there() -> None:
    test = log(("u", "b"), ("v", "a"), ("w", "a"), ("w", "b"))
    models = {"one": constant(["u", "v", "w"], ["a", "b"]), "two": constant(["u", "v"], ["a", "b"])}
    contest = prepare_contest(models, Split(TRAIN, test))
    one, two = (rank(model, contest, name=name) for name, model in models.items())
    assert one.known is None
    assert two.known is not None
    assert two.known.tolist() == [True, True, False, False]
    assert (two.above.tolist(), two.tied.tolist()) == ([0, 0, 0, 0], [0, 0, 1, 1])
    assert contest.dropped["unknown_users"] == 0


@pytest.mark.parametrize("ties", ["expected", "optimistic", "pessimistic", "random", "ordinal"])
@pytest.mark.parametrize("kind", ["matrix", "lists"])
def test_an_empty_list_is_a_tie_under_every_policy(ties: Any, kind: str) -> None:
    test = log(("u", "b"), ("v", "a"), ("w", "a"), ("w", "b"))
    known = constant(["u", "v", "w"], ["a", "b"])
    lists = ListScorer.from_table(["u", "u", "v", "v"], ["a", "b", "a", "b"], [1.0, 1.0, 1.0, 1.0])
    partial: Scorer = constant(["u", "v"], ["a", "b"]) if kind == "matrix" else lists
    contest = prepare_contest({"known": known, "partial": partial}, Split(TRAIN, test))
    ranks = [rank(model, contest, name=name, ties=ties) for name, model in (("known", known), ("partial", partial))]
    assert ranks[0].above.tolist() == ranks[1].above.tolist()
    assert ranks[0].tied.tolist() == ranks[1].tied.tolist()
    in_list = ranks[1].in_list()
    assert in_list is not None
    assert in_list.tolist() == [1, 1, 0, 0]


def test_only_users_known_to_all_are_judged_under_common() -> None:
    test = log(("u", "b"), ("v", "a"), ("w", "a"), ("w", "b"))
    models = {"one": constant(["u", "v", "w"], ["a", "b"]), "two": constant(["u", "v"], ["a", "b"])}
    split = Split(TRAIN, test)
    contest = prepare_contest(models, split, users="common")
    for name, model in models.items():
        ranks = rank(model, contest, name=name)
        assert split.user_vocabulary.decode(ranks.users).tolist() == ["u", "v"]
    assert contest.dropped["unknown_users"] == 1
    assert contest.dropped["rows_of_unknown_users"] == 2
    assert contest.dropped["users"] == 1


def test_no_known_user_left_is_refused_with_the_model_at_fault() -> None:
    models = {"good": constant(["u", "v"], ["a", "b"]), "bad": constant(["x", "y"], ["a", "b"])}
    with pytest.raises(DataError, match=r"no test user is left: model 'bad' knows 0 of 2; are its user ids"):
        prepare_contest(models, Split(TRAIN, TEST), users="common")
    with pytest.raises(DataError, match=r"model 'bad' knows none of the 2 test users; are its user ids"):
        prepare_contest(models, Split(TRAIN, TEST))
    with pytest.raises(DataError, match=r"no test user is left: model 'bad' knows 0 of 2; are its user ids"):
        prepare_contest({"bad": models["bad"]}, Split(TRAIN, TEST))


def test_an_unknown_rule_of_users_is_refused() -> None:
    with pytest.raises(ConfigError, match="users='comon'; did you mean 'common'"):
        prepare_contest({"one": constant(["u", "v"], ["a", "b"])}, Split(TRAIN, TEST), users="comon")


def test_a_test_item_that_no_model_knows_is_a_miss_and_stays() -> None:
    test = log(("u", "b"), ("v", "a"), ("v", "new"), ("w", "new"))
    scorer = MatrixScorer(np.array([[1.0, 2.0]] * 3), user_ids=["u", "v", "w"], item_ids=["a", "b"])
    contest = prepare_contest({"one": scorer}, Split(TRAIN, test))
    assert contest.catalogue_ids.tolist() == ["a", "b", "new"]
    assert (len(contest), contest.unknown_rows, contest.dropped["items_outside_catalogue"]) == (4, 2, 0)
    ranks = rank(scorer, contest)
    assert ranks.above.tolist() == [0, 0, 1, 2]
    assert ranks.candidates.tolist() == [2, 2, 2, 3]


@pytest.mark.parametrize(("rule", "options"), [("trained", {}), ("unseen", {"tested": False})])
def test_items_outside_the_catalogue_are_dropped_and_counted(rule: str, options: dict[str, Any]) -> None:
    test = log(("u", "b"), ("v", "a"), ("v", "new"), ("w", "new"))
    split = Split(TRAIN, test, candidates=rule)
    contest = prepare_contest({"one": constant(["u", "v", "w"], ["a", "b"])}, split, **options)
    assert len(contest) == 2
    assert contest.dropped["items_outside_catalogue"] == 2
    assert contest.dropped["users"] == 1


def test_a_test_item_a_model_knows_is_judged() -> None:
    test = log(("u", "new"))
    contest = prepare_contest({"one": constant(["u", "v"], ["a", "new"])}, Split(TRAIN, test))
    assert contest.dropped["items_outside_catalogue"] == 0
    assert contest.catalogue_ids.tolist() == ["a", "b", "new"]


def test_no_item_left_is_refused() -> None:
    with pytest.raises(DataError, match="1 test items are neither in train nor known to a model"):
        prepare_contest({"one": constant(["u", "v"], ["a"])}, Split(TRAIN, log(("u", "new"))))


@pytest.mark.parametrize(("rule", "dropped"), [("unseen", 1), ("trained", 1), ("sampled(3)", 1), ("all", 0)])
def test_test_rows_in_train_are_dropped_under_unseen_and_kept_under_all(rule: str, dropped: int) -> None:
    test = log(("u", "a"), ("u", "b"), ("v", "a"))
    contest = prepare_contest({"one": constant(["u", "v"], ["a", "b"])}, Split(TRAIN, test, candidates=rule))
    assert contest.dropped["items_in_train"] == dropped
    assert len(contest) == 3 - dropped


def test_only_rows_in_train_are_refused_with_a_hint() -> None:
    with pytest.raises(DataError, match='2 are also in train; use candidates="all"'):
        prepare_contest({"one": constant(["u", "v"], ["a", "b"])}, Split(TRAIN, TRAIN))


def test_rows_that_are_no_positives_stay_candidates() -> None:
    test = log(("u", "b"), ("u", "c"), values=[5, 1])
    train = log(("u", "a"), ("v", "b"), ("v", "c"))
    scorer = MatrixScorer(np.array([[0.0, 1, 2]]), user_ids=["u"], item_ids=["a", "b", "c"])
    for rule in ("unseen", "listed"):
        contest = prepare_contest({"model": scorer}, Split(train, test, candidates=rule), positive="rating>=4")
        ranks = rank(scorer, contest)
        assert [row[2:] for row in rows_of(ranks)] == [(1, 0, 2)], rule


def test_no_positive_is_refused_with_a_hint() -> None:
    test = log(("u", "b"), values=[1])
    with pytest.raises(DataError, match="no positive row; check positive="):
        prepare_contest({"one": constant(["u", "v"], ["a", "b"])}, Split(TRAIN, test), positive="rating>=4")


def test_ids_as_text_or_number_bind_alike() -> None:
    train, test = log((1, 10), (2, 20)), log((1, 20))
    matrix = np.array([[0.0, 1], [2, 3]])
    numbers = MatrixScorer(matrix, user_ids=[2, 1], item_ids=[20, 10])
    texts = MatrixScorer(matrix, user_ids=["2", "1"], item_ids=np.array(["20", "10"]))
    one, other = (rows_of(rank(s, prepare_contest({"model": s}, Split(train, test)))) for s in (numbers, texts))
    assert one == other


def test_a_text_id_beside_numbers_binds_too() -> None:
    """The joined vocabulary is then text, and its order another."""
    train, test = log((1, 9), (2, 10)), log((1, 10))
    scorer = MatrixScorer(np.array([[0.0, 5, 9]]), user_ids=[1], item_ids=["9", "10", "x"])
    ranks = rank(scorer, prepare_contest({"model": scorer}, Split(train, test)))
    assert (ranks.above.tolist(), ranks.candidates.tolist()) == ([1], [2])


def test_ids_in_any_order_give_the_same_ranks() -> None:
    rng = np.random.default_rng(0)
    matrix = rng.integers(0, 4, (3, 6)).astype(float)
    train = Interactions.from_arrays([0, 1, 2], [0, 1, 2])
    test = Interactions.from_arrays([0, 1, 2, 2], [3, 4, 5, 0])
    rows, columns = rng.permutation(3), rng.permutation(6)
    plain = MatrixScorer(matrix, user_ids=np.arange(3), item_ids=np.arange(6))
    mixed = MatrixScorer(matrix[rows][:, columns], user_ids=rows, item_ids=columns)
    one, other = (rows_of(rank(s, prepare_contest({"model": s}, Split(train, test)))) for s in (plain, mixed))
    assert one == other


def test_a_model_without_ids_follows_the_ids_of_train_and_test() -> None:
    train, test, validation = log((1, 10), (5, 50)), log((1, 50), (5, 30)), log((2, 20))
    scorer = MatrixScorer(np.array([[0.0, 1, 2], [3, 4, 5]]))
    ranks = rank(scorer, prepare_contest({"model": scorer}, Split(train, test, validation)))
    # user 1: candidates 30 (1) and 50 (2); user 5: 10 (3) and 30 (4)
    assert ranks.above.tolist() == [0, 0]
    assert ranks.candidates.tolist() == [2, 2]


@pytest.mark.parametrize(("shape", "axis"), [((3, 2), "user"), ((2, 3), "item")])
def test_a_model_without_ids_of_another_size_is_refused(shape: tuple[int, int], axis: str) -> None:
    with pytest.raises(
        DataError, match=rf"has 3 {axis} rows but train and test have 2 distinct {axis}s; give {axis}_ids"
    ):
        prepare_contest({"one": MatrixScorer(np.zeros(shape))}, Split(TRAIN, TEST))


def test_ids_that_repeat_are_refused() -> None:
    with pytest.raises(DataError, match="item_ids of model 'one': id 'a' occurs more than once"):
        prepare_contest({"one": constant(["u", "v"], ["a", "a"])}, Split(TRAIN, TEST))


def test_lists_bring_their_items_into_the_catalogue() -> None:
    lists = ListScorer.from_table(["u", "v"], ["new", "a"], [1.0, 2.0])
    contest = prepare_contest({"lists": lists}, Split(TRAIN, TEST))
    assert contest.catalogue_ids.tolist() == ["a", "b", "new"]
