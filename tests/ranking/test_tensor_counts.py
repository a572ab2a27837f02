"""Scores that are torch tensors: the same ranks as from arrays, counted on the device of the tensor."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from torch_or_skip import torch

from unskew import Interactions, Split, evaluate
from unskew.errors import DataError
from unskew.ranking import CallableScorer, MatrixScorer, Ranks, prepare_contest, rank, tensor_counts, top_lists
from unskew.testing import check_scorer

USERS, ITEMS = 60, 40
DTYPES = [torch.float32, torch.float64, torch.float16, torch.bfloat16]


def split_of(rng: np.random.Generator, candidates: str = "unseen") -> Split:
    train = rng.random((USERS, ITEMS)) < 0.2
    train[:, -2:] = False  # items without a training row
    test = ~train & (rng.random(train.shape) < 0.1)
    parts = [Interactions.from_arrays(*(10 * codes for codes in np.nonzero(mask))) for mask in (train, test)]
    return Split(*parts, candidates=candidates)


@dataclass
class Model:
    """Scores by row, with some users and items unknown to it and others only known to it."""

    scores: Any
    user_ids: Any
    item_ids: Any

    def score(self, users: Any) -> Any:
        return self.scores[users]


def models(rng: np.random.Generator, dtype: Any) -> tuple[Model, Model]:
    """Two models with the same scores, which are often tied: a tensor that has a gradient, and an array."""
    users, items = 10 * rng.permutation(np.arange(5, USERS)), 10 * rng.permutation(np.arange(3, ITEMS + 4))
    values = rng.integers(-3, 4, (len(users), len(items))) / 4
    tensor = torch.tensor(values, dtype=dtype, requires_grad=True)
    return Model(tensor, users, items), Model(values, users, items)


def same(ours: Ranks, theirs: Ranks) -> None:
    for column in ("users", "items", "above", "tied", "candidates", "known"):
        mine, other = getattr(ours, column), getattr(theirs, column)
        assert (mine is None) == (other is None)
        if mine is not None:
            assert mine.dtype == other.dtype
            np.testing.assert_array_equal(mine, other)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("candidates", ["unseen", "all", "trained", "listed", "sampled(5)"])
def test_ranks_are_those_of_arrays(dtype: Any, candidates: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    split, (tensor, array) = split_of(rng, candidates), models(rng, dtype)
    contest = prepare_contest({"model": tensor}, split)
    expected = rank(array, contest, block_size=16)
    assert expected.tied.any()
    for chunk in (1, 200, 1 << 24):
        monkeypatch.setattr(tensor_counts, "CHUNK", chunk)
        same(rank(tensor, contest, block_size=16), expected)


@pytest.mark.parametrize("ties", ["optimistic", "pessimistic", "random", "ordinal"])
def test_all_ways_to_break_ties_are_the_same(ties: Any) -> None:
    rng = np.random.default_rng(1)
    split, (tensor, array) = split_of(rng), models(rng, torch.float32)
    contest = prepare_contest({"model": tensor}, split)
    same(rank(tensor, contest, ties=ties), rank(array, contest, ties=ties))


def test_scores_do_not_leave_the_device_unless_ties_are_ordered() -> None:
    rng = np.random.default_rng(2)
    split, (tensor, _) = split_of(rng), models(rng, torch.float32)
    contest = prepare_contest({"model": tensor}, split)
    moved: list[Any] = []

    class Watched(torch.Tensor):  # type: ignore[misc,name-defined]
        """A tensor that notes what is taken from its device."""

        @classmethod
        def __torch_function__(cls, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            if getattr(function, "__name__", "") in {"cpu", "numpy", "__array__", "tolist", "item"}:
                moved.append(tuple(args[0].shape))
            return super().__torch_function__(function, types, args, kwargs or {})

    tensor.scores = tensor.scores.detach().as_subclass(Watched)
    rank(tensor, contest, block_size=16)
    assert not moved
    rank(tensor, contest, block_size=16, ties="random")
    assert (16, contest.catalogue_size) in moved


def test_functions_and_matrices_of_tensors_and_whole_numbers_work() -> None:
    rng = np.random.default_rng(3)
    split = split_of(rng)
    items, users = len(split.item_vocabulary), len(split.user_vocabulary)
    values = rng.integers(0, 5, (users, items))
    scorers: list[Any] = [
        MatrixScorer(torch.tensor(values, dtype=torch.float32)),
        CallableScorer(lambda rows: torch.tensor(values[rows], dtype=torch.float64)),
        CallableScorer(lambda rows: torch.tensor(values)[rows]),
        CallableScorer(lambda rows: torch.tensor(values.T.copy(), dtype=torch.float32).T[rows]),
    ]
    contest = prepare_contest({"model": MatrixScorer(values)}, split)
    for scorer in scorers:
        same(rank(scorer, contest), rank(MatrixScorer(values), contest))
        check_scorer(scorer, n_users=users, n_items=items)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_score_that_is_not_finite_is_refused_in_the_same_words(bad: float) -> None:
    rng = np.random.default_rng(4)
    split, both = split_of(rng), models(rng, torch.float32)
    both[0].scores = both[0].scores.detach()
    messages = []
    for model in both:
        model.scores[7, 9] = bad
        contest = prepare_contest({"model": model}, split)
        with pytest.raises(DataError, match="scores must be finite") as error:
            rank(model, contest)
        messages.append(str(error.value))
    assert messages[0] == messages[1]


def test_a_tensor_of_another_shape_is_refused() -> None:
    split = split_of(np.random.default_rng(5))
    narrow = CallableScorer(lambda rows: torch.zeros((len(rows), 3)))
    contest = prepare_contest({"model": narrow}, split)
    with pytest.raises(DataError, match=r"model .* gave \(\d+, 3\) scores for \d+ users"):
        rank(narrow, contest)


def test_reports_and_lists_are_the_same_and_the_scores_are_not_changed() -> None:
    rng = np.random.default_rng(6)
    split, (tensor, array) = split_of(rng), models(rng, torch.float32)
    before = tensor.scores.detach().clone()

    def lists(model: Model) -> Any:
        return top_lists(model, split, 5).items.tolist()

    def report(model: Model) -> str:
        made = evaluate({"model": model}, split, metrics=["recall@5", "ndcg"], estimators=["aoa"])
        return made.to_json()

    makers: list[Callable[[Model], Any]] = [report, lambda model: str(lists(model))]
    for make in makers:
        assert make(tensor) == make(array)
    assert torch.equal(before, tensor.scores)
    assert tensor.scores.requires_grad


def test_a_model_that_computes_with_gradients_records_none() -> None:
    rng = np.random.default_rng(7)
    split = split_of(rng)
    embeddings = torch.nn.Embedding(len(split.user_vocabulary), 3)
    items = torch.nn.Parameter(torch.randn(3, len(split.item_vocabulary)))
    recorded = []

    def score(rows: Any) -> Any:
        scores = embeddings(torch.as_tensor(rows)) @ items
        recorded.append(scores.requires_grad)
        return scores

    contest = prepare_contest({"model": CallableScorer(score)}, split)
    rank(CallableScorer(score), contest)
    assert recorded
    assert not any(recorded)


def test_other_objects_are_not_tensors() -> None:
    assert tensor_counts.is_tensor(torch.nn.Parameter(torch.zeros(1)))
    assert not any(map(tensor_counts.is_tensor, (np.zeros(1), [1.0], None)))
