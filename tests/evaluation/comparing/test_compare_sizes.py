"""Two runs whose tests differ in how positives are spread over users, and the error of what sizes do not explain."""

from math import hypot

import numpy as np
import pytest
from compared_worlds import HELD_OUT, ITEMS, SCORES, USERS

from unskew import Interactions, Report, Split, compare, evaluate
from unskew.evaluation.comparing import notes
from unskew.metrics import expected_move
from unskew.ranking import MatrixScorer

METRICS = ("ndcg", "hit@5", "adg")


def judged(sizes: list[int]) -> Report:
    """The first positives of each user, as many as the sizes say."""
    rows = [(user, item) for user, size in enumerate(sizes) for item in HELD_OUT[user, :size]]
    train = Interactions.from_arrays(np.repeat(np.arange(USERS), 2), np.tile([0, 1], USERS), n_items=ITEMS)
    test = Interactions.from_arrays(*np.array(rows).T, n_users=USERS, n_items=ITEMS)
    return evaluate({"m": MatrixScorer(SCORES)}, Split(train, test), metrics=METRICS, estimators=["aoa"])


def test_the_same_mean_with_another_spread_moves_what_depends_on_it() -> None:
    """Half of the users with 4 and half with 2 positives, against 3 each."""
    uneven, even = judged([4, 2] * 4), judged([3] * USERS)
    rows = {row.metric: row for row in compare(uneven, even).rows}
    assert rows["adg"].expected == 0
    ranks = uneven.samples.judged.ranks["m"]
    move = expected_move("ndcg", ranks, sizes=np.full(USERS, 3))
    assert rows["ndcg"].expected == pytest.approx(uneven.value("m", "ndcg", "aoa") - move.after)
    assert rows["ndcg"].expected != 0
    sizes = notes.SPREAD_DIFFERS.format(sizes=notes.SIZES.format(before=3, after=3))
    assert any(sizes in note for note in compare(uneven, even).notes)
    assert {row.metric: row.expected for row in compare(even, judged([3] * USERS)).rows} == dict.fromkeys(METRICS, 0)


def test_the_error_of_the_rest_is_that_of_the_value_at_the_other_size() -> None:
    """From four positives before to two now: the earlier ranks say what two would give, with what error."""
    before, after = judged([4] * USERS), judged([2] * USERS)
    row = next(row for row in compare(after, before).rows if row.metric == "ndcg")
    move = expected_move("ndcg", before.samples.judged.ranks["m"], sizes=np.full(USERS, 2))
    assert row.expected == pytest.approx(move.after - before.value("m", "ndcg", "aoa"))
    error = np.std(move.per_user_after, ddof=1) / np.sqrt(USERS)
    own = after.estimate("m", "ndcg", "aoa").std_error
    assert row.high - row.rest == pytest.approx(1.959964 * hypot(error, own), rel=1e-6)
    assert error != pytest.approx(before.estimate("m", "ndcg", "aoa").std_error)  # which it is easily taken for
