"""Names in trackers: accepted by MLflow, and with an inverse."""

import posixpath
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unskew.errors import ConfigError
from unskew.estimators import Estimator
from unskew.integrations.tracker_names import check_prefix, flat, from_tracker_name, spell, tracker_name, unspell
from unskew.metrics import list_metrics

METRICS = [entry.form.replace("[@K]", "@20").replace("@K", "@10") for entry in list_metrics()]
METRICS += ["recall(of=min)@10", "ndcg(discount=lenskit, ideal=all)@50", "my_package.metrics:Patience@3"]
ESTIMATORS = [member.word for member in Estimator.members()]
ESTIMATORS += ["snips(per=balanced)", "ure(aggregate=pooled, reduce=control)", "dm(q=scores(my folder/q_1.csv))"]


def accepted_by_mlflow(name: str) -> bool:
    """The rules of MLflow 3.17 on a system where a colon is not allowed."""
    plain = posixpath.normpath(name)
    return bool(re.fullmatch(r"[/\w.\- ]*", name)) and plain == name and not plain.startswith(("..", "/"))


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_every_word_comes_back_from_a_name_that_is_accepted(metric, estimator):
    name = tracker_name("als(factors=32)", metric, estimator, "std_error")
    assert accepted_by_mlflow(name)
    assert from_tracker_name(name) == ("als(factors=32)", metric, estimator, "std_error")


@given(st.text(), st.text(), st.text(), st.sampled_from(["value", "low", "high", "std_error"]))
def test_any_text_comes_back(model, metric, estimator, number):
    name = tracker_name(model, metric, estimator, number)
    assert accepted_by_mlflow(name)
    assert from_tracker_name(f"offline/{name}", "offline/") == (model, metric, estimator, number)


@given(st.text(), st.text())
def test_two_texts_are_never_spelled_the_same(a, b):
    assert (spell(a) == spell(b)) == (a == b)
    assert unspell(spell(a)) == a


@given(st.text(alphabet="_@()=, xatiswhed0123/.", max_size=12))
def test_texts_that_look_spelled_come_back(text):
    assert unspell(spell(text)) == text


def test_names_by_hand():
    assert tracker_name("als/seed0", "recall@10", "snips") == "als/seed0/recall_at_10/snips/value"
    assert tracker_name("a/../b", "auc", "aoa", "low") == "a/_x2e__x2e_/b/auc/aoa/low"
    assert tracker_name("my model", "auc", "aoa") == "my_x20_model/auc/aoa/value"


@pytest.mark.parametrize("name", ["auc", "a/b/c", "als/recall@10/aoa/value", "als/auc/aoa/a(b)", "als/a_b/aoa/value"])
def test_other_names_are_refused(name):
    with pytest.raises(ConfigError):
        from_tracker_name(name)


def test_a_name_without_the_prefix_is_refused():
    with pytest.raises(ConfigError, match="is not the name of an estimate"):
        from_tracker_name("als/auc/aoa/value", "offline/")


def test_a_number_is_a_field():
    with pytest.raises(ConfigError, match="is not the name of a number"):
        tracker_name("a", "auc", "aoa", "p (Holm)")


@pytest.mark.parametrize("prefix", ["/a", "a//b", "../", "a@b/", "a/./b"])
def test_prefixes_that_trackers_refuse_are_refused(prefix):
    with pytest.raises(ConfigError, match="as in 'offline/'"):
        check_prefix(prefix)


def test_settings_are_flat_and_named_for_trackers():
    given = {"block_size": 8, "models": {"a (b)": "als"}, "exposed": None, "metrics": ["auc", "mrr"]}
    assert flat(given) == {"block_size": "8", "models/a_x20__with_b_end_": "als", "metrics": "auc, mrr"}
