"""The pool survives what happens to its workers; the shuffle deals every row out once."""

import functools
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from obelics_pipeline.core.commit import Manifest
from obelics_pipeline.core.errors import Stopped, UserError
from obelics_pipeline.core.unit import Unit
from obelics_pipeline.engines.engine import Failure
from obelics_pipeline.engines.groups import as_they_are, read_groups
from obelics_pipeline.engines.local import LocalEngine
from obelics_pipeline.engines.pool import interrupts_waiting
from tests.engines.shuffles import content, extremes, rows_of, write_sources
from tests.engines.work import make_large_model, make_model, score, score_by_large, unit, work
from tests.faults.runs import ROOT
from tests.small import arguments, write_warc


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


def modelled(folder: Path, units: list[Unit], models: int = 1) -> dict[str, Manifest | Failure]:
    with LocalEngine(2, folder, 60, models=models) as engine:
        return {u.id: o for u, o in engine.map_models(make_model, functools.partial(score, folder=folder), units)}


def test_units_with_a_model_end_as_those_without_and_each_process_makes_one(tmp_path: Path) -> None:
    trouble = ("raise_once", "raise_always", "die_always")
    found = modelled(tmp_path, [*(unit(f"{i}") for i in range(6)), *(unit(do, do) for do in trouble)], models=2)
    failures = {name: o.reason for name, o in found.items() if isinstance(o, Failure)}
    assert failures == {"raise_always": "RuntimeError: trouble", "die_always": "its worker died 12 times"}
    makers = {o.notes["model"] for o in found.values() if isinstance(o, Manifest)}
    assert len(makers) <= 2 + 12  # a process each, and a new one after each death
    assert modelled(tmp_path, []) == {}


def test_a_model_stays_however_large_it_is_and_sees_the_gpu_of_its_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "4, 6")
    work = functools.partial(score_by_large, folder=tmp_path)
    makers = {}
    for models in (1, 2):
        with LocalEngine(1, tmp_path, 60, models=models) as engine:
            units = [unit(f"{models}-{i}") for i in range(5)]
            done = [o for _, o in engine.map_models(make_large_model, work, units) if isinstance(o, Manifest)]
            makers[models] = {str(o.notes["model"]) for o in done}
            assert len(done) == 5
    assert len(makers[1]) == 1
    assert [maker.partition(" ")[2] for maker in makers[1]] == ["4, 6"]  # alone, it may choose
    assert {maker.partition(" ")[2] for maker in makers[2]} == {"4", "6"}


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


def test_workers_have_the_environment_of_their_driver_as_it_is_now(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = []
    for proxy in ("http://one.example", "http://two.example", None):
        monkeypatch.delenv("http_proxy", raising=False)
        if proxy is not None:
            monkeypatch.setenv("http_proxy", proxy)
        with LocalEngine(1, tmp_path, 60) as engine:
            found += engine.map(os.getenv, ["http_proxy"])
    assert found == ["http://one.example", "http://two.example", None]


def test_a_full_disk_stops_the_run_and_says_so(tmp_path: Path) -> None:
    with pytest.raises(Stopped, match="disk full while writing /somewhere"):
        outcomes(tmp_path, [unit("full", "disk_full"), unit("fine")])


def test_what_a_person_can_mend_is_not_retried(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="a model is missing"):
        outcomes(tmp_path, [unit("wrong", "user_error")])
    assert (tmp_path / "tries-wrong").read_text() == "x"


BESIDE = """
import os
from pathlib import Path
from obelics_pipeline.engines.local import LocalEngine
if __name__ == "__main__":
    with LocalEngine(1, Path("."), 60, preload=["datasets"]) as engine:
        print(list(engine.map(os.getenv, ["PYTHONSAFEPATH"])))
"""


def test_a_module_in_the_working_directory_is_not_imported_by_workers(tmp_path: Path) -> None:
    (tmp_path / "script").mkdir()
    (tmp_path / "script" / "driver.py").write_text(BESIDE)
    (tmp_path / "datasets.py").write_text("open('imported', 'w').close()")
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}
    environment.pop("PYTHONSAFEPATH", None)
    printed = subprocess.check_output([sys.executable, "script/driver.py"], env=environment, cwd=tmp_path, text=True)
    assert not (tmp_path / "imported").exists()
    assert printed == "[None]\n"  # and the environment of workers is that of their driver


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


