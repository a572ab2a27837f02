"""Ranks as a value: joined, saved and loaded, and refused when the file is something else."""

import json
import pickle
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from unskew import Interactions, Ranks, Split, evaluate
from unskew.data import split_fractions
from unskew.errors import DataError
from unskew.ranking import ListScorer, MatrixScorer, prepare_contest, rank

ABOUT = {"format": 1, "ties": "expected", "candidates": "unseen"}


def some_ranks(**more: object) -> Ranks:
    columns = {name: np.array([0, 0, 2]) for name in ("users", "items", "above")}
    return Ranks(**columns, tied=np.array([1, 2, 0]), candidates=np.array([4, 4, 3]), **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "more", [{}, {"values": np.array([1.0, 2, 3]), "listed": np.array([2, 2, 1])}, {"ties": "ordinal"}]
)
def test_saved_ranks_load_as_they_were(tmp_path: Path, more: dict[str, object]) -> None:
    ranks = some_ranks(candidate_rule="sampled(5)", **more)
    ranks.save(tmp_path / "r.npz")
    again = Ranks.load(tmp_path / "r.npz")
    for name in ("users", "items", "above", "tied", "candidates", "values", "listed"):
        one, other = getattr(ranks, name), getattr(again, name)
        assert (one is None and other is None) or (one.dtype == other.dtype and one.tolist() == other.tolist())
    assert (again.ties, again.candidate_rule) == (ranks.ties, "sampled(5)")
    assert [path.name for path in tmp_path.iterdir()] == ["r.npz"]


def _npz(**arrays: object) -> "object":
    return lambda path: np.savez(path, **arrays)


GARBAGE = {
    "text": lambda path: path.write_text("hello"),
    "empty": lambda path: path.write_bytes(b""),
    "zip in name": lambda path: path.write_bytes(b"PK\x03\x04 and no more"),
    "pickle": lambda path: path.write_bytes(pickle.dumps({"users": [1]})),
    "one array": lambda path: np.save(path.open("wb"), np.zeros(3)),
    "pickled objects": _npz(about=np.array(json.dumps(ABOUT)), users=np.array([{}], dtype=object)),
    "factors": _npz(user_factors=np.zeros((2, 2))),
    "no columns": _npz(about=np.array(json.dumps(ABOUT))),
    "other columns": _npz(about=np.array(json.dumps(ABOUT)), scores=np.zeros(2)),
    "about nothing": _npz(about=np.array("{}"), users=np.zeros(2)),
    "about a list": _npz(about=np.array("[]"), users=np.zeros(2)),
    "about no json": _npz(about=np.array("hello"), users=np.zeros(2)),
    "lengths differ": _npz(
        about=np.array(json.dumps(ABOUT)),
        **{name: np.zeros(3) for name in ("users", "items", "above", "tied")},
        candidates=np.zeros(2),
    ),
}


@pytest.mark.parametrize("make", GARBAGE.values(), ids=GARBAGE)
@pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")
def test_files_that_are_no_ranks_are_refused(tmp_path: Path, make: object) -> None:
    path = tmp_path / "r.npz"
    make(path)  # type: ignore[operator]
    with pytest.raises(DataError, match="not a file of ranks"):
        Ranks.load(path)


WRONG = {
    "above": [0, -1, 2],
    "tied": [4, 0, 0],
    "candidates": [4, 4, 2],
    "users": [1, 0, 2],
    "items": np.array([0, 2**40, 2]),
    "values": [1.0, np.nan, 2],
    "listed": [5, 1, 1],
    "known": [1, 1, 0],
}


@pytest.mark.parametrize("name", WRONG)
def test_numbers_that_cannot_be_ranks_are_refused(tmp_path: Path, name: str) -> None:
    """As `Ranks.save` would write them, checksums and all."""
    replace(some_ranks(), **{name: np.asarray(WRONG[name])}).save(tmp_path / "r.npz")
    with pytest.raises(DataError, match="not a file of ranks"):
        Ranks.load(tmp_path / "r.npz")


def test_a_changed_number_is_found_by_its_checksum(tmp_path: Path) -> None:
    path = tmp_path / "r.npz"
    some_ranks().save(path)
    with np.load(path) as stored:
        arrays = dict(stored)
    np.savez(path, **(arrays | {"above": arrays["above"] + np.array([1, 0, 0])}))
    with pytest.raises(DataError, match="changed or damaged after it was written"):
        Ranks.load(path)
    np.savez(path, **(arrays | {"about": np.array(str(arrays["about"]).replace("expected", "ordinal"))}))
    with pytest.raises(DataError, match="changed or damaged"):
        Ranks.load(path)


def test_cut_missing_and_directory_are_refused(tmp_path: Path) -> None:
    some_ranks().save(tmp_path / "whole.npz")
    (tmp_path / "cut.npz").write_bytes((tmp_path / "whole.npz").read_bytes()[:-30])
    for path in (tmp_path / "cut.npz", tmp_path / "no.npz", tmp_path):
        with pytest.raises(DataError, match="not a file of ranks"):
            Ranks.load(path)


def test_saving_where_nothing_can_be_written_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="does not exist; create it first"):
        some_ranks().save(tmp_path / "no" / "r.npz")
    with pytest.raises(DataError, match="this is a directory"):
        some_ranks().save(tmp_path)


def test_joined_ranks_are_sorted_by_user_and_item() -> None:
    ranks = Ranks(*(np.array([3, 1, 1]) for _ in range(2)), *(np.array([7, 8, 9]) for _ in range(3)))
    other = Ranks(*(np.array([2]) for _ in range(2)), *(np.array([1]) for _ in range(3)))
    joined = Ranks.concat([ranks, other])
    assert joined.users.tolist() == [1, 1, 2, 3]
    assert joined.above.tolist() == [8, 9, 1, 7]


