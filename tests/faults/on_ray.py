"""A run of the main job on a Ray cluster of this machine."""

from collections.abc import Sequence
from pathlib import Path

from obelics_pipeline.engines.on_ray.engine import RayEngine
from obelics_pipeline.jobs.main_job import run
from tests.engines.cluster import FEW_ROWS, ray_cluster
from tests.faults.runs import SMALL_UNITS


def run_on_ray(inputs: Sequence[Path], output: Path, sets: Sequence[str]) -> int:
    """On a head and two nodes; the exit code."""
    with ray_cluster(nodes=2) as cluster:
        return run(
            "default", [str(path) for path in inputs], output, 1, [*SMALL_UNITS, *sets],
            yes=True,
            open_engine=lambda place, _: RayEngine(cluster.address, None, place, 600, FEW_ROWS),
        )  # fmt: skip
