"""The compiled steps against the same steps in slow, plain Python (Lim et al. 2015, algorithm 1)."""

import numpy as np
import pytest
from descents import small_log
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from unskew.data import Interactions
from unskew.models import MfAdg, MfAuc
from unskew.models.model import Observed
from unskew.models.training.pair_kernel import _place, take_steps

MASK = 2**64 - 1
GOLDEN = 0x9E3779B97F4A7C15
LEAST_P = 1e-6  # a right sampler fails a test once in a million seeds


def mixed(state):
    """Splitmix64 with Python's own integers."""
    z = state & MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def below(state, n):
    return ((mixed(state) >> 32) * n) >> 32


def positive(state, own, shares):
    if shares is None:
        return own[below(state, len(own))]
    x = (mixed(state) >> 11) / 2**53
    return own[min(int(np.searchsorted(np.cumsum(shares), x, side="right")), len(own) - 1)]


def slow_steps(start, histories, shares, model, key, count):
    """Every step written out, in float64: the numbers after the last, the loss, and what was drawn."""
    users, items, bias = (np.array(part, dtype=float) for part in start)
    costs, rate, penalty = model.costs(len(items)), model.learning_rate, model.regularisation
    drawable = [u for u, own in enumerate(histories) if len(own) < len(items)]
    loss, found, draws = 0.0, 0, 0
    for t in range(count):
        state = mixed(key + (t + 1) * GOLDEN)
        if model.per == "pair":
            pairs = [(u, k) for u in drawable for k in range(len(histories[u]))]
            weights = None if shares is None else [shares[u][k] for u, k in pairs]
            u, k = positive(state, pairs, weights)
            i = histories[u][k]
        else:
            u = drawable[below(state, len(drawable))]
            state += GOLDEN
            i = positive(state, histories[u], None if shares is None else shares[u])
        for cost in costs:
            state += GOLDEN
            if model.outside_only:
                while (v := below(state, len(items))) in histories[u]:
                    state += GOLDEN
            else:
                v = [k for k in range(len(items)) if k != i][below(state, len(items) - 1)]
            draws += 1
            hinge = users[u] @ items[v] + bias[v] - users[u] @ items[i] - bias[i] + 1
            if hinge > 0:
                x, y, z = users[u].copy(), items[i].copy(), items[v].copy()
                users[u] -= rate * (cost * (z - y) + penalty * x)
                items[i] -= rate * (-cost * x + penalty * y)
                items[v] -= rate * (cost * x + penalty * z)
                bias[i] += rate * cost
                bias[v] -= rate * cost
                loss, found = loss + cost * hinge, found + 1
                break
    return users, items, bias, loss, found, draws


def weighted_log(seed=0):
    log = small_log()
    chances = np.random.default_rng(seed).uniform(0.1, 1, len(log))
    return log.with_propensity(chances)


def take(run, first, count, rate, penalty):
    """Compiled steps of a run."""
    numbers = run.users, run.items, run.bias
    rows = run.drawn, run.positives.offsets, run.positives.members, run.positives.owners, run.cumulative, run.pairs
    size = np.float32(rate), np.float32(penalty)
    return take_steps(*numbers, *rows, run.key, first, count, *size, run.costs, run.outside)


MODELS = [
    MfAuc(factors=3, regularisation=0.02, init=0.4),
    MfAdg(factors=3, regularisation=0.02, init=0.4, gamma=1),
    MfAdg(factors=3, regularisation=0.02, init=0.4, gamma=3),
    MfAdg(factors=3, regularisation=0.02, init=0.4, gamma=2, propensity="column"),
    MfAuc(factors=3, regularisation=0.0, init=0.4, propensity="column"),
    MfAdg(factors=3, regularisation=0.02, init=0.4, gamma=2, per="pair"),
    MfAuc(factors=3, regularisation=0.02, init=0.4, propensity="column", per="pair"),
]


