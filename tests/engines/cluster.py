"""A Ray cluster of several nodes on this machine, in this process: a head without CPUs, and nodes to kill."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from obelics_pipeline.core.config.ray import RayConfig
from obelics_pipeline.engines.on_ray.session import AUTO_CONNECT, HEAD_WAIT

STORE = 100 * 2**20
FEW_ROWS = RayConfig(start_seconds=60, shuffle_partitions=4)  # of a small run: each piece of a shuffle is a task
WAIT_SECONDS = "300"  # for a head on a busy machine; Ray gives it 30


@contextmanager
def ray_cluster(nodes: int = 2, cpus: int = 1) -> Iterator[Any]:
    """Yields the `Cluster`; its `address` is what an engine connects to."""
    os.environ.setdefault(AUTO_CONNECT, "0")
    from ray.cluster_utils import Cluster

    os.environ.setdefault(HEAD_WAIT, WAIT_SECONDS)
    cluster = Cluster(
        initialize_head=True,
        head_node_args={"num_cpus": 0, "object_store_memory": STORE, "include_dashboard": False},
    )
    try:
        for _ in range(nodes):
            cluster.add_node(num_cpus=cpus, object_store_memory=STORE)
        yield cluster
    finally:
        cluster.shutdown()


def kill_node(node: Any) -> None:
    """SIGKILL to a node's raylet: its workers end with it."""
    os.kill(node.all_processes["raylet"][0].process.pid, signal.SIGKILL)
