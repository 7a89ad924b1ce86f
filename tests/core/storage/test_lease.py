"""One run at a time holds a folder in a bucket; what a dead one held passes on, what a living one holds does not."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from upath import UPath

from obelics_pipeline.core import lease, storage
from obelics_pipeline.core.errors import Stopped, UserError
from obelics_pipeline.core.lease import leased
from obelics_pipeline.core.object_version import version_of
from obelics_pipeline.core.storage import names_in, put, read_bytes, remove, write_bytes
from tests.faults.runs import ROOT

HOLD = """
import sys, time
from obelics_pipeline.core import lease
from obelics_pipeline.core.storage import location
lease.RENEW_SECONDS = 0.2
with lease.leased(location(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lease, "RENEW_SECONDS", 0.1)
    monkeypatch.setattr(lease, "LOST_SECONDS", 2.0)
    monkeypatch.setattr(lease, "STALE_SECONDS", 3.0)
    monkeypatch.setattr(lease, "LOOK_SECONDS", 0.1)


@pytest.fixture
def unwatched(monkeypatch: pytest.MonkeyPatch) -> None:
    """The fence is alone: nobody else looks at the clock."""
    monkeypatch.setattr(lease, "LOOK_SECONDS", 600)


def value(folder: UPath, number: int) -> dict[str, object]:
    found: dict[str, object] = json.loads(read_bytes(folder / f"{number:012d}.json"))
    return found


def elsewhere(folder: UPath, number: int, **values: object) -> None:
    """A lease of a run on another machine."""
    made = {"owner": "x", "host": "other.example", "processes": "y", "process": 7, "renewals": 0, "over": False}
    write_bytes(folder / f"{number:012d}.json", json.dumps(made | values).encode())


@pytest.mark.usefixtures("quick")
def test_one_after_the_other_holds_and_old_leases_do_not_pile_up(bucket: UPath) -> None:
    for number in (1, 2, 3):
        with leased(bucket / ".lease"):
            assert names_in(bucket / ".lease") == [f"{number:012d}.json"]
            assert not value(bucket / ".lease", number)["over"]
        assert value(bucket / ".lease", number)["over"]


@pytest.mark.usefixtures("quick")
def test_a_living_holder_is_not_disturbed(bucket: UPath) -> None:
    with leased(bucket / ".lease"):
        with pytest.raises(UserError, match=r"another run is working there .*wait for it"), leased(bucket / ".lease"):
            pass
        assert names_in(bucket / ".lease") == ["000000000001.json"]


@pytest.mark.usefixtures("quick")
def test_a_lease_that_nobody_renews_is_taken_over_but_not_before_its_time(bucket: UPath) -> None:
    elsewhere(bucket / ".lease", 4)
    began = time.monotonic()
    with leased(bucket / ".lease"):
        assert time.monotonic() - began >= lease.STALE_SECONDS
        assert names_in(bucket / ".lease") == ["000000000005.json"]


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits for a lease: it is free at once, or the test fails."""

    def wait(_: float) -> None:
        raise AssertionError("waited")

    monkeypatch.setattr(lease, "time", SimpleNamespace(**vars(time) | {"sleep": wait}))


@pytest.mark.usefixtures("impatient")
def test_a_lease_that_is_over_or_damaged_is_followed_at_once(bucket: UPath) -> None:
    elsewhere(bucket / ".lease", 4, over=True)
    with leased(bucket / ".lease"):
        pass
    write_bytes(bucket / ".lease" / "000000000009.json", b"\xff{")
    with leased(bucket / ".lease"):
        assert names_in(bucket / ".lease") == ["000000000010.json"]


def test_what_a_killed_process_of_this_machine_held_is_free_at_once(
    bucket: UPath, request: pytest.FixtureRequest
) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(bucket / ".lease")], stdout=subprocess.PIPE, text=True, cwd=ROOT
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    with pytest.raises(UserError, match=f"process {process.pid}"), leased(bucket / ".lease"):
        pass
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    request.getfixturevalue("impatient")
    with leased(bucket / ".lease"):
        assert value(bucket / ".lease", 2)["process"] == os.getpid()


@pytest.mark.usefixtures("quick")
def test_of_many_who_come_at_once_one_holds(bucket: UPath, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lease, "LOST_SECONDS", 30)  # a busy machine may be late by seconds
    held: list[int] = []
    refused: list[str] = []
    together = threading.Barrier(6)

    def come(i: int) -> None:
        together.wait()
        try:
            with leased(bucket / ".lease"):
                held.append(i)
                time.sleep(1.5)
        except UserError as error:
            refused.append(str(error))

    threads = [threading.Thread(target=come, args=(i,)) for i in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(held), len(refused)) == (1, 5)


@pytest.mark.usefixtures("quick")
def test_a_holder_that_was_followed_stops(bucket: UPath) -> None:
    def stop(*_: object) -> None:
        raise Stopped("stopped")

    before = signal.signal(signal.SIGTERM, stop)
    try:
        with pytest.raises(Stopped, match="another run took over there"), leased(bucket / ".lease"):
            elsewhere(bucket / ".lease", 2)
            time.sleep(5)
        assert not value(bucket / ".lease", 2)["over"]
    finally:
        signal.signal(signal.SIGTERM, before)


@pytest.mark.usefixtures("quick")
def test_a_holder_that_cannot_renew_stops_before_anybody_may_follow(
    bucket: UPath, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unreachable(*_: object) -> None:
        raise OSError("no route")

    monkeypatch.setattr(lease, "STALE_SECONDS", 30)  # a busy machine may be late by seconds
    assert lease.LOST_SECONDS + lease.RENEW_SECONDS < lease.STALE_SECONDS
    began = time.monotonic()
    with pytest.raises(Stopped, match="could not be reached"), leased(bucket / ".lease"):
        monkeypatch.setattr(lease, "names_in", unreachable)
        time.sleep(60)
    assert time.monotonic() - began < lease.STALE_SECONDS


def test_the_figures_leave_room() -> None:
    assert lease.LOST_SECONDS + lease.RENEW_SECONDS < lease.STALE_SECONDS
    assert lease.LOST_SECONDS * 1.01 / 0.99 + lease.RENEW_SECONDS < lease.STALE_SECONDS


@pytest.mark.usefixtures("quick")
def test_a_holder_stops_in_time_while_its_renewal_hangs(bucket: UPath, monkeypatch: pytest.MonkeyPatch) -> None:
    answered = threading.Event()
    with pytest.raises(Stopped, match="could not be reached"), leased(bucket / ".lease"):
        monkeypatch.setattr(lease, "replace", lambda *_: answered.wait(60))
        time.sleep(60)
    answered.set()
    assert not value(bucket / ".lease", 1)["over"]


@pytest.mark.usefixtures("quick")
def test_a_stop_that_was_swallowed_comes_again(bucket: UPath, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: object) -> None:
        raise Stopped("stopped")

    answered, swallowed, before = threading.Event(), list[str](), signal.signal(signal.SIGTERM, stop)
    try:
        with pytest.raises(Stopped, match="could not be reached"), leased(bucket / ".lease"):
            monkeypatch.setattr(lease, "replace", lambda *_: answered.wait(60))
            try:
                time.sleep(60)
            except Stopped:
                swallowed.append("the first")
            time.sleep(8)
            swallowed.append("the second")
        assert swallowed == ["the first"]
    finally:
        answered.set()
        signal.signal(signal.SIGTERM, before)


@pytest.mark.usefixtures("unwatched")
def test_what_stands_for_the_run_is_written_by_the_holder_only(
    bucket: UPath, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    run = bucket / "run"
    clock = lease._clock
    with pytest.raises(Stopped, match="could not be reached"), leased(run / ".lease"):
        for data in (b"first", b"second"):
            write_bytes(run / "manifest.json", data)
            assert read_bytes(run / "manifest.json") == data
        (tmp_path / "index").write_bytes(b"rows")
        put(tmp_path / "index", run / "index.parquet")
        write_bytes(run / "shuffled" / "note.json", b"{}")
        monkeypatch.setattr(lease, "_clock", lambda: clock() + 1000)
        (tmp_path / "index").write_bytes(b"other")
        late: list[Callable[[], object]] = [
            lambda: write_bytes(run / "manifest.json", b"late"),
            lambda: put(tmp_path / "index", run / "index.parquet"),
            lambda: write_bytes(run / "shuffled" / "note.json", b"late"),
            lambda: remove([run / "manifest.json"]),
        ]
        for write in late:
            with pytest.raises(Stopped, match="could not be reached"):
                write()
        write_bytes(bucket / "elsewhere", b"free")
        raise AssertionError("what becomes of it is told by the lease")
    assert read_bytes(run / "manifest.json") == b"second"
    assert read_bytes(run / "index.parquet") == b"rows"
    assert read_bytes(run / "shuffled" / "note.json") == b"{}"
    write_bytes(run / "manifest.json", b"no fence is left behind")


@pytest.mark.usefixtures("unwatched")
def test_what_is_too_large_for_one_put_is_written_by_the_holder_only(
    bucket: UPath, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    run, clock = bucket / "run", lease._clock
    replace = lease.replace

    def small(where: UPath, body: bytes | Path, version: str | None) -> str | None:
        assert where.name != "index.parquet"
        return replace(where, body, version)

    monkeypatch.setattr(lease, "replace", small)
    monkeypatch.setattr(storage, "LARGEST_PUT", 3)
    with pytest.raises(Stopped, match="could not be reached"), leased(run / ".lease"):
        (tmp_path / "index").write_bytes(b"rows")
        put(tmp_path / "index", run / "index.parquet")
        monkeypatch.setattr(lease, "_clock", lambda: clock() + 1000)
        (tmp_path / "index").write_bytes(b"late")
        put(tmp_path / "index", run / "index.parquet")
    assert read_bytes(run / "index.parquet") == b"rows"


@pytest.mark.usefixtures("unwatched")
def test_a_put_that_was_held_up_does_not_go_over_what_a_later_holder_wrote(
    bucket: UPath, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = bucket / "run"
    replace, clock = lease.replace, lease._clock

    def held_up(where: UPath, body: bytes, version: str | None) -> str | None:
        if where.name == "manifest.json":
            later = version_of(where)
            assert replace(where, b"of a later holder", later) is not None
            monkeypatch.setattr(lease, "_clock", lambda: clock() + 1000)
        return replace(where, body, version)

    with pytest.raises(Stopped, match="could not be reached"), leased(run / ".lease"):
        write_bytes(run / "manifest.json", b"before")
        monkeypatch.setattr(lease, "replace", held_up)
        write_bytes(run / "manifest.json", b"late")
    assert read_bytes(run / "manifest.json") == b"of a later holder"


@pytest.mark.usefixtures("unwatched")
def test_the_late_put_of_a_former_holder_does_not_stop_the_holder(
    bucket: UPath, monkeypatch: pytest.MonkeyPatch
) -> None:
    replace, late = lease.replace, [b"of a former holder"]

    def met(where: UPath, body: bytes, version: str | None) -> str | None:
        if where.name == "manifest.json" and late:
            replace(where, late.pop(), version)
        return replace(where, body, version)

    with leased(bucket / "run" / ".lease"):
        monkeypatch.setattr(lease, "replace", met)
        write_bytes(bucket / "run" / "manifest.json", b"ours")
    assert read_bytes(bucket / "run" / "manifest.json") == b"ours"


@pytest.mark.usefixtures("quick")
def test_a_store_that_replaces_what_has_changed_is_refused(bucket: UPath, monkeypatch: pytest.MonkeyPatch) -> None:
    def careless(where: UPath, data: bytes, _: str | None) -> str | None:
        write_bytes(where, data)
        return version_of(where)

    monkeypatch.setattr(lease, "replace", careless)
    with pytest.raises(UserError, match="replaces what has changed"), leased(bucket / ".lease"):
        pass


@pytest.mark.usefixtures("quick")
def test_a_store_that_overwrites_what_it_should_refuse_is_refused(
    bucket: UPath, monkeypatch: pytest.MonkeyPatch
) -> None:
    def careless(where: UPath, data: bytes) -> bool:
        write_bytes(where, data)
        return True

    monkeypatch.setattr(lease, "create", careless)
    with pytest.raises(UserError, match="creates what exists already"), leased(bucket / ".lease"):
        pass


@pytest.mark.usefixtures("quick")
def test_a_put_whose_answer_was_lost_was_the_first_after_all(bucket: UPath, monkeypatch: pytest.MonkeyPatch) -> None:
    create = lease.create

    def sent_twice(where: UPath, data: bytes) -> bool:
        create(where, data)
        return create(where, data)

    monkeypatch.setattr(lease, "create", sent_twice)
    with leased(bucket / ".lease"):
        assert names_in(bucket / ".lease") == ["000000000001.json"]
