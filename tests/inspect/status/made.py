"""Logs of runs that nobody made, and what the command says of a folder."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from obelics_pipeline.cli.main import main

NOW = 1_700_000_000.0


def event(name: str, after: float = 0.0, **values: Any) -> dict[str, Any]:
    """An event so many seconds after `NOW`."""
    return {"time": NOW + after, "event": name, **values}


def started(after: float = 0.0, **values: Any) -> dict[str, Any]:
    return event("run_started", after, **{"config": "default", "workers": 2, "stages": ["extract", "fetch"]} | values)


def ledger(kept: int, **dropped: int) -> dict[str, Any]:
    return {"in": kept + sum(dropped.values()), "kept": kept, "dropped": dropped, "failed": {}}


def write_log(folder: Path, events: Iterable[dict[str, Any]]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    text = "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in events)
    (folder / "events.jsonl").write_text(text, encoding="utf-8", errors="surrogatepass")
    return folder


def asked(capsys: pytest.CaptureFixture[str], folder: object, code: int = 0) -> dict[str, Any]:
    """What the command says of a folder, as JSON."""
    assert main(["status", str(folder), "--json"]) == code
    out, said = capsys.readouterr()
    assert said == ""
    found: dict[str, Any] = json.loads(out)
    return found


def printed(capsys: pytest.CaptureFixture[str], folder: object, code: int = 0) -> str:
    """What it says of a folder to a person."""
    assert main(["status", str(folder)]) == code
    out, said = capsys.readouterr()
    assert said == ""
    return out
