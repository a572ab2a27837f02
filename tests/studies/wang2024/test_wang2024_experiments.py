"""Experiments on sentences of Wang et al. 2024: orders by hand, NegS after its last epoch, and what is left open."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from made_wang2024 import tiny_log, tiny_split

from unskew.studies import Context
from unskew.studies.framework.trials import Trials
from unskew.studies.wang2024 import experiments, table4
from unskew.studies.wang2024.experiments import NUMBER, ORDERS, PRIOR, SHARE, TRUE, one_orders
from unskew.studies.wang2024.full_recall import full_recall, inner_recalls, places
from unskew.studies.wang2024.hardness import RIVAL, _trapped, moves_up
from unskew.studies.wang2024.judge import DRAWS, JudgedWorld, draws_of, judge, judge_test
from unskew.studies.wang2024.models import ENTRIES, EPOCHS, LAST, SHARES, Entry, fits_of, last_epoch_negs
from unskew.studies.wang2024.printed import BACKBONES, TRADITIONAL, largest_drop
from unskew.studies.wang2024.random_tests import split_test
from unskew.studies.wang2024.worlds import labelled_pairs


def test_one_order_counts_positives_or_takes_their_share_of_the_rows():
    log = tiny_log()
    # item 3 has two rows, one positive; item 5 has one row, negative; the mean share is 1/3
    world = replace(log.world, labels=np.zeros_like(log.world.labels))
    world.labels[1, 3] = True
    train = labelled_pairs(world, np.array([0, 1, 0]), np.array([3, 3, 5]))
    orders = one_orders(replace(log.parts, train=train))
    assert list(orders) == [NUMBER, SHARE]
    assert orders[NUMBER][[3, 5, 7]].tolist() == [1, 0, 0]
    mean = 1 / 3
    shares = [(1 + PRIOR * mean) / (2 + PRIOR), PRIOR * mean / (1 + PRIOR), mean]
    assert orders[SHARE][[3, 5, 7]].tolist() == pytest.approx(shares)


@pytest.fixture(scope="module")
def context():
    pytest.importorskip("torch", reason="torch is not installed: pip install 'unskew[models]'")
    return Context(fast=True, sizes={EPOCHS: 1, DRAWS: 3, LAST: 2})


@pytest.fixture(scope="module")
def judged(context):
    world = judge(context, tiny_log(60, 120))
    return [world], [judge_test(context, split_test("coat", tiny_split(), np.random.default_rng(1)))]


def test_orders_are_judged_in_the_draws_of_the_tables(context, judged):
    (world,), _ = judged
    measured = experiments.measure(context, world)
    scores = world.log.world.labels.mean(axis=0)
    ranks = places(np.tile(scores, (60, 1)), world.log.held)
    inside = [inner_recalls(ranks, drawn, world.log, (5,))[0] for drawn in draws_of(context, world.log)]
    assert measured.inside[TRUE].tolist() == pytest.approx(inside)
    macro, _ = full_recall(ranks, world.log, world.both_ks)
    assert measured.full[TRUE].tolist() == pytest.approx(macro.tolist())
    assert measured.inside[SHARE].mean() > 0
    assert {len(values) for values in measured.inside.values()} == {3}


def test_models_without_validation_are_those_of_the_last_epoch(context):
    log, model = tiny_log(60, 120), last_epoch_negs(context, "MF", 0.5)
    assert (model.hardest, model.drawn, model.epochs) == (50, 100, 2)
    (fit,) = fits_of(context, log.parts, {"x": model}, validated=False).values()
    (watched,) = fits_of(context, log.parts, {"x": model}).values()
    assert (fit.best_epoch, fit.epochs, fit.auc) == (2, 2, 0.0)
    assert watched.auc > 0
    last = model.train(log.parts.train, rng=context.rng("wang2024", "fit", "x")).scorer
    np.testing.assert_array_equal(fit.scorer.user_factors, last.user_factors)


def test_the_table_has_orders_and_the_best_k_of_each_h_over_u(context, judged):
    findings = experiments.run(context, judged)
    rows = {cell.row for cell in findings.cells if cell.data == "tiny"}
    last = {f"{backbone} NegS, H/U = {share:g}, last epoch" for backbone in BACKBONES for share in SHARES}
    assert rows == {*ORDERS, *last}
    assert {cell.row for cell in findings.cells if cell.data == "coat"} == {NUMBER, SHARE}
    assert [claim.section for claim in findings.claims] == [""] * 7  # none is the paper's
    assert len(findings.figures) == 1


def test_the_log_s_positives_are_ranked_among_all_items(context, judged):
    (world,), _ = judged
    learnt = experiments.measure(context, world).learnt["LightGCN", 1.0]
    model, train = last_epoch_negs(context, "LightGCN", 1.0), world.log.parts.train
    (fit,) = fits_of(context, world.log.parts, {"LightGCN NegS 1 to the end, start 1": model}, validated=False).values()
    positive = train.values > 0
    first = np.unique(train.users[positive])[0]
    likes = set(train.items[positive & (train.users == first)].tolist())
    top = np.argsort(-fit.scorer.score(np.array([first]))[0], kind="stable")
    expected = [len(likes.intersection(top[:k].tolist())) / len(likes) for k in world.ks]
    assert learnt[0].tolist() == pytest.approx(expected)


KS = (1, 5, 20, 100)


def recalls(*means, users=200):
    """Full recall of users around these means, with a little noise that all H/U share."""
    noise = np.random.default_rng(1).normal(0, 0.001, (users, 1))
    return {share: np.array(mean) + noise for share, mean in zip(SHARES, means, strict=True)}


UP = ([0.04, 0.10, 0.20, 0.50], [0.02, 0.08, 0.30, 0.60], [0.01, 0.05, 0.25, 0.80])


def test_the_best_k_moves_up_down_or_cannot_be_told():
    assert moves_up(recalls(*UP), KS)[0] is True
    assert moves_up(recalls(*UP[::-1]), KS)[0] is False
    noisy = {share: np.full((4, 4), 0.1) for share in SHARES}
    # one user of four likes the first H/U at the top: without that user, all are equal and the smallest K is taken
    noisy[SHARES[-1]] = noisy[SHARES[-1]] + np.outer([0.4, 0, 0, 0], [0, 0, 0, 1.0])
    holds, evidence = moves_up(noisy, KS)
    assert holds is None, evidence


def world_with(inside, top, users=400):
    """A judged world in which both large H/U have this share of AutoDebias' recall inside, and this gap at K = 5."""
    rng = np.random.default_rng(2)
    base, entries = Entry("MF", "AutoDebias"), [Entry("MF", "NegS", share) for share in SHARES]
    values = {base: 1.0, **dict.fromkeys(entries, inside)}
    draws = rng.normal(0.5, 0.001, 50)
    groups = {(entry, TRADITIONAL): value * draws for entry, value in values.items()}
    groups |= {(entry, f"full@{k}"): np.array([0.1]) for entry in values for k in (5, 50)}
    of_users = {base: rng.normal(0.1, 0.01, (users, 2))}
    of_users |= {entry: of_users[base] + rng.normal(top, 0.01, (users, 2)) for entry in entries}
    return JudgedWorld(
        tiny_log(), {}, Trials(("model", "number"), "draw", groups), np.array([5, 50]), of_users, (5, 50)
    )


