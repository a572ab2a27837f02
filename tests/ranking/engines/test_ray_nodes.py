"""The Ray engine on two nodes, one of which is lost in the middle."""

import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from unskew.ranking import Ray

ray = pytest.importorskip("ray", reason="Ray is not installed: pip install 'unskew[ray]'")
pytestmark = [pytest.mark.xdist_group("ray"), pytest.mark.filterwarnings("ignore"), pytest.mark.slow]


@pytest.fixture
def cluster() -> Iterator[Any]:
    from ray.cluster_utils import Cluster

    ray.shutdown()
    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    made.add_node(num_cpus=1)
    yield made
    ray.shutdown()
    made.shutdown()


def test_a_node_that_is_lost_changes_nothing(cluster: Any) -> None:
    weights = np.arange(100_000.0)

    def task(block: int) -> tuple[int, float, str]:
        time.sleep(0.2)
        return block, float(weights.sum()), ray.get_runtime_context().get_node_id()

    engine, got = Ray(cluster.address), []
    lost = cluster.worker_nodes.copy().pop()
    for result in engine.map(task, list(range(60))):
        got.append(result)
        if len(got) == 8:
            cluster.remove_node(lost, allow_graceful=False)
    assert [block for block, _, _ in got] == list(range(60))
    assert {total for _, total, _ in got} == {float(weights.sum())}
    assert len({node for _, _, node in got[:8]}) == 2  # both had worked


def test_nodes_of_two_kinds_are_said(cluster: Any) -> None:
    engine = Ray(cluster.address)
    assert len(list(engine.map(str, list(range(40))))) == 40
    assert len(engine.kernels) == 1  # of one machine
