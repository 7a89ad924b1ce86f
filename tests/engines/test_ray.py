"""The engine of a cluster gives what the local one gives, and answers for every unit."""

import functools
import os
import subprocess
import sys
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from obelics_pipeline.core.commit import Manifest
from obelics_pipeline.core.config.ray import RayConfig
from obelics_pipeline.core.errors import Stopped, UserError
from obelics_pipeline.core.unit import Unit
from obelics_pipeline.engines.engine import Failure
from obelics_pipeline.engines.groups import as_they_are
from obelics_pipeline.engines.local import LocalEngine
from obelics_pipeline.engines.on_ray import engine as on_ray_engine
from obelics_pipeline.engines.on_ray.engine import RayEngine
from obelics_pipeline.engines.on_ray.session import AUTO_CONNECT, address_of
from tests.engines.cluster import ray_cluster
from tests.engines.shuffles import content, extremes, write_sources
from tests.engines.work import double, make_model, process_of, score, unit, work

CONFIG = RayConfig(start_seconds=3)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    with ray_cluster() as started:
        yield started


def engine(cluster: Any, folder: Path, timeout: float = 60, **settings: Any) -> RayEngine:
    return RayEngine(cluster.address, None, folder, timeout, CONFIG.model_copy(update=settings))


def outcomes(cluster: Any, folder: Path, units: list[Unit], **more: Any) -> dict[str, Manifest | Failure]:
    with engine(cluster, folder, **more) as ray:
        found = [(u.id, outcome) for u, outcome in ray.map_units(functools.partial(work, folder=folder), units)]
    assert len(found) == len(dict(found))
    return dict(found)


@pytest.mark.slow
def test_units_come_back_once_as_from_the_local_engine(cluster: Any, tmp_path: Path) -> None:
    units = [unit(f"{i:02d}") for i in range(9)]
    for name in ("ray", "local"):
        (tmp_path / name).mkdir()
    found = outcomes(cluster, tmp_path / "ray", units)
    with LocalEngine(2, tmp_path / "local", 60) as local:
        expected = dict(local.map_units(functools.partial(work, folder=tmp_path / "local"), units))
    assert found == {u.id: manifest for u, manifest in expected.items()}


@pytest.mark.slow
def test_no_units_and_no_items_are_no_trouble(cluster: Any, tmp_path: Path) -> None:
    with engine(cluster, tmp_path) as ray:
        assert list(ray.map_units(functools.partial(work, folder=tmp_path), [])) == []
        assert list(ray.map(double, [])) == []
        assert list(ray.map_models(make_model, functools.partial(score, folder=tmp_path), [])) == []
        assert ray.shuffle([], "key", as_they_are, tmp_path / "out") == {}


@pytest.mark.slow
def test_a_unit_in_trouble_costs_itself_only(cluster: Any, tmp_path: Path) -> None:
    trouble = ["die_once", "die_always", "raise_once", "raise_always", "hang"]
    units = [*(unit(do, do) for do in trouble), *(unit(f"{i}") for i in range(4))]
    found = outcomes(cluster, tmp_path, units, timeout=5)
    failures = {name: outcome.reason for name, outcome in found.items() if isinstance(outcome, Failure)}
    assert failures == {"die_always": "its worker died 12 times", "raise_always": "RuntimeError: trouble"}
    assert sorted(found) == sorted(u.id for u in units)
    assert (tmp_path / "crashes-die_always").read_text() == "".join(f"{n}\n" for n in range(12))


