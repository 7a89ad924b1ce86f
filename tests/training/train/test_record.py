"""What a training writes down can be written, whatever the numbers are, and read again."""

import json
from math import nan
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

from obelics_pipeline.training.train.guard.alarm import Alarm
from obelics_pipeline.training.train.guard.decision import Decision
from obelics_pipeline.training.train.guard.observation import Observation
from obelics_pipeline.training.train.journal import Journal
from obelics_pipeline.training.train.record import Record
from obelics_pipeline.training.train.state.ledger import Ledger

SEEN = Observation(7, 24, 4, 1e-3, nan, nan)


def written(folder: Path, *alarms: Alarm) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The line of metrics, and the ledger's entries."""
    ledger: Ledger = Ledger(folder / "ledger.jsonl")
    with Journal(folder / "metrics.jsonl") as metrics:
        Record(1, Any, metrics, ledger).step({"step": 7, "loss": nan}, Decision(alarms=alarms), SEEN)  # type: ignore[arg-type]
    entries = [json.loads(line) for line in (folder / "ledger.jsonl").read_text().splitlines()]
    return json.loads((folder / "metrics.jsonl").read_text()), entries


def test_a_loss_that_is_no_number_is_null_in_metrics_and_ledger(tmp_path: Path) -> None:
    line, (entry,) = written(tmp_path, Alarm("nonfinite", "loss", nan, 0.0, 7))
    assert line == {"step": 7, "loss": None}
    assert entry["kind"] == "alarm" and entry["why"] == "nonfinite" and entry["value"] is None
    assert Ledger(tmp_path / "ledger.jsonl").entries[0].kind == "alarm"


def test_a_plateau_is_an_entry_of_its_own_and_no_alarm(tmp_path: Path) -> None:
    _, (entry,) = written(tmp_path, Alarm("plateau", "loss:web", 2.0, 0.0, 7))
    assert entry["kind"] == "plateau" and entry["why"] == "loss:web has not fallen"


def test_an_alarm_is_written_when_it_begins(tmp_path: Path) -> None:
    _, entries = written(
        tmp_path, Alarm("loss_jump", "loss", 9.0, 12.0, 7), Alarm("grad_drift", "grad_norm", 1.0, 4.0, 3)
    )
    assert [(e["why"], e["signal"], e["since"]) for e in entries] == [("loss_jump", "loss", 7)]
