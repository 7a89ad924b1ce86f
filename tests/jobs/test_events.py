"""A log is read while it is written, on a disk and in a store; what is torn, huge or no event is passed by."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest
from upath import UPath

from obelics_pipeline.core.storage import files_below, location, read_bytes, scratch_of
from obelics_pipeline.jobs import events as module
from obelics_pipeline.jobs.events import EventLog, Tail, read_events, settle
from tests.core.storage.conftest import new_bucket


def names(tail: Tail) -> list[str]:
    return [event["event"] for event in tail.new()]


def line(name: str, **values: object) -> str:
    return json.dumps({"time": 1.5, "event": name, **values}) + "\n"


def test_a_tail_gives_each_event_once_as_a_log_grows(tmp_path: Path) -> None:
    log, tail = EventLog(tmp_path / "events.jsonl"), Tail(tmp_path / "events.jsonl")
    assert names(tail) == []
    log.write("run_started")
    log.write("told", line="a")
    assert names(tail) == ["run_started", "told"]
    log.write("run_done")
    assert names(tail) == ["run_done"]
    assert names(tail) == []


def test_half_a_line_waits_for_its_other_half(tmp_path: Path) -> None:
    path, tail = tmp_path / "events.jsonl", Tail(tmp_path / "events.jsonl")
    path.write_text(line("a") + line("b")[:20])
    assert names(tail) == ["a"]
    path.write_text(line("a") + line("b") + line("c").removesuffix("\n"))
    assert names(tail) == ["b", "c"]
    path.write_text(line("a") + line("b") + line("c") + line("d"))
    assert names(tail) == ["d"]


def test_a_start_after_a_torn_line_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    path.write_text(line("run_started") + line("unit_done")[:20])
    log = EventLog(path)
    log.write("run_started")
    log.close()
    assert [event["event"] for event in read_events(path)] == ["run_started", "run_started"]


def test_what_is_no_event_is_passed_by(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LONGEST", 10_000)
    monkeypatch.setattr(module, "READ_BYTES", 1_000)
    wrong = [
        "[" * 5_000,
        "9" * 5_000,
        '{"time": NaN, "event": "x"}',
        '{"time": 1e999, "event": "x"}',
        f'{{"time": {"9" * 400}, "event": "x"}}',
        '{"time": -1, "event": "x"}',
        '{"time": 1, "event": ["x"]}',
        '["time", "event"]',
        line("too long", line="x" * 20_000).strip(),
        "\x00\x1b[2J",
    ]
    (tmp_path / "events.jsonl").write_text(line("a") + "".join(f"{text}\n" for text in wrong) + line("b"))
    assert names(Tail(tmp_path / "events.jsonl")) == ["a", "b"]


@pytest.fixture
def place(s3: str, monkeypatch: pytest.MonkeyPatch) -> UPath:
    monkeypatch.setattr(module, "PUT_SECONDS", 0.02)
    monkeypatch.setattr(module, "PIECE_BYTES", 300)
    return new_bucket(f"events-{os.urandom(4).hex()}") / "run" / "events.jsonl"


def until(tail: Tail, count: int) -> list[dict[str, object]]:
    """The events that others see, once there are so many."""
    found: list[dict[str, object]] = []
    while len(found) < count:
        found += tail.new()
        time.sleep(0.01)
    return found


def test_a_log_in_a_store_is_read_elsewhere_while_it_grows_and_is_one_file_at_the_end(place: UPath) -> None:
    log, tail = EventLog(place), Tail(location(str(place)))
    for i in range(10):
        log.write("unit_done", unit=str(i))
        log.write("told", line="x" * 100)
        assert [event.get("unit") for event in until(tail, 2)] == [str(i), None]
    assert len(files_below(place.parent)) > 3  # full pieces, and no other file
    log.close()
    assert list(files_below(place.parent)) == ["events.jsonl"]
    assert names(tail) == []
    assert len(read_events(place)) == read_bytes(place).count(b"\n") == 20


def test_of_a_killed_run_all_that_was_put_is_there_and_the_next_goes_on(place: UPath) -> None:
    killed, tail = EventLog(place), Tail(place)
    for i in range(5):
        killed.write("unit_done", unit=f"{i:0100d}")
        until(tail, 1)
    assert killed._store is not None
    killed._store._ended.set()  # its thread ends, as that of a killed process does: nothing is put any more
    scratch_of(place).unlink()  # and the next machine is another one
    log = EventLog(place)
    log.write("run_started")
    assert until(tail, 1)[0]["event"] == "run_started"
    log.close()
    assert [event["event"] for event in read_events(place)] == ["unit_done"] * 5 + ["run_started"]
    assert list(files_below(place.parent)) == ["events.jsonl"]


def test_pieces_are_made_one_file_before_somebody_changes_it(place: UPath) -> None:
    killed = EventLog(place)
    killed.write("unit_done")
    until(Tail(place), 1)
    assert killed._store is not None
    killed._store._ended.set()
    killed._store._thread.join()
    settle(place)
    assert list(files_below(place.parent)) == ["events.jsonl"]
    assert len(read_events(place)) == 1
