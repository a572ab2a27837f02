"""``unskew list``."""

import json

import pytest

from unskew.cli.listing import FAMILIES
from unskew.data.sources import SOURCES
from unskew.metrics import parse_metric

SOME = {
    "metrics": ["recall@K", "adg[@K]", "auc(of=negatives)", "hits / all relevant"],
    "estimators": ["aoa", "ips", "snips", "pair|balanced|user"],
    "propensities": ["uniform", "popularity", "column", "gamma=0"],
    "models": ["popular", "random", "svd", "ease", "item-knn", "als"],
    "candidates": ["unseen", "all", "trained", "listed", "sampled"],
    "intervals": ["delta", "bootstrap"],
    "datasets": list(SOURCES),
    "worlds": ["marketplace", "ibp", "lda", "uniform", "alpha=50.0", "uniform|popular|preferred"],
    "profile-sizes": ["pareto", "beta-binomial", "shape=1.0"],
    "studies": ["schnabel2016/fig1"],
    "presets": ["yang2018"],
}


def test_every_family_is_tried_here():
    assert set(SOME) == set(FAMILIES)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_family_is_listed_with_its_words(unskew, family):
    outcome = unskew("list", family)
    assert (outcome.code, outcome.err) == (0, "")
    for word in SOME[family]:
        assert word in outcome.out


@pytest.mark.parametrize("family", FAMILIES)
def test_a_family_as_json_is_a_list_of_named_entries(unskew, family):
    outcome = unskew("list", family, "--json")
    rows = json.loads(outcome.out)
    singular = {"propensities": "propensity", "studies": "study"}.get(family, family.removesuffix("s"))
    assert all(next(iter(row)) == singular for row in rows)
    assert rows


def test_the_options_of_a_world_start_with_those_of_its_own(unskew):
    rows = {row["world"]: list(row["options"]) for row in json.loads(unskew("list", "worlds", "--json").out)}
    assert rows["ibp"][:4] == ["alpha", "c", "sigma", "users"]
    assert rows["lda"][:5] == ["items", "topics", "likes", "alpha", "beta"]


def test_every_listed_metric_can_be_parsed_and_says_what_it_is(unskew):
    for row in json.loads(unskew("list", "metrics", "--json").out):
        metric = parse_metric(row["metric"].replace("[@K]", "").replace("@K", "@10"))
        assert metric.kind == row["kind"]
        assert row["definition"]
        assert row["unbiased_to_missing"] is metric.unbiased_to_missing


def test_the_list_of_metrics_says_which_are_unbiased_to_missing_data(unskew):
    lines = unskew("list", "metrics").out.splitlines()
    (head,) = (line for line in lines if "unbiased to missing" in line)
    start = head.index("unbiased to missing")
    said = {line.split()[0]: line[start:].split()[0] for line in lines if " mean " in line or " list " in line}
    assert (said["adg[@K]"], said["recall@K"], said["ndcg[@K]"], said["mrr[@K]"]) == ("yes", "yes", "no", "no")


def test_the_definition_in_the_list_is_the_one_in_the_report(world, unskew):
    listed = {row["metric"]: row["definition"] for row in json.loads(unskew("list", "metrics", "--json").out)}
    report = json.loads(unskew(*world.evaluate("-m", "recall@10", "--json", "-")).out)
    assert report["estimates"][0]["definition"].startswith(listed["recall@K"])
