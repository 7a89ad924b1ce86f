"""One run at a time holds a folder in a bucket; what a dead one held passes on, what a living one holds does not."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from types import SimpleNamespace

import pytest
from upath import UPath

from obelics_pipeline.core import lease
from obelics_pipeline.core.errors import Stopped, UserError
from obelics_pipeline.core.lease import leased
from obelics_pipeline.core.storage import names_in, read_bytes, write_bytes
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
    monkeypatch.setattr(lease, "LOST_SECONDS", 0.6)
    monkeypatch.setattr(lease, "STALE_SECONDS", 1.2)
    monkeypatch.setattr(lease, "LOOK_SECONDS", 0.1)


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

    monkeypatch.setattr(lease, "time", SimpleNamespace(sleep=wait, monotonic=time.monotonic))


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
def test_of_many_who_come_at_once_one_holds(bucket: UPath) -> None:
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
