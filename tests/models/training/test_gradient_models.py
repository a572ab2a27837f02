"""Whole runs of the models that learn from samples: the same bytes, the best state, and going on after a kill."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from descents import small_log

from unskew.data import Interactions
from unskew.errors import ConfigError, DataError
from unskew.models import Model, Pmf
from unskew.ranking import FactorScorer

WORDS = ["bpr", "cml", "cml-rank(negatives=3)", "pmf", "pmf(form=openrec)"]


def made(word, **options):
    settings = {"factors": 3, "iterations": 60, "batch": 50, "learning_rate": 0.02, "every": 15, "patience": 0}
    return replace(Model.from_word(word), **(settings | options))


def content(scorer):
    return [scorer.user_factors.tobytes(), scorer.item_factors.tobytes(), scorer.item_bias.tobytes()]


def outcome(trained):
    """All that a run has come to."""
    best = {name: (at, content(scorer)) for name, (at, scorer) in trained.best.items()}
    return content(trained.last), best, trained.checks


def judge(scorer):
    """Two metrics that are best at different times."""
    length = float(np.linalg.norm(scorer.user_factors))
    return {"short": -length, "long": length}


def scripted(**values):
    """A judge that has made up its mind."""
    rows = iter([dict(zip(values, row, strict=True)) for row in zip(*values.values(), strict=True)])
    return lambda scorer: next(rows)


class StoppedError(Exception):
    pass


def stop_at(step):
    def progress(done, total):
        if done >= step:
            raise StoppedError

    return progress


@pytest.mark.parametrize("word", WORDS)
def test_one_two_and_three_threads_give_the_same_bytes(word):
    runs = [outcome(made(word).train(small_log(), judge=judge, threads=threads)) for threads in (1, 2, 3)]
    assert runs[0] == runs[1] == runs[2]


def test_more_threads_than_samples_are_no_harm():
    model = made("bpr", batch=2, iterations=5)
    assert outcome(model.train(small_log(), threads=5)) == outcome(model.train(small_log(), threads=1))


@pytest.mark.parametrize("word", WORDS)
def test_scores_are_factors_with_an_item_bias(word):
    scorer = made(word).fit(small_log())
    assert isinstance(scorer, FactorScorer)
    distance = word.startswith("cml")
    assert scorer.similarity == ("distance" if distance else "dot")
    P, Q, b = (array.astype(float) for array in (scorer.user_factors, scorer.item_factors, scorer.item_bias))
    assert np.any(b)
    expected = -((P[:, None] - Q) ** 2).sum(axis=2) + b if distance else P @ Q.T + b
    # scores may lack what is the same for all items of a user
    given = scorer.score(np.arange(len(P))).astype(float)
    centred = [scores - scores.mean(axis=1, keepdims=True) for scores in (given, expected)]
    np.testing.assert_allclose(*centred, atol=1e-5)


@pytest.mark.parametrize("word", ["cml", "cml-rank(negatives=3)"])
def test_points_stay_in_the_unit_ball(word):
    scorer = made(word, learning_rate=0.3, regularisation=0, batch=500).fit(small_log())
    for factors in (scorer.user_factors, scorer.item_factors):
        lengths = np.linalg.norm(factors, axis=1)
        assert lengths.max() <= 1 + 1e-6
        assert lengths.max() > 0.9


@pytest.mark.parametrize("word", WORDS)
def test_a_run_stopped_in_the_middle_goes_on_to_the_same_bytes(word, tmp_path):
    model, log, file = made(word, iterations=240, every=120), small_log(), tmp_path / "run.npz"
    options = {"judge": judge, "metrics": ("short", "long")}
    whole = outcome(model.train(log, **options))
    for at in (50, 200):  # before a checkpoint is there, and between two
        with pytest.raises(StoppedError):
            model.train(log, checkpoint=file, progress=stop_at(at), **options)
    assert outcome(model.train(log, checkpoint=file, threads=2, **options)) == whole
    # once more: there is nothing left to do
    assert outcome(model.train(log, checkpoint=file, progress=stop_at(241), **options)) == whole
    assert [path.name for path in tmp_path.iterdir()] == ["run.npz"]


KILLED = """
import os, signal, sys
from pathlib import Path
sys.path[:0] = [{here!r}, {worlds!r}]
from test_gradient_models import judge, made, small_log

def progress(done, total):
    if done == 250:  # a hundred steps after the first checkpoint
        os.kill(os.getpid(), signal.SIGKILL)

made("bpr", iterations=300, every=150).train(
    small_log(), judge=judge, metrics=("short", "long"), checkpoint=Path({file!r}), threads=2, progress=progress)
