"""Models that were trained several times, as one model each."""

import json

import numpy as np
import pytest

from unskew import Interactions, Split, evaluate
from unskew.estimators import Terms, difference_of_means, influence_of, mean_of_replicates
from unskew.evaluation.estimating.seed_means import seed_groups
from unskew.ranking import MatrixScorer

WORDS = {"metrics": ["recall@3", "ndcg@3"], "estimators": ["aoa"]}
USERS, ITEMS = 40, 12


def report_of(names: list[str], **words):
    rng = np.random.default_rng(0)
    seen = rng.random((USERS, ITEMS)) < 0.3
    held = ~seen & (rng.random((USERS, ITEMS)) < 0.4)
    train, test = (Interactions.from_arrays(*np.nonzero(part), n_users=USERS, n_items=ITEMS) for part in (seen, held))
    models = {name: MatrixScorer(rng.random((USERS, ITEMS)) + 0.05 * k * held) for k, name in enumerate(names)}
    return evaluate(models, Split(train, test), **{**WORDS, **words})


def test_names_with_a_seed_are_grouped_and_others_are_not():
    names = ["als/seed0", "als/seed_1", "als/seed-two", "ease", "bpr/seed0", "x/seedless/seed1", "x/seedless/seed2"]
    assert seed_groups(names) == {
        "als": ("als/seed0", "als/seed_1", "als/seed-two"),
        "ease": ("ease",),
        "bpr/seed0": ("bpr/seed0",),
        "x/seedless": ("x/seedless/seed1", "x/seedless/seed2"),
    }
    taken = ["als", "als/seed0", "als/seed1"]  # an entry has the name already
    assert seed_groups(taken) == {name: (name,) for name in taken}


def test_the_mean_over_seeds_by_a_plain_loop():
    report = report_of(["a/seed0", "a/seed1", "a/seed2", "b"])
    row = next(row for row in report.seeds.estimates if (row.model, row.metric) == ("a", "recall@3"))
    values = [report.value(name, "recall@3", "aoa") for name in row.members]
    assert list(row.values) == values
    assert row.value == pytest.approx(np.mean(values))
    sample, metric = report.samples.judged, report.settings.metrics[0]
    means = np.stack([np.bincount(sample.user, sample.gains(name, metric)) for name in row.members])
    means = means / np.bincount(sample.user)
    m = means.shape[1]
    psi = (means - means.mean(axis=1, keepdims=True)) / m * np.sqrt(m / (m - 1))
    users = np.sum(psi.mean(axis=0) ** 2)
    covariance = psi @ psi.T
    within, shared = np.trace(covariance) / 3, (covariance.sum() - np.trace(covariance)) / 6
    seeds = max(0.0, np.var(values, ddof=1) - (within - shared)) / 3
    assert row.users_error == pytest.approx(np.sqrt(users))
    assert row.seeds_error == pytest.approx(np.sqrt(seeds), abs=1e-9)
    assert row.std_error == pytest.approx(np.sqrt(users + seeds))


def test_entries_become_models_in_comparisons_and_members_stay_in_the_report():
    names = [f"{model}/seed{k}" for model in "abcd" for k in range(3)]
    report = report_of(names)
    assert len(report.estimates) == 2 * 12
    assert len(report.seeds.estimates) == 2 * 4
    assert len(report.seeds.comparisons) == 2 * 6
    best = report.seeds.may_be_best["recall@3", "aoa"]
    assert best[0] == "d"
    record = json.loads(report.to_json())
    assert [row["model"] for row in record["seeds"]["estimates"]] == ["a", "b", "c", "d"] * 2
    assert len(record["estimates"]) == 24
    assert "Means over seeds" in str(report)


def test_a_model_alone_has_its_own_error_and_none_of_seeds():
    report = report_of(["a/seed0", "a/seed1", "b"])
    row = next(row for row in report.seeds.estimates if row.model == "b")
    estimate = report.estimate("b", "recall@3", "aoa")
    assert (row.value, row.seeds_error) == (estimate.value, None)
    assert row.std_error == pytest.approx(estimate.std_error)


def test_lower_is_better_for_losses():
    rng = np.random.default_rng(0)
    users, items = np.divmod(rng.permutation(200), 10)
    values = rng.integers(1, 6, 200).astype(float)
    parts = [
        Interactions.from_arrays(users[k], items[k], values[k], n_users=20, n_items=10)
        for k in (slice(0, 120), slice(120, 200))
    ]
    levels = {"low/seed0": 0.0, "low/seed1": 0.1, "mid/seed0": 3.0, "mid/seed1": 3.1}
    models = {name: MatrixScorer(np.full((20, 10), level), ratings=True) for name, level in levels.items()}
    report = evaluate(models, Split(*parts), metrics=["mae"], estimators=["aoa"])
    assert report.seeds.may_be_best["mae", "aoa"][0] == "mid"


def test_without_seeds_or_with_other_users_there_is_nothing():
    assert report_of(["a", "b"]).seeds is None
    assert "seeds" not in report_of(["a", "b/seed0"]).to_dict()
    assert report_of(["a/seed0", "a/seed1"], users="served").seeds is None


@pytest.mark.slow
@pytest.mark.parametrize("spread", [0.0, 0.02, 0.1])
def test_a_difference_of_seeds_is_found_at_about_the_stated_rate(spread):
    """Two equal models with 5 seeds each: a 95 % interval of their difference must fail in 2 to 8 % of draws."""
    rng, users, seeds, misses, draws = np.random.default_rng(2), 150, 5, 0, 3000
    for _ in range(draws):
        tastes = rng.normal(scale=0.3, size=users)
        means, influences = [], []
        for _ in range(2):
            terms = [
                Terms(level + tastes + rng.normal(scale=0.2, size=users), np.ones(users))
                for level in rng.normal(scale=spread, size=seeds)
            ]
            influences.append([influence_of(term) for term in terms])
            means.append(mean_of_replicates([term.value for term in terms], influences[-1]))
        low, high = difference_of_means(*means, tuple(influences)).bounds(0.95)
        misses += not low <= 0 <= high
    assert 0.02 <= misses / draws <= 0.08
