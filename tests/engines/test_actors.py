"""How many workers hold a model on a cluster, and with how many GPUs."""

from typing import Any

import pytest

from obelics_pipeline.core.config.ray import RayConfig
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.engines.on_ray.actors import capacity


@pytest.mark.parametrize(
    ("has", "asked", "expected"),
    [
        ({"CPU": 2.0}, {}, (1, 0.0)),
        ({"CPU": 16.0, "GPU": 4.0}, {}, (4, 1.0)),
        ({"CPU": 16.0, "GPU": 4.0}, {"actors": 2}, (2, 1.0)),
        ({"CPU": 16.0, "GPU": 4.0}, {"gpus_per_actor": 0.5}, (8, 0.5)),
        ({"CPU": 16.0, "GPU": 4.0}, {"gpus_per_actor": 0}, (1, 0.0)),
        ({"CPU": 2.0}, {"actors": 3}, (3, 0.0)),
    ],
)
def test_an_actor_for_each_gpu_and_one_where_there_is_none(
    has: dict[str, float], asked: dict[str, Any], expected: tuple[int, float]
) -> None:
    assert capacity(has, RayConfig(**asked)) == expected


@pytest.mark.parametrize(
    ("has", "asked", "line"),
    [
        ({"CPU": 2.0}, {"actors": 2, "cpus_per_actor": 1.0}, "2 of the cluster's 2 CPUs"),
        ({"CPU": 2.0, "GPU": 8.0}, {}, "4 of the cluster's 2 CPUs"),
        ({"CPU": 8.0, "GPU": 1.0}, {"actors": 3, "gpus_per_actor": 0.5}, "= 1.5, and the cluster has 1 GPUs"),
    ],
)
def test_what_a_cluster_has_no_room_for_is_told_in_one_line(
    has: dict[str, float], asked: dict[str, Any], line: str
) -> None:
    with pytest.raises(UserError, match=line):
        capacity(has, RayConfig(**asked))
