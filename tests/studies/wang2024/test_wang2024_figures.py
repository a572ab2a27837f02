"""Figures 1, 3 and 5 and the aggregates on a tiny world, with stand-ins for the variants (Wang et al. 2024)."""

import numpy as np
import pytest
from made_wang2024 import tiny_log

from unskew.studies import Context, get_study
from unskew.studies.framework.stats import Mean
from unskew.studies.wang2024 import aggregates, correlations, fig1, fig3, fig5
from unskew.studies.wang2024.correlations import Truth, truths
from unskew.studies.wang2024.fig1 import Curves, cut_offs, matched
from unskew.studies.wang2024.fig3 import Peak, _greatest
from unskew.studies.wang2024.fig3_words import _grow, _sure
from unskew.studies.wang2024.fig5 import Agreement
from unskew.studies.wang2024.rankings import places
from unskew.studies.wang2024.strata import FORMS, MEAN
from unskew.studies.wang2024.variants import VARIANTS, told, variant_models


@pytest.fixture
def tiny(monkeypatch):
    """One tiny world; models are its labels with more and more noise."""
    log = tiny_log(60, 200)
    rng = np.random.default_rng(0)
    labels = log.world.labels.astype(float)
    ranks = {
        f"noise {size:g}": places(labels + rng.normal(0, size, labels.shape), log.held)
        for size in (0.1, 0.3, 0.5, 0.8, 1.2, 2.0, 4.0, 9.0)
    }
    monkeypatch.setattr(correlations, "logs", lambda context: [log])
    monkeypatch.setattr(correlations, "variant_ranks", lambda context, log: ranks)
    return Context(fast=True, trials=3)


@pytest.mark.parametrize("table", [fig1.TABLE, fig3.TABLE, fig5.TABLE, aggregates.TABLE], ids=lambda table: table.name)
def test_each_table_comes_with_numbers_figures_and_claims_that_a_small_run_does_not_judge(tiny, table):
    findings = table.run(tiny)
    assert all(cell.ours is not None and np.isfinite(cell.ours) for cell in findings.cells)
    assert findings.cells
    assert findings.figures
    assert findings.notes[0] == "Made for a test."
    assert findings.claims
    assert {claim.holds for claim in findings.claims} == {None}
    assert all(claim.evidence for claim in findings.claims)


def test_in_full_the_claims_are_judged(tiny, monkeypatch):
    monkeypatch.setattr(fig3, "SIZES", (10, 20))
    context = Context(trials=3)
    for table in (fig1.TABLE, fig3.TABLE):
        assert all(isinstance(claim.holds, bool) for claim in table.run(context).claims)
    for table in (fig5.TABLE, aggregates.TABLE):  # some ask for a poor order or a clear bias, which need not be there
        claims = table.run(context).claims
        assert sum(isinstance(claim.holds, bool) for claim in claims) >= len(claims) - 3


def test_the_study_is_in_the_registry():
    names = [table.name for table in get_study("wang2024").tables]
    assert {"fig1", "fig3", "fig5", "aggregates"} <= set(names)


def test_draws_are_made_once_a_run(tiny):
    (truth,) = truths(tiny)
    assert truths(tiny)[0] is truth
    assert correlations.inner_recall(tiny, truth, 10) is correlations.inner_recall(tiny, truth, 10)


def test_variants_are_many_differ_and_come_again_by_the_seed():
    models = variant_models(Context())
    assert len(models) == VARIANTS >= 20
    assert len({str(model) for model in models.values()}) > 20
    assert models == variant_models(Context())
    assert all(model.epochs <= 40 for model in models.values())
    assert f"{VARIANTS} variants of AutoDebias" in told(Context())


def test_the_matched_cut_off_is_that_of_theorem_1(tiny):
    (truth,) = truths(tiny)
    assert matched(truth, 5, 80) == round(5 * truth.log.population.mean() / 80)


def test_cut_offs_are_whole_and_reach_both_ends():
    found = cut_offs(500)
    assert (found[0], found[-1]) == (1, 500)
    assert found == sorted(set(found))


def test_a_perfect_stand_in_for_full_recall_has_a_correlation_of_one(tiny):
    (truth,) = truths(tiny)
    curves = Curves(truth, np.repeat(truth.macro[[4]], 3, axis=0))
    assert curves.pearson[:, 4] == pytest.approx([1.0] * 3)
    assert curves.kendall[:, 4] == pytest.approx([1.0] * 3)


def test_peaks_are_where_the_mean_is_greatest():
    assert _greatest(np.array([[0.1, 0.5, 0.2], [0.3, 0.1, 0.3]])) == pytest.approx([2.0, 3**0.5])
    taus = np.array([[0.0, 1.0, 0.2], [0.2, 0.6, 0.4]])
    peak = Peak(5, 10, 2, taus, np.array([[1.0, 0.0], [0.5, 0.5]]))
    assert peak.at == pytest.approx(2.0)
    assert peak.ratio == pytest.approx(1.0)
    assert peak.height.value == pytest.approx(0.8)
    assert peak.foretold.value == pytest.approx(0.8)
    assert peak.places == pytest.approx([2.0, 2.0])


def test_a_rise_is_sure_when_resamples_say_so():
    low, high = np.full(100, 10.0), np.full(100, 20.0)
    assert _sure([low, high])
    assert not _sure([high, low])
    assert not _sure([low, high, low + 1e-9, low, high])
    assert not _sure([low, np.where(np.arange(100) < 90, 20.0, 5.0)])


def test_growth_is_told_by_standard_errors():
    a, b, c = (Mean(value, 0.1, 0.01) for value in (0.5, 0.51, 0.9))
    assert _grow([a, b, c])
    assert _grow([b, a, c])
    assert not _grow([a, c, b])
    assert not _grow([a, b])


def test_an_estimate_that_is_the_truth_agrees_and_peaks_at_its_own_cut_off(tiny):
    (truth,) = truths(tiny)
    each = Agreement(fig5.estimates(tiny, truth), np.zeros((3, 8, 8)))
    exact = np.stack([truth.macro[k - 1] for k in each.mine.ks], axis=1)
    each.mine.recall[MEAN][:] = exact
    assert each.tau(MEAN, 5) == pytest.approx([1.0] * 3)
    curve = each.curve(MEAN, 5).mean(axis=0)
    assert curve[4] == pytest.approx(1.0)
    assert each.ks == tuple(k for k in fig5.KS if k < truth.shortest)
    assert set(each.mine.recall) == set(FORMS)


def test_recall_at_every_place_is_compared(tiny):
    (truth,) = truths(tiny)
    assert isinstance(truth, Truth)
    assert truth.shortest == truth.log.population.min()