@pytest.mark.slow
def test_short_units_go_in_blocks_and_of_a_lost_block_each_goes_once_more_alone(
    cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(on_ray_engine, "BLOCK_SECONDS", 600.0)
    blocks: list[list[str]] = []
    draw = on_ray_engine._drawn

    def drawn(waiting: deque[Any], most: int) -> list[Any]:
        items = draw(waiting, most)
        blocks.append([item.id for item in items if isinstance(item, Unit)])
        return items

    monkeypatch.setattr(on_ray_engine, "_drawn", drawn)
    units = [unit(f"{i:02d}") for i in range(30)]
    units[20] = unit("20", "kill_ray_worker_once")
    found = outcomes(cluster, tmp_path, units)
    [lost] = [block for block in blocks if "20" in block]
    assert len(lost) > 1
    assert sum(map(len, blocks)) == len(units)
    assert all(isinstance(o, Manifest) for o in found.values())
    assert {(tmp_path / f"crashes-{name}").read_text() for name in lost} <= {"0\n", "0\n0\n"}


@pytest.mark.slow
def test_what_a_task_has_no_time_for_waits_for_another(
    cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(on_ray_engine, "BLOCK_SECONDS", 0.0)
    assert len(outcomes(cluster, tmp_path, [unit(f"{i:02d}") for i in range(20)])) == 20
    assert {(tmp_path / f"tries-{i:02d}").read_text() for i in range(20)} == {"x"}


@pytest.mark.by_hand
def test_a_unit_that_takes_the_ray_worker_itself_down_fails_alone(cluster: Any, tmp_path: Path) -> None:
    found = outcomes(cluster, tmp_path, [unit("worse", "kill_ray_worker"), *(unit(f"{i}") for i in range(3))])
    assert found.pop("worse") == Failure("its worker died 12 times")
    assert all(isinstance(o, Manifest) for o in found.values())


@pytest.mark.slow
def test_a_full_disk_and_a_wrong_setting_stop_the_run_in_one_line(cluster: Any, tmp_path: Path) -> None:
    with pytest.raises(Stopped, match=r"^disk full while writing /somewhere: .*$"):
        outcomes(cluster, tmp_path, [unit("full", "disk_full"), unit("fine")])
    with pytest.raises(UserError, match=r"^a model is missing; get it$"):
        outcomes(cluster, tmp_path, [unit("wrong", "user_error")])
    assert (tmp_path / "tries-wrong").read_text() == "x"


@pytest.mark.slow
def test_map_keeps_the_order_and_raises_what_was_raised(cluster: Any, tmp_path: Path) -> None:
    with engine(cluster, tmp_path) as ray:
        assert list(ray.map(double, range(20))) == [2 * i for i in range(20)]
        with pytest.raises(TypeError, match="NoneType"):
            ray.map(double, [1, None])


@pytest.mark.slow
def test_a_shuffle_leaves_what_the_local_engine_leaves_whatever_the_order(cluster: Any, tmp_path: Path) -> None:
    sources = write_sources(tmp_path / "sources")
    with LocalEngine(1, tmp_path, 60) as local:
        expected = local.shuffle(sources, "key", extremes, tmp_path / "local")
    with engine(cluster, tmp_path) as ray:
        assert ray.shuffle(sources[::-1], "key", extremes, tmp_path / "ray") == expected
        assert ray.shuffle(sources[3:], "key", as_they_are, tmp_path / "empty") == {}
    assert content(tmp_path / "local") == content(tmp_path / "ray")


@pytest.mark.slow
def test_what_goes_wrong_in_a_shuffle_comes_to_the_driver_as_it_was(cluster: Any, tmp_path: Path) -> None:
    sources = write_sources(tmp_path / "sources")
    (tmp_path / "blocked").write_text("a file, where a folder is to be")
    with engine(cluster, tmp_path) as ray, pytest.raises(OSError, match="blocked") as raised:
        ray.shuffle(sources, "key", as_they_are, tmp_path / "blocked" / "out")
    assert raised.value.errno is not None


@pytest.mark.slow
def test_actors_make_one_model_each_and_answer_for_every_unit(cluster: Any, tmp_path: Path) -> None:
    units = [unit(f"{i}") for i in range(8)] + [unit(do, do) for do in ("die_once", "raise_always")]
    with engine(cluster, tmp_path, actors=2) as ray:
        found = {u.id: o for u, o in ray.map_models(make_model, functools.partial(score, folder=tmp_path), units)}
    failures = {name: o.reason for name, o in found.items() if isinstance(o, Failure)}
    assert failures == {"raise_always": "RuntimeError: trouble"}
    assert sorted(found) == sorted(u.id for u in units)
    makers = {m.notes["model"] for m in found.values() if isinstance(m, Manifest) and m.unit[2:].isdigit()}
    assert len(makers) <= 2 + 1  # a process each, and a new one after a death


@pytest.mark.slow
def test_an_actor_that_is_killed_costs_nothing(cluster: Any, tmp_path: Path) -> None:
    units = [unit("once", "kill_ray_worker_once"), *(unit(f"{i}") for i in range(4))]
    with engine(cluster, tmp_path) as ray:
        found = {u.id: o for u, o in ray.map_models(make_model, functools.partial(score, folder=tmp_path), units)}
    assert sorted(found) == ["0", "1", "2", "3", "once"]
    assert all(isinstance(o, Manifest) for o in found.values())


@pytest.mark.by_hand
def test_a_unit_that_kills_every_actor_fails_alone(cluster: Any, tmp_path: Path) -> None:
    units = [unit("always", "kill_ray_worker"), *(unit(f"{i}") for i in range(4))]
    with engine(cluster, tmp_path) as ray:
        found = {u.id: o for u, o in ray.map_models(make_model, functools.partial(score, folder=tmp_path), units)}
    assert isinstance(found.pop("always"), Failure)
    assert sorted(found) == ["0", "1", "2", "3"]
    assert all(isinstance(o, Manifest) for o in found.values())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("settings", "line"),
    [
        ({"actors": 2, "cpus_per_actor": 1.0}, "2 of the cluster's 2 CPUs"),
        ({"actors": 2, "gpus_per_actor": 0.5}, "1, and the cluster has 0 GPUs"),
    ],
)
def test_actors_that_leave_no_room_are_refused_before_they_start(
    cluster: Any, tmp_path: Path, settings: dict[str, Any], line: str
) -> None:
    with engine(cluster, tmp_path, **settings) as ray, pytest.raises(UserError, match=line):
        list(ray.map_models(make_model, functools.partial(score, folder=tmp_path), [unit("a")]))


@pytest.mark.slow
def test_what_no_node_can_hold_stops_the_run_instead_of_waiting_for_ever(cluster: Any, tmp_path: Path) -> None:
    with pytest.raises(Stopped, match=r"no node .* 3 CPUs"):
        outcomes(cluster, tmp_path, [unit("a")], cpus_per_unit=3.0)


@pytest.mark.slow
def test_a_node_that_does_not_see_the_output_is_told_of(cluster: Any, tmp_path: Path) -> None:
    with engine(cluster, tmp_path) as ray:
        next(tmp_path.glob(".tmp-ray-*")).unlink()
        ray._guard = type(ray._guard)(ray._guard.folder, "elsewhere", 60, ())
        with pytest.raises(UserError, match="does not see this folder"):
            list(ray.map(double, [1]))


def test_a_raylet_that_died_stops_the_run_and_is_no_units_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    from ray.exceptions import LocalRayletDiedError

    def lost(_reference: object) -> None:
        raise LocalRayletDiedError

    monkeypatch.setattr("ray.get", lost)
    with pytest.raises(Stopped, match=r"raylet .* has died .* run the same command again"):
        on_ray_engine._outcomes(object())


def test_a_client_address_is_refused_and_ray_address_is_heeded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    assert address_of(None) == "local"
    with pytest.raises(UserError, match="ray job submit"):
        address_of("ray://head:10001")
    monkeypatch.setenv("RAY_ADDRESS", "head:6379")
    assert address_of(None) == "head:6379"
    assert address_of("other:6379") == "other:6379"


DRIVER = """
import contextlib, functools, sys
from pathlib import Path
from obelics_pipeline.core.config.ray import RayConfig
from obelics_pipeline.engines.on_ray.engine import RayEngine
from tests.engines.work import linked_part, process_of
if __name__ == "__main__":
    with RayEngine(sys.argv[2], None, Path(sys.argv[1]), 60, RayConfig()) as ray:
        print("SEEN", *set(ray.map(process_of, range(4))))
        print("LINKED", *ray.map(linked_part, ["filters", "models", "beam_jobs"]))
    import ray
    with contextlib.suppress(Exception):
        ray.get_actor("nobody")
    print("STILL CONNECTED", ray.is_initialized())
"""


IMPORTED = """
import sys
from pathlib import Path
import ray
from obelics_pipeline.core.config.ray import RayConfig
from obelics_pipeline.engines.on_ray.engine import RayEngine
if __name__ == "__main__":
    with RayEngine(None, 1, Path(sys.argv[1]), 60, RayConfig(object_store_bytes=100 * 2**20)) as engine:
        print(list(engine.map(abs, [-1, -2])))
"""


@pytest.mark.slow
def test_a_ray_that_was_imported_before_is_no_trouble(tmp_path: Path) -> None:
    script = tmp_path / "driver.py"
    script.write_text(IMPORTED)
    without = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}
    done = subprocess.run(
        [sys.executable, str(script), str(tmp_path)],
        env=without | {"PYTHONPATH": str(Path(__file__).parents[2]), "HOME": str(tmp_path)},
        capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert done.stdout.splitlines()[-1:] == ["[1, 2]"], done.stderr


@pytest.mark.slow
def test_a_checkout_is_sent_along_and_nothing_connects_after_the_run(cluster: Any, tmp_path: Path) -> None:
    checkout = Path(__file__).parents[2]
    script = tmp_path / "driver.py"
    script.write_text(DRIVER)
    environment = {name: value for name, value in os.environ.items() if name != AUTO_CONNECT}
    environment["PYTHONPATH"] = str(checkout)
    done = subprocess.run(
        [sys.executable, str(script), str(tmp_path), cluster.address],
        env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    [seen] = [line.split()[1:] for line in done.stdout.splitlines() if line.startswith("SEEN")]
    assert len(seen) == 1
    assert "/runtime_resources/py_modules_files/" in seen[0]
    assert process_of(0) not in seen
    [found] = [line.split()[1:] for line in done.stdout.splitlines() if line.startswith("LINKED")]
    assert len(found) == 3
    assert all("/runtime_resources/py_modules_files/" in file for file in found)
    assert "STILL CONNECTED False" in done.stdout.splitlines()