def wait_for(condition: object, seconds: float = 300) -> None:
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


def test_a_shuffle_deals_every_row_out_once_sorted(tmp_path: Path) -> None:
    with LocalEngine(2, tmp_path, 60) as engine:
        groups = engine.shuffle(write_sources(tmp_path / "in"), "key", as_they_are, tmp_path / "out")
    rows = rows_of(groups, tmp_path / "out")
    assert list(rows) == ["a b", "c/d", "e=f"]
    values = [v for found in rows.values() for v in found]
    assert sorted(values, key=str) == sorted((None if v % 50 == 0 else v * 7919 % 1000 for v in range(900)), key=str)
    assert all(found == sorted(found, key=lambda v: (v is None, v)) for found in rows.values())
    assert {group.rows for group in groups.values()} == {300}


def test_what_a_shuffle_leaves_depends_on_rows_and_not_on_files_or_portions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sources = write_sources(tmp_path / "in")
    whole = pa.concat_tables([pq.read_table(path) for path in sources[::-1]])
    pq.write_table(whole, tmp_path / "whole.parquet")
    with LocalEngine(1, tmp_path, 60) as engine:
        engine.shuffle(sources, "key", extremes, tmp_path / "a")
        engine.shuffle([tmp_path / "whole.parquet"], "key", extremes, tmp_path / "b")
        monkeypatch.setattr("obelics_pipeline.engines.local.PORTION", 300)
        engine.shuffle(sources, "key", extremes, tmp_path / "c")
    assert content(tmp_path / "a") == content(tmp_path / "b") == content(tmp_path / "c")


def test_a_reducer_makes_tables_and_notes_of_a_group(tmp_path: Path) -> None:
    with LocalEngine(1, tmp_path, 60) as engine:
        groups = engine.shuffle(write_sources(tmp_path / "in"), "key", extremes, tmp_path / "out")
    assert groups["c/d"].notes == {"c/d": 300}
    assert rows_of(groups, tmp_path / "out")["c/d"] == [1]
    assert rows_of(groups, tmp_path / "out", "last")["c/d"] == [None]


def test_a_group_that_is_missing_is_noticed(tmp_path: Path) -> None:
    sources = write_sources(tmp_path / "in")
    with LocalEngine(1, tmp_path, 60) as engine:
        engine.shuffle(sources, "key", as_they_are, tmp_path / "out")
    (tmp_path / "out" / "key=a%20b.json").unlink()
    with pytest.raises(RuntimeError, match="900 rows went in and 600 came out"):
        read_groups(tmp_path / "out", "key", sources)


def test_a_shuffle_of_nothing_is_nothing(tmp_path: Path) -> None:
    with LocalEngine(1, tmp_path, 1) as engine:
        assert engine.shuffle([], "key", as_they_are, tmp_path / "out") == {}


def test_ctrl_c_while_a_worker_starts_reaches_the_driver_and_not_what_it_starts() -> None:
    said: list[str] = []

    def start() -> None:
        signal.pthread_kill(threading.get_ident(), signal.SIGINT)
        child = "import os, signal; os.kill(os.getpid(), signal.SIGINT); print('deaf')"
        said.append(subprocess.check_output([sys.executable, "-c", child], text=True))

    with pytest.raises(KeyboardInterrupt):
        interrupts_waiting(start)
    assert said == ["deaf\n"]
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())


def test_a_folder_for_temporary_files_that_is_too_long_for_a_socket_is_named(tmp_path: Path) -> None:
    folder = tmp_path / ("t" * 100)
    folder.mkdir()
    command = [
        sys.executable,
        "-m",
        "obelics_pipeline",
        *arguments([write_warc(tmp_path / "in.warc")], tmp_path / "out"),
    ]
    environment = os.environ | {"TMPDIR": str(folder), "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.endswith(f"TMPDIR {folder}: is too long for a socket; set it to a shorter path\n")
    assert "Traceback" not in done.stderr