"""


def test_a_killed_process_goes_on_to_the_same_bytes(tmp_path, request):
    file = tmp_path / "run.npz"
    worlds = request.config.rootpath / "tests" / "worlds"
    script = KILLED.format(here=str(request.path.parent), worlds=str(worlds), file=str(file))
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, check=False)
    assert ended.returncode == -9, ended.stderr.decode()
    model, options = made("bpr", iterations=300, every=150), {"judge": judge, "metrics": ("short", "long")}
    told = []
    resumed = model.train(small_log(), checkpoint=file, say=told.append, **options)
    assert len(told) == 1  # the first half was not done again
    assert outcome(resumed) == outcome(model.train(small_log(), **options))


def test_a_checkpoint_may_be_trained_for_longer_but_not_for_less(tmp_path):
    model, file = made("bpr"), tmp_path / "run.npz"
    model.train(small_log(), checkpoint=file)
    longer = replace(model, iterations=90, patience=3)
    assert outcome(longer.train(small_log(), checkpoint=file)) == outcome(longer.train(small_log()))
    with pytest.raises(DataError, match=r"run.npz: this checkpoint is already at step 90, but only 60 were"):
        model.train(small_log(), checkpoint=file)


def test_the_state_kept_is_the_one_that_was_best():
    model = made("bpr")
    run = model.train(small_log(), judge=scripted(a=[0.1, 0.7, 0.7, 0.2], b=[5, 4, 3, 6]), metrics=("a", "b"))
    assert {name: at for name, (at, _) in run.best.items()} == {"a": 30, "b": 60}  # the first of equals
    assert content(run.chosen("a")) == content(replace(model, iterations=30).fit(small_log()))
    assert content(run.chosen("b")) == content(run.last)
    assert content(run.chosen("unheard")) == content(run.last)
    assert [(check.iteration, check.metrics["b"]) for check in run.checks] == [(15, 5), (30, 4), (45, 3), (60, 6)]


def test_patience_ends_a_run_when_no_metric_gets_better():
    model = made("bpr", iterations=150, patience=2)
    run = model.train(small_log(), judge=scripted(a=[1, 3, 2, 3, 9]))
    assert run.iterations == 60  # checks 3 and 4 were not better than the second
    run = model.train(small_log(), judge=scripted(a=[1, 3, 2, 2, 2, 2, 2], b=[1, 1, 2, 2, 3, 3, 3]))
    assert run.iterations == 105  # b was better at 45 and 75
    assert replace(model, patience=0).train(small_log(), judge=scripted(a=range(10, 0, -1))).iterations == 150
    assert model.train(small_log()).iterations == 150  # nobody judges


def test_a_run_that_ended_early_does_not_begin_again(tmp_path):
    model, file = made("bpr", iterations=150, patience=2), tmp_path / "run.npz"
    options = {"metrics": ("a",), "checkpoint": file}
    ended = outcome(model.train(small_log(), judge=scripted(a=[3, 2, 1]), **options))
    assert outcome(model.train(small_log(), judge=scripted(a=[]), **options)) == ended
    patient = replace(model, patience=3)
    assert patient.train(small_log(), judge=scripted(a=[0]), **options).iterations == 60


def test_losses_are_told_and_fall(tmp_path):
    told, seen = [], []
    model = made("bpr", iterations=200, every=50)
    run = model.train(
        small_log(), judge=judge, say=told.append, progress=lambda done, total: seen.append((done, total))
    )
    assert [check.iteration for check in run.checks] == [50, 100, 150, 200]
    losses = [check.loss for check in run.checks]
    assert losses == sorted(losses, reverse=True)
    assert told[0].startswith(f"loss {losses[0]:.4f}, short -")
    assert seen == sorted(seen)
    assert seen[-1] == (200, 200)


@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize("rate", [1e30, 1e38])
def test_divergence_stops_with_the_step_and_a_hint(word, rate, tmp_path):
    file = tmp_path / "run.npz"
    with pytest.raises(DataError, match=r": training diverged: at step \d+ the .* finite; try a smaller learning-rate"):
        made(word, learning_rate=rate).train(small_log(), checkpoint=file)
    assert not file.exists()


@pytest.mark.parametrize("word", WORDS)
def test_numbers_that_explode_but_stay_finite_are_divergence_too(word):
    with pytest.raises(
        DataError, match=r"training diverged: at step \d+ the (loss is|factors have grown to) .*; try a smaller"
    ):
        made(word, learning_rate=1e9, iterations=100, every=50, patience=0).fit(small_log())


def test_divergence_in_the_last_step_is_seen():
    with pytest.raises(DataError, match="at step 1 the factors are not all finite"):
        made("bpr", learning_rate=3.4e38, iterations=1, regularisation=0).fit(small_log())


@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize("n_users, n_items", [(1, 2), (2, 2), (1, 50), (5, 2)])
def test_a_tiny_log_is_enough(word, n_users, n_items):
    log = Interactions.from_arrays(np.arange(n_users), np.zeros(n_users, int), n_users=n_users, n_items=n_items)
    scores = made(word, batch=300, iterations=30).fit(log).score(np.arange(n_users))
    assert scores.shape == (n_users, n_items)
    assert np.isfinite(scores).all()
    if word != "pmf(form=openrec)":
        assert np.all(scores.argmax(axis=1) == 0)


@pytest.mark.parametrize("word", WORDS)
def test_a_user_who_has_had_everything_is_no_harm(word):
    users, items = np.array([0, 0, 0, 1]), np.array([0, 1, 2, 1])
    scorer = made(word).fit(Interactions.from_arrays(users, items))
    assert np.isfinite(scorer.score(np.arange(2))).all()
    with pytest.raises(DataError, match="every user has all 3 items"):
        made(word).fit(Interactions.from_arrays([0, 0, 0, 1, 1, 1], [0, 1, 2, 0, 1, 2]))


def test_an_unknown_form_is_refused():
    with pytest.raises(ConfigError, match=r"form=code in 'pmf'; choose from paper, openrec"):
        Model.from_word("pmf(form=code)")
    with pytest.raises(ConfigError, match=r"pmf\(form=code\): expected paper or openrec"):
        Pmf(form="code")
