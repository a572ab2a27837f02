"""Which estimator is recommended, by hand-worked numbers."""

import pytest
from hand_worlds import audit_of, result

from unskew.audit.error.recommendation import recommend, relative_errors
from unskew.audit.showing import words


def errors(naive, pair, balanced, user):
    return {"aoa": naive, "snips": pair, "snips(per=balanced)": balanced, "snips(per=user)": user}


# over the value, which is 0.1 and 0.2: aoa 0.6 and 0.1, snips 0.9 and 0.5, balanced 0.1 and 0.35, user 0.3 and 0.4
POP = result("lda-pop", errors=errors(0.06, 0.09, 0.01, 0.03), level=0.1)
UNIF = result("lda-unif", errors=errors(0.02, 0.10, 0.07, 0.08), level=0.2)


def test_errors_are_relative_to_the_true_value_of_the_world():
    assert relative_errors(UNIF, "auc") == pytest.approx(errors(0.1, 0.5, 0.35, 0.4))
    assert "snips, true P" not in relative_errors(UNIF, "auc")


def test_the_smallest_worst_error_is_recommended():
    found = recommend([POP, UNIF], "auc")
    assert found.errors == pytest.approx(errors(0.6, 0.9, 0.35, 0.4))
    assert (found.estimator, found.as_good) == ("snips(per=balanced)", ())
    assert (found.worst, found.naive_worst) == pytest.approx((0.35, 0.6))
    assert (found.beats, found.worlds) == (1, 2)
    assert found.beats_by_kind == {"lda-pop": (1, 1), "lda-unif": (0, 1)}
    assert found.by_observation["popular"] == ("snips(per=balanced)", pytest.approx(0.1))
    assert found.by_observation["uniform"] == ("aoa", pytest.approx(0.1))


def test_it_is_said_with_what_it_does_not_do():
    text = " ".join(words.lead(audit_of(POP, UNIF)))
    assert (
        "On a log like yours, of the naive average and the forms of snips, use snips(per=balanced) for auc: its worst "
        "error over the 2 accepted worlds is 35 % of the value, that of the naive average is 60 %. It beats the naive "
        "average in 1 of 2 accepted worlds (1 of 1 in lda-pop, 0 of 1 in lda-unif)."
    ) in text
    popular, naive = "consumed the popular items first", "consumed any of what they like"
    first = words.USE_IF.format(estimator="snips(per=balanced)", consumed=popular, worst="10 %")
    second = words.USE_IF.format(estimator="aoa", consumed=naive, worst="10 %")
    assert words.IF_KNOWN.format(estimators=f"{first} and {second}") in text


def test_estimators_within_a_tenth_are_as_good():
    found = recommend([result(errors=errors(0.06, 0.09, 0.030, 0.032))], "auc")
    assert (found.estimator, found.as_good) == ("snips(per=balanced)", ("snips(per=user)",))
    text = " ".join(words.lead(audit_of(result(errors=errors(0.06, 0.09, 0.030, 0.032)))))
    assert words.OR_AS_GOOD.format(estimator="snips(per=balanced)", others="snips(per=user)") in text


def test_the_naive_average_is_recommended_where_no_correction_is_better():
    found = audit_of(UNIF, UNIF)
    assert found.recommended[0].estimator == "aoa"
    second = words.SECOND_BEST.format(worst="35 %", estimator="snips(per=balanced)")
    naive = {"estimator": "aoa", "metric": "auc", "worlds": "2 accepted worlds", "worst": "10 %"}
    assert words.USE_NAIVE.format(second=second, conditional="", **naive) in list(words.lead(found))


def test_one_accepted_world_does_not_choose_for_the_log():
    refused = result("ibp-pop", errors=errors(0.001, 5.0, 5.0, 5.0), why="it does not fit")
    for audit in (audit_of(POP), audit_of(POP, refused)):
        text = " ".join(words.lead(audit))
        assert "On a log like yours, of" not in text
        said = {"metric": "auc", "estimators": "snips(per=balanced)", "worst": "10 %", "naive": "60 %"}
        assert words.USE_ONE_WORLD.format(**said) in text


def test_refused_worlds_are_not_asked():
    refused = result("ibp-pop", errors=errors(0.001, 5.0, 5.0, 5.0), why="it does not fit")
    assert recommend([POP, UNIF, refused], "auc") == recommend([POP, UNIF], "auc")
    assert recommend([refused], "auc") is None
    assert recommend([POP], "recall@10") is None
