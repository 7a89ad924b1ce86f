"""Kill workers and nodes of a Ray cluster during the main job: it ends by itself, with the bytes of a local run."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from obelics_pipeline.core.config.ray import RayConfig
from obelics_pipeline.engines.groups import Group
from obelics_pipeline.engines.local import LocalEngine
from obelics_pipeline.engines.on_ray.engine import RayEngine
from obelics_pipeline.jobs.main_job import run
from tests.engines.cluster import FEW_ROWS, kill_node, ray_cluster
from tests.engines.shuffles import content, dying, extremes, slow, write_sources
from tests.engines.test_local import alive, wait_for
from tests.engines.work import parent_of
from tests.faults.runs import ROOT, SMALL_UNITS, command, descendants, events, finish, tree

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def undisturbed(warcs: list[Path], proxy: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    output = tmp_path_factory.mktemp("undisturbed") / "out"
    code, printed = finish(command(warcs, output, 1), proxy)
    assert code == 0, printed
    return published(output)


def published(output: Path) -> dict[str, str]:
    """sha256 of what a run is for; how rows were dealt out on the way is each engine's own affair."""
    found = {name: sha for name, sha in tree(output).items() if name.startswith("shards/") or "/" not in name}
    assert any(name.endswith(".tar") for name in found)
    return {name: sha for name, sha in found.items() if name.endswith((".tar", ".parquet")) or name == "manifest.json"}


