"""Which worlds are refused, why, and that it is shown."""

import json

import pytest
from hand_worlds import audit_of, likened, result

from unskew import audit
from unskew.audit.error import error_audit
from unskew.audit.error.error_audit import NONE_ACCEPTED
from unskew.audit.error.matched_world import GIVEN, STATISTIC_OFF, TOO_FAR, below_chance, misfits, unlike
from unskew.audit.showing.text import as_text
from unskew.audit.showing.words import ACCEPTED, lead, refusals
from unskew.data import Interactions
from unskew.simulators import Ibp, Lda


def test_a_statistic_may_be_one_nat_above_what_two_logs_of_the_world_are_from_each_other():
    assert unlike(likened(off=1.09, floor=0.1)) == ""
    assert unlike(likened(off=0.9, floor=0.8)) == ""
    off = {"statistic": "user-user", "nats": 2.5, "excess": 2.4, "most": 1}
    assert unlike(likened(user_user=2.5, floor=0.1)) == STATISTIC_OFF.format(**off)


def test_a_world_more_than_twice_as_far_off_as_the_best_is_refused():
    """Mean relative divergences 0.10, 0.19 and 0.21: the limit is 0.20."""
    first, second, third = misfits([likened(loss=-0.9), likened(loss=-0.81), likened(loss=-0.79)])
    assert (first, second) == ("", "")
    assert third == TOO_FAR.format(loss=-79, ratio=2)


def test_a_world_that_is_refused_for_a_statistic_is_not_the_best_one():
    """It would be at 0.05, and 0.15 more than twice as far off."""
    assert misfits([likened(loss=-0.95, user_user=3.0), likened(loss=-0.85)])[1] == ""


def test_a_world_that_was_given_is_not_refused():
    assert misfits([likened(how=GIVEN, off=5.0)]) == [""]


@pytest.mark.parametrize(("auc", "refused"), [(0.39, True), (0.499, True), (0.5, False), (0.9, False), (None, False)])
def test_a_perfect_recommender_below_chance_is_refused(auc, refused):
    assert bool(below_chance(auc)) is refused


def test_the_perfect_recommender_is_below_chance_where_most_likes_are_cold(monkeypatch):
    """Users like 600 of 4,000 items and consume five of them: hardly an item is in training twice."""
    monkeypatch.setattr(error_audit, "misfits", lambda worlds: [""] * len(worlds))
    world = Lda(users=40, items=4000, topics=5, likes=600, alpha=1, beta=1, sizes="pareto(scale=5, shape=9, upper=6)")
    drawn = world.draw(0)
    assert (drawn.train.item_counts[drawn.items] == 0).mean() > 0.5
    log = Ibp(users=60, alpha=20, c=1, sigma=0.2, sizes="pareto(scale=6, shape=1, upper=40)").log(5)
    given = audit(log, depth="quick", world=str(world), runs=2, metrics=["recall@10"])
    (found,) = given.error.worlds
    assert found.auc < 0.5
    assert found.accepted  # given, so warned of instead
    assert any("below chance" in warning for warning in given.warnings)
    assert {row.metric for row in found.pairs} == {"recall@10"}  # the AUC is for the rule alone


def test_refused_worlds_do_not_count_and_are_shown():
    found = audit_of(result("ibp-pop", wrong=0.0), result("lda-pop", wrong=1.0, why="user-user is 2.50 nats off"))
    assert [row.wrong_winner for row in found.reference] == [0.0] * 5
    assert found.runs == 10
    assert list(refusals(found)) == ["lda-pop 1 refused: user-user is 2.50 nats off"]
    assert next(iter(lead(found))) == ACCEPTED.format(accepted=1, worlds="2 worlds", kinds="2 kinds")
    shown = found.to_dict()["worlds"]
    assert [(each["accepted"], each["why"]) for each in shown] == [(True, ""), (False, "user-user is 2.50 nats off")]
    assert shown[1]["pairs"][0]["wrong_winner"] == 1.0  # what was found there is kept


@pytest.fixture(scope="module")
def ten_each():
    """A log in which all users have ten rows, as those of lastfm-hetrec2011 have fifty."""
    users, items = [], []
    likes = Ibp(users=80, alpha=40, c=1, sigma=0.3, sizes="pareto(scale=30, shape=9, upper=40)").log(1)
    for user in range(80):
        own = likes.items[likes.users == user][:10]
        users += [user] * len(own)
        items += own.tolist()
    return Interactions.from_arrays(users, items)


def test_where_no_world_is_accepted_nothing_is_claimed(ten_each):
    found = audit(ten_each, depth="quick", evaluations=6, runs=2, metrics=["auc"])
    error = found.error
    assert error.accepted == []
    (warning,) = [text for text in found.warnings if "nothing is claimed" in text]
    nearest = next(world for world in error.worlds if world.likened is error.likened)
    assert warning == NONE_ACCEPTED.format(n=len(error.worlds), world=error.likened.name, why=nearest.why)
    assert "(at most 1 is accepted)" in warning
    text = as_text(found)
    assert "Nothing is claimed: none of the" in text
    assert "seems better" not in text
    assert "On a log like yours" not in text
    assert text.count("refused: ") == len(error.worlds)
    data = json.loads(found.to_json())["audit"]["error"]
    assert (data["values"], data["pairs"], data["recommended"], data["runs"]) == ([], [], [], 0)
    page = found.to_html()
    assert "Nothing is claimed" in page
    assert page.count("refused: ") == len(error.worlds)
