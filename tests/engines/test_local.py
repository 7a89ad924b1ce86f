"""The pool survives what happens to its workers; the shuffle deals every row out once."""

import functools
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from obelics_pipeline.commit import Manifest
from obelics_pipeline.engines.engine import Failure
from obelics_pipeline.engines.local import LocalEngine
from obelics_pipeline.errors import Stopped, UserError
from obelics_pipeline.unit import Unit
from tests.engines.work import unit, work


def outcomes(folder: Path, units: list[Unit], workers: int = 2, timeout: float = 60) -> dict[str, Manifest | Failure]:
    with LocalEngine(workers, folder, timeout) as engine:
        return {u.id: outcome for u, outcome in engine.map_units(functools.partial(work, folder=folder), units)}


def test_every_unit_comes_back_once_whatever_the_number_of_workers(tmp_path: Path) -> None:
    for workers in (1, 3):
        folder = tmp_path / str(workers)
        folder.mkdir()
        found = outcomes(folder, [unit(f"{i:02d}") for i in range(9)], workers)
        assert sorted(found) == [f"{i:02d}" for i in range(9)]
        assert all(isinstance(o, Manifest) for o in found.values())


def test_a_killed_worker_costs_nobody_anything(tmp_path: Path) -> None:
    found = outcomes(tmp_path, [unit("dies", "die_once"), *(unit(f"{i}") for i in range(6))])
    assert len(found) == 7
    assert all(isinstance(o, Manifest) for o in found.values())


def test_a_unit_that_always_kills_its_worker_fails_alone(tmp_path: Path) -> None:
    found = outcomes(tmp_path, [unit("dies", "die_always"), *(unit(f"{i}") for i in range(4))])
    failed = {name: o for name, o in found.items() if isinstance(o, Failure)}
    assert list(failed) == ["dies"]
    assert "died 12 times" in failed["dies"].reason


def test_a_unit_that_raises_is_tried_again_and_then_fails_with_its_reason(tmp_path: Path) -> None:
    found = outcomes(tmp_path, [unit("once", "raise_once"), unit("always", "raise_always"), unit("fine")])
    assert isinstance(found["once"], Manifest)
    assert isinstance(found["fine"], Manifest)
    assert found["always"] == Failure("RuntimeError: trouble")


def test_a_unit_that_hangs_is_killed_and_tried_again(tmp_path: Path) -> None:
    found = outcomes(tmp_path, [unit("hangs", "hang"), unit("fine")], timeout=2)
    assert all(isinstance(o, Manifest) for o in found.values())


def test_a_full_disk_stops_the_run_and_says_so(tmp_path: Path) -> None:
    with pytest.raises(Stopped, match="disk full while writing /somewhere"):
        outcomes(tmp_path, [unit("full", "disk_full"), unit("fine")])


def test_what_a_person_can_mend_is_not_retried(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="a model is missing"):
        outcomes(tmp_path, [unit("wrong", "user_error")])
    assert (tmp_path / "tries-wrong").read_text() == "x"


DRIVER = """
import functools, sys
from pathlib import Path
from obelics_pipeline.engines.local import LocalEngine
from tests.engines.work import pids_of_sleepers, unit
if __name__ == "__main__":
    folder = Path(sys.argv[1])
    work = functools.partial(pids_of_sleepers, folder=folder)
    list(LocalEngine(2, folder, 600).map_units(work, [unit("a"), unit("b")]))
"""


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().split(") ")[1][0] != "Z"
    except OSError:
        return False


def wait_for(condition: object, seconds: float = 30) -> None:
    deadline = time.monotonic() + seconds
    while not condition():  # type: ignore[operator]
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.05)


def test_no_worker_outlives_a_driver_that_was_killed(tmp_path: Path) -> None:
    script = tmp_path / "driver.py"
    script.write_text(DRIVER)
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}
    driver = subprocess.Popen([sys.executable, str(script), str(tmp_path)], env=environment)
    wait_for(lambda: all((tmp_path / f"pid-{n}").exists() and (tmp_path / f"pid-{n}").read_text() for n in "ab"))
    pids = [int((tmp_path / f"pid-{n}").read_text()) for n in "ab"]
    driver.send_signal(signal.SIGKILL)
    driver.wait()
    wait_for(lambda: not any(alive(pid) for pid in pids))


def test_regroup_deals_every_row_out_once(tmp_path: Path) -> None:
    sources = []
    for i in range(3):
        sources.append(tmp_path / f"{i}.parquet")
        table = pa.table({"key": ["a b", "c/d", "e=f"] * 100, "value": list(range(i * 300, i * 300 + 300))})
        pq.write_table(table, sources[-1])
    groups = LocalEngine(1, tmp_path, 1).regroup(sources, "key", tmp_path / "out")
    assert sorted(groups) == ["a b", "c/d", "e=f"]
    values = [v for paths in groups.values() for p in paths for v in pq.read_table(p)["value"].to_pylist()]
    assert sorted(values) == list(range(900))
    assert pq.read_table(groups["a b"][0]).column_names == ["value"]


def test_regroup_of_nothing_is_nothing(tmp_path: Path) -> None:
    assert LocalEngine(1, tmp_path, 1).regroup([], "key", tmp_path / "out") == {}
