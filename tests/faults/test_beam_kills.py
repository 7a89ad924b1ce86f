"""Beam waits for ever for a worker that was killed; a run on Beam ends by itself, with the same bytes."""

import functools
import hashlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from obelics_pipeline.engines.engine import Failure
from obelics_pipeline.engines.local import LocalEngine
from tests.beam_jobs.work import slow_work
from tests.engines.shuffles import content, dying, extremes, write_sources
from tests.engines.work import unit
from tests.faults.runs import SMALL_UNITS, command, descendants, finish, kill_all, start

pytest.importorskip("apache_beam")
SETS = ["dedup.enabled=false"]  # its forty pipelines start Beam's workers forty times, and nothing new is killed
OPTIONS = ["--direct_running_mode=multi_processing", "--direct_num_workers=2"]


def beam_command(inputs: list[Path], output: Path) -> list[str]:
    sets = [x for value in (*SMALL_UNITS, *SETS) for x in ("--set", value)]
    job = [sys.executable, "-m", "obelics_pipeline.beam_jobs.curate", "default", "--input", *map(str, inputs)]
    return [*job, "--output", str(output), *sets, *OPTIONS]


def published(output: Path) -> dict[str, str]:
    """sha256 of what a run is made for."""
    files = [*output.glob("shards/*.tar"), output / "index.parquet", output / "manifest.json"]
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def sdk_workers(pid: int) -> list[int]:
    """Beam's own workers below a process."""
    return [
        child for child, line in descendants(pid).items() if "sdk_worker_main" in line and "python" in line.split()[0]
    ]


@contextmanager
def running(arguments: list[str], proxy: str) -> Iterator[subprocess.Popen[str]]:
    """A run that does not outlive the test."""
    process = start(arguments, proxy)
    try:
        yield process
    finally:
        if process.poll() is None:
            kill_all(process)


@pytest.fixture(scope="module")
def left_alone(warcs: list[Path], proxy: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What a run on the local engine comes to."""
    output = tmp_path_factory.mktemp("local") / "run"
    code, printed = finish(command(warcs, output, sets=SETS), proxy)
    assert code == 0, printed
    return published(output)


@contextmanager
def killer(kills: int, every: float) -> Iterator[list[int]]:
    """Kill one of Beam's workers below this process every so many seconds, so many times."""
    killed: list[int] = []
    over = threading.Event()

    def kill() -> None:
        while len(killed) < kills and not over.wait(0.05):
            for pid in sdk_workers(os.getpid())[:1]:
                over.wait(every)
                try:
                    os.kill(pid, signal.SIGKILL)
                    killed.append(pid)
                except ProcessLookupError:
                    continue

    thread = threading.Thread(target=kill)
    thread.start()
    try:
        yield killed
    finally:
        over.set()
        thread.join()


@pytest.mark.slow
def test_killed_workers_of_beam_cost_nobody_anything(tmp_path: Path) -> None:
    from obelics_pipeline.beam_jobs.engine import BeamEngine

    before = set(descendants(os.getpid()))
    units = [unit(f"{i:02d}") for i in range(16)]
    with killer(3, 1.5) as killed, BeamEngine(OPTIONS, tmp_path, 60) as engine:
        found = {u.id: o for u, o in engine.map_units(functools.partial(slow_work, folder=tmp_path), units)}
    assert len(killed) >= 2
    assert sorted(found) == [u.id for u in units]
    assert not [o for o in found.values() if isinstance(o, Failure)]
    left = [line for pid, line in descendants(os.getpid()).items() if pid not in before and "sdk_worker" in line]
    assert left == []


@pytest.mark.by_hand
def test_workers_of_beam_that_die_within_a_shuffle_change_nothing(tmp_path: Path) -> None:
    from obelics_pipeline.beam_jobs.engine import BeamEngine

    sources = write_sources(tmp_path / "sources")
    with LocalEngine(1, tmp_path, 60) as local:
        expected = local.shuffle(sources, "key", extremes, tmp_path / "local")
    with BeamEngine(OPTIONS, tmp_path, 60) as beam:
        found = beam.shuffle(sources, "key", functools.partial(dying, folder=tmp_path), tmp_path / "out")
    assert found == expected
    assert len(list(tmp_path.glob("begun-*"))) == len(expected)
    assert content(tmp_path / "out") == content(tmp_path / "local")


@pytest.mark.by_hand
def test_a_run_whose_workers_are_killed_has_the_bytes_of_one_that_was_left_alone(
    warcs: list[Path], proxy: str, left_alone: dict[str, str], tmp_path: Path
) -> None:
    with running(beam_command(warcs, tmp_path / "beam"), proxy) as process:
        killed = 0
        while process.poll() is None and killed < 3:  # of four attempts in vain a unit fails
            for pid in sdk_workers(process.pid)[:1]:
                time.sleep(3)
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
                    killed += 1
            time.sleep(0.2)
        printed, _ = process.communicate(timeout=800)
    assert killed == 3
    assert process.returncode == 0, printed
    assert published(tmp_path / "beam") == left_alone


@pytest.mark.by_hand
def test_a_run_whose_driver_is_killed_leaves_no_process_and_the_same_command_goes_on(
    warcs: list[Path], proxy: str, left_alone: dict[str, str], tmp_path: Path
) -> None:
    end_driver(warcs, proxy, tmp_path / "beam", signal.SIGKILL)
    with running(beam_command(warcs, tmp_path / "beam"), proxy) as process:
        printed, _ = process.communicate(timeout=800)
    assert process.returncode == 0, printed
    assert published(tmp_path / "beam") == left_alone


@pytest.mark.by_hand
def test_a_run_that_is_interrupted_leaves_no_process_and_another_engine_goes_on(
    warcs: list[Path], proxy: str, left_alone: dict[str, str], tmp_path: Path
) -> None:
    end_driver(warcs, proxy, tmp_path / "beam", signal.SIGINT)
    code, printed = finish(command(warcs, tmp_path / "beam", sets=SETS), proxy)
    assert code == 0, printed
    assert published(tmp_path / "beam") == left_alone


def end_driver(warcs: list[Path], proxy: str, output: Path, how: signal.Signals) -> None:
    """Begin a run, end its driver while Beam's workers are at it, and see that nobody is left."""
    with running(beam_command(warcs, output), proxy) as process:
        while not (workers := sdk_workers(process.pid)):
            time.sleep(0.1)
        time.sleep(2)
        everyone = list(descendants(process.pid))
        os.kill(process.pid, how)
        printed, _ = process.communicate(timeout=600)
    assert process.returncode == (3 if how == signal.SIGINT else -how), printed
    deadline = time.monotonic() + 20
    while [pid for pid in {*everyone, *workers} if _alive(pid)]:
        assert time.monotonic() < deadline, "processes outlived their driver"
        time.sleep(0.1)


def _alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