@pytest.mark.parametrize(
    ("inside", "top", "holds"),
    [(0.99, -0.01, True), (0.99, 0.01, False), (0.99, 0.0, None), (RIVAL - 0.05, -0.01, False)],
)
def test_who_rivals_inside_is_worse_at_the_top_or_not_or_that_is_left_open(inside, top, holds):
    assert _trapped(world_with(inside, top), "MF")[0] is holds


@pytest.mark.parametrize(("gap", "holds"), [(-0.1, True), (0.0, None), (0.05, False)])
def test_a_small_sample_refutes_only_what_it_could_have_shown(gap, holds):
    rng = np.random.default_rng(3)
    users = 30 if holds is None else 3000
    bias = np.clip(rng.normal(0.2, 0.1, users), 0, None)
    terms = {
        entry: SimpleNamespace(
            numerator=bias if entry.method == "Bias" else bias + rng.normal(gap, 0.3, users), denominator=np.ones(users)
        )
        for entry in ENTRIES
    }
    test = SimpleNamespace(name="small", terms={(entry, "URE@5"): each for entry, each in terms.items()})
    (claim,) = table4._test_claims([test])
    assert claim.holds is holds, claim.evidence


def test_the_largest_drop_in_print_is_that_of_dr_on_yahoo():
    assert largest_drop(5) == pytest.approx(1 - 0.0075 / 0.0131)