@pytest.mark.parametrize("model", MODELS, ids=str)
@pytest.mark.parametrize("seed", [0, 1])
def test_the_compiled_steps_are_those_written_out(model, seed):
    log = weighted_log()
    observed = Observed.of(log)
    run = model.start(observed, log, seed, 1)
    histories = np.split(observed.matrix.indices, observed.matrix.indptr[1:-1])
    histories = [own.tolist() for own in histories]
    shares = None
    if model.uses_propensity:
        order = np.lexsort((log.items, log.users))
        parts = np.split(1 / log.propensity[order], observed.matrix.indptr[1:-1])
        total = sum(part.sum() for part in parts)
        shares = [part / (part.sum() if model.per == "user" else total) for part in parts]
    slow = slow_steps((run.users, run.items, run.bias), histories, shares, model, run.key, 400)
    loss, found, draws = take(run, 0, 400, model.learning_rate, model.regularisation)
    assert (found, draws) == slow[4:]
    assert found > 0
    for ours, theirs in zip((run.users, run.items, run.bias), slow, strict=False):
        np.testing.assert_allclose(ours, theirs, rtol=1e-3, atol=1e-4)  # 400 steps in float32
    assert loss == pytest.approx(slow[3], rel=1e-4)


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_steps_in_pieces_are_the_same_bytes(model):
    log = weighted_log()
    observed = Observed.of(log)
    ends = []
    for pieces in ([600], [1, 250, 349]):
        run = model.start(observed, log, 3, 1)
        at = 0
        for count in pieces:
            take(run, at, count, 0.05, 0.01)
            at += count
        ends.append([part.tobytes() for part in run.arrays_now().values()])
    assert ends[0] == ends[1]


@given(st.lists(st.floats(0.05, 1), min_size=1, max_size=12), st.integers(0, 2**32))
def test_a_positive_is_drawn_where_the_running_sum_passes_the_number(weights, seed):
    shares = np.array(weights) / sum(weights)
    running = np.cumsum(shares)
    for state in range(seed, seed + 20):
        x = (mixed(state) >> 11) / 2**53
        place = _place(running, 0, len(running), np.uint64(state))
        assert place == min(np.searchsorted(running, x, side="right"), len(running) - 1)


def test_positives_are_drawn_in_proportion_to_their_weights():
    """A chi-square test of 40,000 draws of one user's five items; a right sampler fails once in a million seeds."""
    chances = np.array([1.0, 0.5, 0.25, 0.1, 0.05])
    log = Interactions.from_arrays(np.zeros(5, dtype=int), np.arange(5), n_users=1, n_items=6)
    run = MfAdg(propensity="column").start(Observed.of(log), log.with_propensity(chances), 0, 1)
    states = np.random.default_rng(0).integers(2**63, size=40_000, dtype=np.uint64)
    seen = np.bincount([_place(run.cumulative, 0, 5, state) for state in states], minlength=5)
    expected = (1 / chances) / (1 / chances).sum() * len(states)
    assert stats.chisquare(seen, expected).pvalue > LEAST_P
    assert stats.chisquare(seen).pvalue < LEAST_P  # nothing like uniform


def test_a_user_who_has_had_everything_is_never_drawn():
    users = np.repeat([0, 1], [4, 1])
    log = Interactions.from_arrays(users, [0, 1, 2, 3, 0], n_users=2, n_items=4)
    for model in (MfAuc(factors=2, iterations=500), MfAdg(factors=2, iterations=500)):
        run = model.start(Observed.of(log), log, 0, 1)
        before = run.users.copy()
        run.advance(lambda *_: None)
        assert np.array_equal(run.users[0], before[0])
        assert not np.array_equal(run.users[1], before[1])


def test_other_positives_may_be_violators_of_mf_adg_but_not_of_mf_auc():
    """The first user has items 0 to 2, so only 3 can lose by mf-auc, while mf-adg pushes positives too."""
    log = Interactions.from_arrays([0, 0, 0, 1], [0, 1, 2, 3], n_users=2, n_items=4)
    log = log.take(log.users == 0)
    for model, lost in ((MfAuc, {3}), (MfAdg, {0, 1, 2, 3})):
        run = model(factors=2, learning_rate=1e-4, init=1e-3, regularisation=0.0).start(Observed.of(log), log, 0, 1)
        down = set()
        for t in range(60):
            before = run.bias.copy()
            take(run, t, 1, 1e-4, 0)
            down |= set(np.flatnonzero(run.bias < before).tolist())
        assert down == lost
