"""The Ray engine on a real Ray of two cores: the bytes of threads, errors, and a worker that is killed."""

import importlib
import os
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pytest

from unskew import Interactions, Split, evaluate
from unskew.arrays import Ints, Matrix
from unskew.errors import ConfigError, DataError
from unskew.metrics import parse_metric
from unskew.ranking import (
    CallableScorer,
    FactorScorer,
    MatrixScorer,
    Ray,
    Scorer,
    Threads,
    candidate_moments,
    everyone,
    prepare_contest,
    rank,
    sum_models,
    top_lists,
)
from unskew.ranking.engines import engine_of
from unskew.ranking.engines.ray import connect
from unskew.simulators import WorldModel
from unskew.trials.runs import run_trials

ray = pytest.importorskip("ray", reason="Ray is not installed: pip install 'unskew[ray]'")
pytestmark = [pytest.mark.xdist_group("ray"), pytest.mark.filterwarnings("ignore")]
USERS, ITEMS = 90, 60


@pytest.fixture(scope="module", autouse=True)
def two_cores() -> Iterator[None]:
    connect()  # as a user's first call does
    ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])  # workers cannot import a test
    yield
    ray.cloudpickle.unregister_pickle_by_value(sys.modules[__name__])
    ray.shutdown()


@pytest.fixture
def split() -> Split:
    rng = np.random.default_rng(0)
    seen = rng.random((USERS, ITEMS)) < 0.2
    held = seen & (rng.random(seen.shape) < 0.3)
    parts = (Interactions.from_arrays(*np.nonzero(mask), n_users=USERS, n_items=ITEMS) for mask in (seen & ~held, held))
    return Split(*parts)


def models() -> dict[str, Scorer]:
    rng = np.random.default_rng(1)
    factors = FactorScorer(rng.normal(size=(USERS, 5)).astype("f4"), rng.normal(size=(ITEMS, 5)).astype("f4"))
    return {"factors": factors, "tied": MatrixScorer(rng.integers(0, 4, (USERS, ITEMS)).astype(float))}


def test_ranks_sums_moments_and_lists_have_the_bytes_of_threads(split: Split) -> None:
    scorers, engine = models(), Ray()
    contest = prepare_contest(scorers, split)
    for name, scorer in scorers.items():
        ours, theirs = (rank(scorer, contest, name=name, engine=each, block_size=7) for each in (engine, Threads(2)))
        assert ours.sha256 == theirs.sha256
        mine, other = (top_lists(scorer, split, 5, engine=each) for each in (engine, Threads(2)))
        assert all(np.array_equal(a, b) for a, b in zip(vars(mine).values(), vars(other).values(), strict=True))
    metrics, whole = [parse_metric(word) for word in ("adg", "recall@5", "auc")], everyone(contest, split)

    def chances(users: Ints) -> list[Matrix]:
        return [np.full((len(users), ITEMS), 0.25)]

    sums, same = (
        sum_models(scorers, whole, chances, metrics, engine=each, block_size=7) for each in (engine, Threads(2))
    )
    for name in scorers:
        for word, gains in sums[name][0].gains.items():
            assert gains.tobytes() == same[name][0].gains[word].tobytes()
    moments, again = (
        candidate_moments(scorers, whole, lambda users: chances(users)[0], metrics, engine=each, block_size=7)
        for each in (engine, Threads(2))
    )
    assert all(moments[word].second.tobytes() == again[word].second.tobytes() for word in moments)
    assert len(engine.kernels) == 1


def test_an_evaluation_with_trained_models_has_the_same_json(split: Split) -> None:
    contenders = {**models(), "als": "als(factors=4)", "popular": "popular"}
    options = {"metrics": ["recall@5", "auc", "ndcg@5"], "seed": 3}
    seen: list[tuple[str, int, int]] = []
    ours = evaluate(contenders, split, engine="ray", progress=lambda *step: seen.append(step), **options)
    theirs = evaluate(contenders, split, **options)
    assert ours.to_dict() == theirs.to_dict()
    stages = {stage for stage, _, _ in seen}
    assert any("all models" in stage for stage in stages)
    assert any("factors" in stage for stage in stages)
    for stage in stages:
        done = [(done, total) for each, done, total in seen if each == stage]
        assert done[-1][0] == done[-1][1]


def test_simulated_evaluations_are_the_same() -> None:
    world = WorldModel.from_word("lda(users=60, items=40)")
    ours, theirs = (run_trials(world, 3, engine=engine, seed=2) for engine in ("ray", "threads"))
    for name, value in vars(ours).items():
        if isinstance(value, np.ndarray):
            assert np.array_equal(value, getattr(theirs, name), equal_nan=True)


class Killed:
    """Squares of blocks; the first worker that has block 3 dies there."""

    def __init__(self, folder: Path, weights: Matrix) -> None:
        self.folder, self.weights = folder, weights

    def square(self, block: int) -> tuple[int, float]:
        mark = self.folder / "killed"
        if block == 3 and not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return block * block, float(self.weights.sum())


def test_a_worker_that_is_killed_changes_nothing(tmp_path: Path) -> None:
    weights = np.arange(1000.0)
    got = list(Ray().map(Killed(tmp_path, weights).square, list(range(40))))
    assert (tmp_path / "killed").exists()
    assert got == [(block * block, float(weights.sum())) for block in range(40)]


