"""Figures 1, 3 and 5 and the aggregates on a tiny world, with noisy labels as models (Wang et al. 2024)."""

from dataclasses import replace

import numpy as np
import pytest
from made_wang2024 import noisy_truth, tiny_log
from scipy import stats

from unskew.studies import Context, get_study
from unskew.studies.framework.stats import kendall
from unskew.studies.wang2024 import aggregates, fig1, fig3, fig5, full_recall
from unskew.studies.wang2024.fast_ure import FORMS, MEAN, estimates
from unskew.studies.wang2024.fig1 import correlations, cut_offs, matched, pearson
from unskew.studies.wang2024.fig3 import Peak, greatest
from unskew.studies.wang2024.fig5 import Agreement
from unskew.studies.wang2024.full_recall import apart
from unskew.studies.wang2024.resampling import mean_correlation, resampled, rises, sure

SMALL = Context(fast=True, trials=3)


@pytest.fixture(scope="module")
def truth():
    return noisy_truth(tiny_log(60, 200), 0.1, 0.3, 0.5, 0.8, 1.2, 2.0, 4.0, 9.0, seed=0)


@pytest.mark.parametrize("table", [fig1, fig3, fig5, aggregates], ids=lambda table: table.TABLE.name)
def test_each_table_comes_with_numbers_figures_and_claims_that_need_the_full_run(truth, table):
    findings = table.run(SMALL, [truth])
    assert all(cell.ours is not None and np.isfinite(cell.ours) for cell in findings.cells)
    assert findings.cells
    assert findings.figures
    assert any(note.startswith("tiny: Made for a test.") for note in findings.notes)
    assert findings.claims
    assert all(claim.evidence and claim.needs_full for claim in findings.claims)


def test_in_full_the_claims_are_judged(truth):
    context = Context(trials=3, sizes={fig3.SIZES: (10, 20)})
    assert any(isinstance(claim.holds, bool) for table in (fig1, fig3) for claim in table.run(context, [truth]).claims)
    for table in (fig5, aggregates):  # some ask for a poor order or a clear bias, which need not be there
        claims = table.run(context, [truth]).claims
        assert sum(isinstance(claim.holds, bool) for claim in claims) >= len(claims) - 3


def test_the_study_is_in_the_registry():
    names = [table.name for table in get_study("wang2024").tables]
    assert names == ["fig1", "fig3", "table3", "table4", "fig5", "aggregates", "experiments"]


def test_draws_are_made_once_per_run(truth):
    run = Context(fast=True, trials=3)
    assert full_recall.inner_recall(run, truth, 10) is full_recall.inner_recall(run, truth, 10)
    assert estimates(run, truth, 10) is estimates(run, truth, 10)


def test_the_matched_cut_off_is_that_of_theorem_1(truth):
    assert matched(truth, 5, 80) == round(5 * truth.log.population.mean() / 80)


def test_cut_offs_are_whole_and_reach_both_ends():
    ks = cut_offs(500)
    assert (ks[0], ks[-1]) == (1, 500)
    assert ks == sorted(set(ks))


def test_correlations_are_those_of_scipy():
    rng = np.random.default_rng(0)
    first, second = rng.integers(0, 5, (4, 9)).astype(float), rng.integers(0, 5, (3, 9)).astype(float)
    for a, values in zip(first, kendall(first, second), strict=True):
        assert values == pytest.approx([stats.kendalltau(a, b).statistic for b in second])
    for a, values in zip(first, pearson(first, second), strict=True):
        assert values == pytest.approx([np.corrcoef(a, b)[0, 1] for b in second])
    assert np.isnan(pearson(np.ones((1, 4)), np.arange(4.0)[None])).all()


def test_recall_that_is_full_recall_has_a_correlation_of_one(truth):
    curves = correlations(np.repeat(truth.macro[[4]], 3, axis=0), truth)
    assert curves["Pearson"][:, 4] == pytest.approx([1.0] * 3)
    assert curves["Kendall"][:, 4] == pytest.approx([1.0] * 3)


def test_peaks_are_where_the_mean_is_greatest():
    assert greatest(np.array([[0.1, 0.5, 0.2], [0.3, 0.1, 0.3]])) == pytest.approx([2.0, 3**0.5])
    taus = np.array([[0.0, 1.0, 0.2], [0.2, 0.6, 0.4]])
    peak = Peak.of(5, 10, 2, taus, np.array([[0.0, 1.0, 0.2], [0.1, 0.8, 0.3]]))
    assert peak.at == pytest.approx(2.0)
    assert peak.near
    assert not Peak.of(5, 10, 1, np.roll(taus, 1, axis=1), taus).near
    assert peak.ends == pytest.approx((2.0, 2.0))
    assert peak.height.value == pytest.approx(0.8)
    assert peak.at_predicted.value == pytest.approx(0.8)
    assert peak.places == pytest.approx([2.0, 2.0])
    assert peak.again["height"] == pytest.approx([1.0, 0.8])


def test_a_rise_is_sure_when_resamples_say_so():
    low, high = np.full(100, 10.0), np.full(100, 20.0)
    assert rises([low, high])
    assert rises([high, low]) is False
    assert rises([low, high, low + 1e-9, low, high]) is False


