"""Labels, what a model can know, and the weights of naive Bayes."""

import numpy as np
import pytest

from unskew.data import Interactions, Split
from unskew.errors import DataError
from unskew.models.debiased import labelled
from unskew.models.debiased.labelled import Labelled


def rows(users, items, labels, name="train.csv"):
    return Interactions.from_arrays(users, items, labels, n_users=4, n_items=3, name=name)


TRAIN = rows([0, 0, 1, 3, 3], [0, 2, 1, 0, 1], [1, 0, 0, 1, 0])


def test_labels_become_one_minus_one_and_zero():
    known = Labelled.of(TRAIN, "bias", both=True)
    # user 2 has no row and is unknown
    assert known.matrix().tolist() == [[1, 0, -1], [0, -1, 0], [1, -1, 0]]
    assert known.user_ids.tolist() == [0, 1, 3]
    assert known.item_ids.tolist() == [0, 1, 2]
    assert known.shape == (3, 3)


def test_without_values_every_row_is_a_positive():
    train = Interactions.from_arrays([0, 1], [0, 1])
    known = Labelled.of(train, "negs", both=False)
    assert known.matrix().tolist() == [[1, 0], [0, 1]]


def test_rows_of_users_and_items_outside_training_are_left_out():
    train = Interactions.from_arrays(["a", "b"], ["x", "y"], [1, 0])
    other = Interactions.from_arrays(["a", "new", "b", "b"], ["y", "x", "later", "x"], [1, 1, 0, 0])
    split = Split(train=train, test=other)
    known = Labelled.of(split.train, "bias", both=True)
    part = known.part(split.test, "bias")
    assert known.user_ids[part.users].tolist() == ["a", "b"]
    assert known.item_ids[part.items].tolist() == ["y", "x"]
    assert part.labels.tolist() == [1, -1]


def test_inverse_propensities_are_those_of_naive_bayes():
    known = Labelled.of(TRAIN, "ips", both=True)
    uniform = known.part(rows([0, 0, 1, 3], [1, 2, 0, 2], [0, 0, 1, 0], "uniform.csv"), "ips")
    # P(O) = 5/9; P(y=1 | O) = 2/5, P(y=1) = 1/4: P(O | y=1) = (2/5) (5/9) / (1/4) = 8/9
    # P(y=0 | O) = 3/5, P(y=0) = 3/4: P(O | y=0) = (3/5) (5/9) / (3/4) = 4/9
    negative, positive = known.inverse_propensities(uniform)
    assert positive == pytest.approx(9 / 8)
    assert negative == pytest.approx(9 / 4)


def test_the_order_of_rows_does_not_matter():
    shuffled = TRAIN.take(np.array([3, 1, 4, 0, 2]))
    first, second = Labelled.of(TRAIN, "bias", both=True).rows, Labelled.of(shuffled, "bias", both=True).rows
    assert first.users.tolist() == second.users.tolist()
    assert first.items.tolist() == second.items.tolist()
    assert first.labels.tolist() == second.labels.tolist()


@pytest.mark.parametrize(
    "labels, both, message",
    [
        ([1, 0, 3, 1, 5], True, r"train\.csv: label 3 in row 3 \(2 in all\); labels are 1 .* positive=.rating>=4"),
        ([1, 1, 1, 1, 1], True, r"train\.csv: bias learns from positives and negatives, .* use negs or autodebias"),
        ([0, 0, 0, 0, 0], False, r"train\.csv: bias needs positives, but all labels are 0"),
    ],
)
def test_labels_that_do_not_do_are_refused_with_a_hint(labels, both, message):
    with pytest.raises(DataError, match=message) as caught:
        Labelled.of(rows(TRAIN.users, TRAIN.items, labels), "bias", both=both)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("labels, counts", [([1, 1], "2 positives and 0"), ([0, 0], "0 positives and 2")])
def test_a_part_that_lacks_a_label_is_refused_with_its_counts(labels, counts):
    known = Labelled.of(TRAIN, "ips", both=True)
    with pytest.raises(DataError, match=rf"uniform\.csv: ips needs rows of both labels, .* {counts} negatives"):
        known.part(rows([0, 1], [1, 2], labels, "uniform.csv"), "ips")


def test_too_many_pairs_are_refused(monkeypatch):
    monkeypatch.setattr(labelled, "MOST", 8)
    with pytest.raises(DataError, match=r"uses all of 3 x 3 pairs.* sample of the users"):
        Labelled.of(TRAIN, "bias", both=True)