@pytest.fixture
def cluster(proxy: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.setenv("http_proxy", proxy)  # nodes inherit it
    monkeypatch.setenv("no_proxy", "")
    with ray_cluster() as started:
        yield started


def run_on(cluster: Any, warcs: list[Path], output: Path, meanwhile: Callable[[], None] | None = None) -> int:
    """The main job on a cluster; `meanwhile` happens in a thread once a unit is done."""

    def disturb() -> None:
        wait_for(lambda: any(event["event"] == "unit_done" for event in events(output)), 300)
        assert meanwhile is not None
        meanwhile()

    thread = threading.Thread(target=disturb)
    if meanwhile:
        thread.start()
    code = run(
        "default", [str(path) for path in warcs], output, 1, SMALL_UNITS,
        open_engine=lambda folder, _config: RayEngine(cluster.address, None, folder, 600, FEW_ROWS),
    )  # fmt: skip
    if meanwhile:
        thread.join()
    assert not any(event["event"] == "unit_failed" for event in events(output))
    return code


def ray_workers() -> list[int]:
    """Processes of Ray workers of this test's clusters: descendants of this process."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if (entry / "cmdline").read_bytes().startswith((b"ray::run_guarded", b"ray::IDLE")):
                found.append(int(entry.name))
        except OSError:
            continue
    return [pid for pid in found if is_ours(pid)]


def is_ours(pid: int) -> bool:
    while pid > 1:
        if pid == os.getpid():
            return True
        try:
            pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            return False
    return False


def test_killed_workers_change_nothing(
    cluster: Any, warcs: list[Path], undisturbed: dict[str, str], tmp_path: Path
) -> None:
    killed: list[int] = []
    output = tmp_path / "out"

    def kill_some() -> None:
        while len(killed) < 3 and not any(event["event"] == "run_done" for event in events(output)):
            for pid in ray_workers()[:1]:
                os.kill(pid, signal.SIGKILL)
                killed.append(pid)
                time.sleep(0.7)  # so that Ray starts another one
            time.sleep(0.05)

    assert run_on(cluster, warcs, output, kill_some) == 0
    assert killed
    assert published(output) == undisturbed


@pytest.mark.by_hand
def test_a_killed_node_changes_nothing(
    cluster: Any, warcs: list[Path], undisturbed: dict[str, str], tmp_path: Path
) -> None:
    node = sorted(cluster.worker_nodes, key=str)[0]
    assert run_on(cluster, warcs, tmp_path / "out", lambda: kill_node(node)) == 0
    assert published(tmp_path / "out") == undisturbed


@pytest.mark.by_hand
def test_workers_that_die_within_a_shuffle_change_nothing(cluster: Any, tmp_path: Path) -> None:
    expected, sources = shuffled_here(tmp_path)
    with RayEngine(cluster.address, None, tmp_path, 600, RayConfig(start_seconds=60)) as ray:
        assert ray.shuffle(sources, "key", partial(dying, folder=tmp_path), tmp_path / "ray") == expected
    assert len(list(tmp_path.glob("begun-*"))) == len(expected)
    assert content(tmp_path / "ray") == content(tmp_path / "local")


@pytest.mark.by_hand
def test_a_node_that_dies_within_a_shuffle_changes_nothing(cluster: Any, tmp_path: Path) -> None:
    expected, sources = shuffled_here(tmp_path)
    killed = []

    def kill() -> None:
        wait_for(lambda: any(note.read_text() for note in tmp_path.glob("begun-*")), 600)
        worker = int(next(note.read_text() for note in tmp_path.glob("begun-*") if note.read_text()))
        for node in list(cluster.worker_nodes):
            if node.all_processes["raylet"][0].process.pid == parent_of(worker):
                kill_node(node)
                killed.append(node)

    thread = threading.Thread(target=kill)
    thread.start()
    with RayEngine(cluster.address, None, tmp_path, 600, RayConfig(start_seconds=60)) as ray:
        assert ray.shuffle(sources, "key", partial(slow, folder=tmp_path), tmp_path / "ray") == expected
    thread.join()
    assert len(killed) == 1
    assert content(tmp_path / "ray") == content(tmp_path / "local")


def shuffled_here(folder: Path) -> tuple[dict[str, Group], list[Path]]:
    sources = write_sources(folder / "sources")
    with LocalEngine(1, folder, 60) as local:
        return local.shuffle(sources, "key", extremes, folder / "local"), sources


DRIVER = """
import functools, sys
from pathlib import Path
from obelics_pipeline.core.config.ray import RayConfig
from obelics_pipeline.engines.on_ray.engine import RayEngine
from obelics_pipeline.jobs.main_job import _stop_on_signal
from tests.engines.work import pids_of_sleepers, unit
if __name__ == "__main__":
    folder = Path(sys.argv[1])
    work = functools.partial(pids_of_sleepers, folder=folder)
    config = RayConfig(object_store_bytes=100 * 2**20)
    with _stop_on_signal(), RayEngine(None, 2, folder, 600, config) as engine:
        list(engine.map_units(work, [unit("a"), unit("b")]))
"""


BY_HAND = [pytest.param(number, marks=pytest.mark.by_hand) for number in (signal.SIGINT, signal.SIGTERM)]


@pytest.mark.parametrize("number", [signal.SIGKILL, *BY_HAND])
def test_nothing_of_ours_outlives_its_driver(tmp_path: Path, number: int) -> None:
    script = tmp_path / "driver.py"
    script.write_text(DRIVER)
    environment = {k: v for k, v in os.environ.items() if not k.startswith("RAY_")} | {"PYTHONPATH": str(ROOT)}
    driver = subprocess.Popen(
        [sys.executable, str(script), str(tmp_path)],
        env=environment, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    notes = [tmp_path / f"pid-{name}" for name in "ab"]
    wait_for(lambda: all(note.exists() and note.read_text() for note in notes), 300)
    family = descendants(driver.pid)
    assert any("raylet" in line for line in family.values())
    if number == signal.SIGINT:
        os.killpg(driver.pid, number)  # as a terminal does
    else:
        os.kill(driver.pid, number)
    driver.communicate(timeout=600)
    if number == signal.SIGKILL:  # Ray's own two agents of a node notice after a minute or more, and hold nothing
        family = {pid: line for pid, line in family.items() if "Agent" not in line and "/agent" not in line}
    wait_for(lambda: not any(alive(pid) for pid in family), 300)