def test_what_depends_on_the_resample_is_left_open():
    holds = np.arange(1000) < 975
    assert sure(holds) is True
    assert sure(~holds) is False
    assert sure(np.arange(1000) < 974) is None
    low, high = np.full(100, 10.0), np.full(100, 20.0)
    assert rises([low, np.where(np.arange(100) < 90, 20.0, 5.0)]) is None
    assert rises([low, high, np.where(np.arange(100) < 90, 15.0, 25.0)]) is True  # a step that may fall


@pytest.mark.parametrize("kind", ["Pearson", "Kendall"])
def test_weights_are_repetitions_of_models_and_draws(kind):
    rng = np.random.default_rng(1)
    inner, macro = rng.integers(0, 6, (4, 6)).astype(float), rng.integers(0, 6, (5, 6)).astype(float)
    variants, draws = np.array([2, 0, 1, 1, 1, 1]), np.array([1, 0, 2, 1])
    models, rows = np.repeat(np.arange(6), variants), np.repeat(np.arange(4), draws)
    correlate = {"Pearson": pearson, "Kendall": kendall}[kind]
    slow = np.nan_to_num(correlate(inner[rows][:, models], macro[:, models])).mean(axis=0)
    fast = mean_correlation(inner, macro, kind, variants.astype(float), draws / draws.sum())
    assert fast == pytest.approx(slow)
    constant = mean_correlation(np.ones((4, 6)), macro, kind, np.ones(6), np.full(4, 0.25))
    assert constant == pytest.approx(np.zeros(5))


def test_resamples_are_those_of_the_seed_and_of_the_right_size(truth):
    inner = full_recall.inner_recall(SMALL, truth, 10)[:, :, 0]
    first, again = (resampled(Context(fast=True, trials=3), truth, inner, "Kendall") for _ in range(2))
    assert first.shape == (50, len(truth.macro))
    assert (first == again).all()


def test_variants_that_are_kept_are_apart_from_one_another():
    recall = {"a": 0.5, "b": 1.0, "c": 0.93, "d": 0.92, "e": 0.9, "f": 0.46}
    assert apart(recall, 0.08) == ["a", "b", "d", "f"]  # 0.92 of b, and a tie with 0.92 of a
    assert apart(dict.fromkeys("abc", 0.0), 0.08) == ["a", "b", "c"]  # none can be lower than 0


def test_claims_of_the_paper_name_their_figure_on_its_data_and_the_others_are_ours(truth):
    tables = (fig1, fig3, fig5, aggregates)
    ours = {claim.section for table in tables for claim in table.run(SMALL, [truth]).claims}
    assert ours == {""}  # this world is not the paper's
    world = replace(truth.log.world, differs="the order of the videos")
    published = replace(truth, log=replace(truth.log, world=world))
    again = replace(SMALL, _kept={})
    of_paper = {table: [claim.section for claim in table.run(again, [published]).claims] for table in tables}
    assert of_paper[fig1] == ["Fig. 1"] * 3
    assert of_paper[fig3] == ["Fig. 3a, 3b", "Fig. 3a", "Fig. 3b", "Fig. 3c", ""]
    assert of_paper[fig5] == ["Fig. 5"] * 3 + [""] * 5
    assert set(of_paper[aggregates]) == {""}


def test_without_the_paper_s_data_a_figure_says_what_its_folder_has(truth, tmp_path):
    (tmp_path / "kuairec").mkdir()
    (tmp_path / "kuairec" / "random.txt").write_text("1 2")
    findings = fig1.run(Context(fast=True, trials=3, folder=tmp_path), [truth])
    said = "kuairec is not here (the folder has random.txt, which is another form); expected: small_matrix.csv or"
    assert said in findings.notes[0]


def test_the_sentence_about_figure_1_holds_where_it_is_true_and_fails_elsewhere(truth):
    draws = np.zeros((2, len(truth.macro)))
    draws[:, 9:] = 0.95
    for low, high in ((True, True), (False, True), (True, False)):
        values = draws.copy()
        values[:, 3] = 0.0 if low else 0.7
        values[:, 105] = 0.95 if high else 0.8
        curves = {"Pearson": values, "Kendall": values}
        claims = list(fig1._claims(truth, curves, curves))
        assert [claims[0].holds, claims[1].holds] == [low, high]


def test_an_estimate_that_is_the_truth_agrees_and_peaks_at_its_own_cut_off(truth):
    numbers = estimates(Context(fast=True, trials=3), truth)
    numbers.recall[MEAN][:] = np.stack([truth.macro[k - 1] for k in numbers.ks], axis=1)
    each = Agreement.of(numbers, np.zeros((3, 8, 8)))
    assert each.tau[MEAN, 5] == pytest.approx([1.0] * 3)
    assert each.medians[MEAN, 5][4] == pytest.approx(1.0)
    agreeing = np.flatnonzero(each.medians[MEAN, 5] > 1 - 1e-9) + 1  # all draws are equal here
    assert each.peaks[MEAN, 5] == pytest.approx(np.exp(np.log(agreeing).mean()))
    assert each.ks == tuple(k for k in fig5.KS if k < truth.shortest)
    assert {column for column, _ in each.tau} == {*fig5.INSIDE, *FORMS}