def test_parts_of_a_contest_join_to_the_whole() -> None:
    rng = np.random.default_rng(0)
    train = Interactions.from_arrays(rng.integers(0, 20, 50), rng.integers(0, 9, 50), n_users=20, n_items=9)
    test = Interactions.from_arrays(rng.integers(0, 20, 50), rng.integers(0, 9, 50), n_users=20, n_items=9)
    scorer = MatrixScorer(rng.integers(0, 4, (20, 9)).astype(float))
    parts = [test, test.take(test.users >= 10), test.take(test.users < 10)]
    whole, late, early = (rank(scorer, prepare_contest({"model": scorer}, Split(train, part))) for part in parts)
    joined = Ranks.concat([late, early])
    for name in ("users", "items", "above", "tied", "candidates"):
        assert getattr(joined, name).tolist() == getattr(whole, name).tolist()


def test_a_column_only_some_parts_have_is_left_out() -> None:
    joined = Ranks.concat([some_ranks(values=np.ones(3)), some_ranks()])
    assert joined.values is None
    assert len(joined) == 6


def test_ranks_of_different_rules_do_not_join() -> None:
    for other in (some_ranks(ties="ordinal"), some_ranks(candidate_rule="all")):
        with pytest.raises(DataError, match="cannot be joined"):
            Ranks.concat([some_ranks(), other])
    with pytest.raises(DataError, match="no ranks to join"):
        Ranks.concat([])


def test_ties_spread_only_when_they_are_averaged_over() -> None:
    assert some_ranks().spread.tolist() == [1, 2, 0]
    assert some_ranks(ties="pessimistic").spread.tolist() == [0, 0, 0]
    assert some_ranks(ties="pessimistic").tied_share == pytest.approx(2 / 3)


@pytest.mark.parametrize("ties", ["expected", "pessimistic", "random"])
@pytest.mark.parametrize("rule", ["unseen", "all", "sampled(4)"])
def test_saved_ranks_give_the_same_report_as_their_scorer(tmp_path: Path, rule: str, ties: str) -> None:
    rng = np.random.default_rng(1)
    train = Interactions.from_arrays(rng.integers(0, 30, 90), rng.integers(0, 12, 90), n_users=30, n_items=12)
    test = Interactions.from_arrays(rng.integers(0, 30, 60), rng.integers(0, 12, 60), n_users=30, n_items=12)
    split = Split(train, test, candidates=rule)
    models = {
        "matrix": MatrixScorer(rng.integers(0, 4, (30, 12)).astype(float)),
        "lists": ListScorer.from_arrays(rng.permuted(np.tile(np.arange(12), (30, 1)), axis=1)[:, :5], n_items=12),
    }
    contest = prepare_contest(models, split)
    saved = {}
    for name, model in models.items():
        rank(model, contest, name=name, ties=ties).save(tmp_path / f"{name}.npz")
        saved[name] = Ranks.load(tmp_path / f"{name}.npz")
    metrics = ["recall@5", "auc", "ndcg@5", "precision@3"]
    fresh, loaded = (evaluate(m, split, metrics=metrics, ties=ties) for m in (models, saved))
    assert [(e.model, e.metric, e.estimator, e.value, e.low, e.users) for e in fresh.estimates] == [
        (e.model, e.metric, e.estimator, e.value, e.low, e.users) for e in loaded.estimates
    ]
    assert fresh.comparisons == loaded.comparisons


def test_ranks_made_otherwise_are_refused() -> None:
    rng = np.random.default_rng(1)
    parts = [
        Interactions.from_arrays(rng.integers(0, 9, 20), rng.integers(0, 9, 20), n_users=9, n_items=9) for _ in "ab"
    ]
    split = Split(*parts)
    scorer = MatrixScorer(rng.normal(size=(9, 9)))
    ranks = rank(scorer, prepare_contest({"model": scorer}, split))
    with pytest.raises(DataError, match="made with ties expected among unseen candidates; ask for the same"):
        evaluate({"m": ranks}, split, ties="ordinal")
    with pytest.raises(DataError, match="ranks of 'm' repeat rows"):
        evaluate({"m": Ranks.concat([ranks, ranks]), "s": scorer}, split)
    unsorted = replace(ranks, **{name: getattr(ranks, name)[::-1] for name in ("users", "items", "above", "tied")})
    with pytest.raises(DataError, match="or are not sorted by user and item"):
        evaluate({"m": unsorted}, split)
    with pytest.raises(DataError, match="places outside the user's candidates"):
        evaluate({"m": replace(ranks, above=ranks.above - 99)}, split)


def test_ranks_of_another_split_are_refused() -> None:
    """Else numbers would be made from one test and the propensities of another."""
    rng = np.random.default_rng(1)
    log = Interactions.from_arrays(rng.integers(0, 20, 150), rng.integers(0, 20, 150), n_users=20, n_items=20)
    scorer = MatrixScorer(rng.normal(size=(20, 20)))
    one, other = (split_fractions(log, (80, 20), rng=seed) for seed in (1, 2))
    ranks = rank(scorer, prepare_contest({"model": scorer}, one))
    evaluate({"m": ranks}, one)
    with pytest.raises(
        DataError, match=r"ranks of 'm' do not belong to this split: \d+ of \d+ rows are not in its test"
    ):
        evaluate({"m": ranks}, other)
