"""Whether a run is at work is told by its process here, by its lease in a store, and else by its last event."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

from upath import UPath

from obelics_pipeline.core.process import this_process
from obelics_pipeline.core.storage import write_bytes
from obelics_pipeline.inspect.status.alive import alive
from obelics_pipeline.inspect.status.journals import urls_at_work
from tests.core.storage.conftest import new_bucket

ELSEWHERE = this_process() | {"processes": "another machine", "host": "far-away"}


def test_a_process_of_this_machine_tells_by_itself(tmp_path: Path) -> None:
    assert alive(tmp_path, this_process(), 0.0, 1e9).at_work
    assert not alive(tmp_path, this_process() | {"begun": 1}, 1e9, 1e9).at_work


def test_of_a_process_elsewhere_the_last_event_tells(tmp_path: Path) -> None:
    assert alive(tmp_path, ELSEWHERE, 1e9, 1e9 + 60).at_work
    silent = alive(tmp_path, ELSEWHERE, 1e9, 1e9 + 7200)
    assert not silent.at_work
    assert "it runs on far-away" in silent.why
    assert "names no process" in alive(tmp_path, {}, 1e9, 1e9).why


def leased(base: UPath, number: int, **values: Any) -> None:
    value = {**ELSEWHERE, "owner": "a", "renewals": 3, "over": False, **values}
    write_bytes(base / ".lease" / f"{number:012d}.json", json.dumps(value).encode())


def test_a_lease_tells_from_any_machine(s3: str) -> None:
    base = new_bucket(f"leased-{os.urandom(4).hex()}") / "run"
    now = time.time()
    assert not alive(base, {}, now, now).at_work
    leased(base, 1)
    assert alive(base, {}, 0.0, now + 5).at_work
    silent = alive(base, {}, now, now + 600)
    assert not silent.at_work
    assert "far-away renewed its lease 10 min" in silent.why
    leased(base, 2, over=True)
    assert "given back" in alive(base, {}, now, now).why
    leased(base, 3, **(this_process() | {"begun": 1}))
    assert "was killed" in alive(base, {}, now, now).why
    write_bytes(base / ".lease" / f"{4:012d}.json", b"[" * 100_000)
    assert not alive(base, {}, now, now).at_work


def test_urls_of_journals_are_counted_and_those_of_a_long_one_are_guessed(tmp_path: Path, monkeypatch: Any) -> None:
    result = json.dumps({"url": "http://a.example/i.png"}, separators=(",", ":")) + "\n"
    (tmp_path / "one.jsonl").write_text('{"origin":"http://a.example"}\n' + result * 10)
    (tmp_path / "old.jsonl").write_text(result * 10)
    os.utime(tmp_path / "old.jsonl", (0, 0))
    assert urls_at_work(tmp_path, 1.0) == 10
    monkeypatch.setattr("obelics_pipeline.inspect.status.journals.READ", len(result) * 100)
    (tmp_path / "one.jsonl").write_text(result * 1000)
    assert urls_at_work(tmp_path, 1.0) == 1000
    assert urls_at_work(tmp_path / "none", 0.0) == 0