def test_an_evaluation_goes_on_when_workers_are_killed(split: Split, tmp_path: Path) -> None:
    matrix, mark, driver = np.asarray(models()["tied"].score(np.arange(USERS))), str(tmp_path / "mark"), os.getpid()

    def score(users: Ints) -> Matrix:
        if 40 in users and os.getpid() != driver and not Path(mark).exists():
            Path(mark).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return np.asarray(matrix[users])

    scorer = CallableScorer(score)
    ours, theirs = (evaluate({"mine": scorer}, split, engine=engine, block_size=5) for engine in ("ray", "threads"))
    assert Path(mark).exists()
    assert ours.to_dict() == theirs.to_dict()


def test_errors_of_a_scorer_are_those_of_threads(split: Split) -> None:
    matrix = np.ones((USERS, ITEMS))
    matrix[11, 5] = np.nan
    messages = []
    for engine in ("ray", "threads"):
        with pytest.raises(DataError) as caught:
            evaluate({"mine": MatrixScorer(matrix)}, split, engine=engine)
        messages.append(str(caught.value))
    assert messages[0] == messages[1]
    assert "user 11, item 5" in messages[0]

    def score(users: Ints) -> Matrix:
        raise KeyError("no such table")

    for engine in ("ray", "threads"):
        with pytest.raises(DataError, match=r"model 'mine' .* failed .*KeyError: 'no such table'"):
            evaluate({"mine": CallableScorer(score)}, split, engine=engine)


class Connected:
    """A scorer that has something which cannot be sent elsewhere."""

    def __init__(self) -> None:
        self.lock = threading.Lock()

    def score(self, users: Ints) -> Matrix:
        return np.zeros((len(users), ITEMS))


def test_a_scorer_that_cannot_be_pickled_is_refused_by_its_attribute(split: Split) -> None:
    with pytest.raises(ConfigError, match=r"scorer\.lock \(lock\) cannot be sent to Ray .*__getstate__"):
        evaluate({"mine": Connected()}, split, engine="ray")


def test_a_class_that_workers_lack_is_refused_with_a_hint(split: Split, tmp_path: Path, monkeypatch: Any) -> None:
    (tmp_path / "only_here.py").write_text(
        "import numpy as np\nclass Model:\n    def score(self, users):\n        return np.zeros((len(users), 60))\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module("only_here")
    with pytest.raises(ConfigError, match=r"No module named 'only_here'.*install its package on all nodes"):
        evaluate({"mine": module.Model()}, split, engine="ray")


def test_results_come_in_order_and_an_early_end_leaves_nothing_behind() -> None:
    engine = Ray()
    results = engine.map(lambda block: block, list(range(200)))
    assert [next(iter(results)) for _ in range(3)] == [0, 1, 2]
    results.close()
    assert list(engine.map(str, [])) == []
    assert list(engine.map(str, [1, 2])) == ["1", "2"]


def test_what_tasks_share_is_stored_once() -> None:
    engine, weights = Ray(), np.arange(10.0)
    for folder in ("a", "b"):
        list(engine.map(Killed(Path(folder), weights).square, [1]))
    assert sum(value is weights for value, _ in engine._stored.values()) == 1


def test_other_words_and_objects_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"unknown engine 'rays'.*ray"):
        engine_of("rays")
    with pytest.raises(ConfigError, match="has a method map"):
        engine_of(3)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="needs"):
        engine_of("threads", address="auto")
    assert engine_of(None, 3) == Threads(3)


def test_an_address_that_does_not_answer_is_refused_in_one_line() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    ray.shutdown()
    try:
        for address in (f"127.0.0.1:{port}", f"ray://127.0.0.1:{port}"):
            with pytest.raises(ConfigError, match="no Ray cluster answers at") as caught:
                list(Ray(address).map(str, [1]))
            assert "\n" not in str(caught.value)
    finally:
        connect()


@pytest.mark.parametrize("answer", [None, b"220 mail ready\r\n"])
def test_a_port_that_is_not_a_cluster_is_refused(answer: bytes | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.import_module("unskew.ranking.engines.ray"), "PATIENCE", 0.3)
    ray.shutdown()
    try:
        with socket.create_server(("127.0.0.1", 0)) as server:
            if answer is not None:
                greeter = Thread(target=lambda: server.accept()[0].sendall(answer), daemon=True)
                greeter.start()
            with pytest.raises(ConfigError, match="no Ray cluster answers at"):
                connect(f"127.0.0.1:{server.getsockname()[1]}")
    finally:
        connect()


def test_parts_of_a_data_set_and_draws_of_a_bootstrap_have_the_same_json(split: Split, tmp_path: Path) -> None:
    from unskew.data import open_split, write_parts

    for name, rows in (("train", split.train), ("test", split.test)):
        write_parts([rows.to_polars()], tmp_path / name, 3)
    parts = open_split(tmp_path / "train", tmp_path / "test")
    rng, ids = np.random.default_rng(2), {"user_ids": np.arange(USERS), "item_ids": np.arange(ITEMS)}
    factors = FactorScorer(rng.normal(size=(USERS, 5)).astype("f4"), rng.normal(size=(ITEMS, 5)).astype("f4"), **ids)
    options: dict[str, Any] = {"metrics": ["recall@5", "auc"], "estimators": ["snips"]}
    interval = "bootstrap(100, weights=poisson)"
    for data, how in ((parts, interval), (split, interval), (split, "bootstrap(100)")):
        ours, theirs = (evaluate({"f": factors}, data, interval=how, engine=each, **options) for each in ("ray", None))
        assert ours.to_json() == theirs.to_json()
