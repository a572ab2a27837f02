import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unskew.errors import ConfigError
from unskew.metrics import ADG, NDCG, Metric, Recall, list_metrics, parse_metric
from unskew.testing.worlds.scored_users import all_words


@given(
    discount=st.sampled_from(["standard", "lenskit"]),
    ideal=st.sampled_from(["cut", "all"]),
    k=st.none() | st.integers(1, 10**6),
    blanks=st.sampled_from(["", " ", "  "]),
)
def test_words_come_back_from_any_way_of_writing_them(discount, ideal, k, blanks):
    metric = NDCG(discount=discount, ideal=ideal)
    metric = metric if k is None else metric @ k
    assert parse_metric(str(metric)) == metric
    at = "" if k is None else f"@{k}"
    assert parse_metric(f"ndcg({blanks}ideal={ideal},{blanks}discount={discount}{blanks}){at}") == metric


def test_defaults_are_not_printed_and_order_is_fixed():
    word = "ndcg(discount=lenskit, ideal=all)@50"
    assert str(parse_metric(word)) == word
    assert str(parse_metric("ndcg(ideal=all,discount=lenskit) @ 50")) == word
    assert str(parse_metric("ndcg(discount=standard)@5")) == "ndcg@5"
    assert str(parse_metric("precision(of=list)@5")) == "precision(of=list)@5"
    assert str(parse_metric("auc( literal )")) == "auc(literal)"


def test_words_that_share_a_name_have_their_own_kind():
    assert parse_metric("auc").kind == "mean"
    assert parse_metric("auc(of=negatives)").kind == "list"
    assert parse_metric("recall@3").kind == "mean"
    assert parse_metric("recall(of=min)@3").kind == "list"
    assert parse_metric("dcg@3").kind == "sum"
    assert parse_metric("dcg(gain=value)@3").kind == "graded"
    assert parse_metric("precision(of=list)@3").kind == "sum"
    assert parse_metric("precision(gain=value, of=list)@3").kind == "graded"


@pytest.mark.parametrize(
    "word, message",
    [
        ("recall", "recall needs a cut-off, as in recall@10"),
        ("precision(of=list)", r"precision\(of=list\) needs a cut-off"),
        ("recall(of=min)", r"as in recall\(of=min\)@10"),
        ("auc@5", "auc has no cut-off; leave out @5"),
        ("auc(of=negatives)@5", "has no cut-off"),
        ("atop@5", "has no cut-off"),
        ("mae@5", "mae has no cut-off; leave out @5"),
        ("accuracy(rounded)@5", r"accuracy\(rounded\) has no cut-off"),
        ("cg", "cg needs a cut-off, as in cg@10"),
        ("precision(gain=value)", r"as in precision\(gain=value\)@10"),
        ("dcg(gain=values)@5", "gain=value"),
        ("mae(rounded)", "has no argument 'rounded'"),
        ("unskew.metrics:RatingLoss", "abstract"),
        ("recal@5", "did you mean 'recall'"),
        ("recall@0", "at least 1"),
        ("recall@ten", "cut-off is written @10"),
        ("ndcg(discount=log)@5", "choose from standard, lenskit"),
        ("ndcg(discont=lenskit)@5", "did you mean 'discount'"),
        ("ndcg(k=3)", "no option 'k'"),
        ("recall(of=mni)@5", "of=min"),
        ("unskew.metrics:Nothing", "cannot load"),
        ("unskew.metrics:UserLists", "is not a metric"),
        ("unskew.metrics:Metric", "abstract"),
        ("unskew.metrics:MetricWord", "not a metric"),
        ("unskew.metrics:AtK", "needs metric"),
    ],
)
def test_words_that_mean_nothing_are_refused_with_a_hint(word, message):
    with pytest.raises(ConfigError, match=message):
        parse_metric(word)


def test_a_metric_is_returned_as_it_is_but_checked():
    metric = ADG() @ 5
    assert parse_metric(metric) is metric
    with pytest.raises(ConfigError, match="needs a cut-off"):
        parse_metric(Recall())


def test_a_class_of_ones_own_works_by_its_path(tmp_path, monkeypatch):
    source = (
        "from dataclasses import dataclass\n"
        "from unskew.metrics import Metric\n"
        "@dataclass(frozen=True)\n"
        "class Rbp(Metric):\n"
        "    '''Rank-biased precision.'''\n"
        "    p: float = 0.8\n"
        "    def gain(self, above, candidates):\n"
        "        return (1 - self.p) * self.p ** above\n"
        "class Bare(Metric):\n"
        "    def gain(self, above, candidates):\n"
        "        return above * 0.0\n"
    )
    (tmp_path / "my_own_metrics.py").write_text(source)
    monkeypatch.syspath_prepend(str(tmp_path))
    for word in ("my_own_metrics:Rbp(p=0.5)@3", "my_own_metrics:Rbp", "my_own_metrics:Bare@2"):
        metric = parse_metric(word)
        assert isinstance(metric, Metric)
        assert str(metric) == word
    assert parse_metric("my_own_metrics:Rbp").definition == "Rank-biased precision."
    sys.modules.pop("my_own_metrics")


def test_the_list_names_every_metric_with_kind_definition_and_options():
    entries = {entry.form: entry for entry in list_metrics()}
    assert set(entries) == {
        "adg[@K]", "atop", "auc", "auc(of=negatives)", "dcg[@K]", "hit@K", "map[@K]", "mrr[@K]", "ndcg[@K]",
        "precision@K", "recall@K", "recall(of=min)@K", "mae", "mse", "rmse", "accuracy", "cg@K", "dcg(gain=value)[@K]",
        "precision(gain=value)@K", "coverage@K", "gini@K", "novelty@K", "popularity@K", "head@K", "psp@K", "psndcg@K",
    }  # fmt: skip
    assert entries["recall@K"].definition == "hits / all relevant"
    assert entries["precision@K"].definition == "hits / K"
    assert entries["dcg[@K]"].kind == "sum"
    assert entries["ndcg[@K]"].options == {"discount": "standard | lenskit", "ideal": "cut | all"}
    assert entries["auc"].options == {"literal": "a flag"}
    assert {entry.form for entry in entries.values() if entry.kind == "loss"} == {"mae", "mse", "rmse", "accuracy"}
    assert entries["mae"].definition == "mean of |rating - prediction|"
    assert entries["accuracy"].options == {"rounded": "a flag"}
    assert entries["cg@K"].kind == entries["dcg(gain=value)[@K]"].kind == "graded"
    assert entries["cg@K"].definition == "mean rating of the top K"
    assert entries["precision(gain=value)@K"].options == {"of": "cutoff | list"}


def test_no_two_words_have_one_definition_and_kind():
    seen: dict[tuple[str, str], str] = {}
    for word in all_words((10,)):
        metric = parse_metric(word)
        form, at, _ = word.partition("@")
        if not at and form in {"map(of=min)", "ndcg(ideal=all)", "ndcg(discount=lenskit, ideal=all)"}:
            continue  # the same without a cut-off
        if word.startswith("recall@"):
            assert metric.definition == "hits / all relevant"
        assert seen.setdefault((metric.definition, metric.kind), word) == word
