"""What TensorBoard reads is what the journals say."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from obelics_pipeline.cli.main import main
from obelics_pipeline.training.train.tensorboard import tensorboard

accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")


def scalars(folder: Path) -> dict[tuple[int, str], float]:
    """What TensorBoard's own reader finds in a folder."""
    found = accumulator.EventAccumulator(str(folder), size_guidance={accumulator.SCALARS: 0}).Reload()
    return {(one.step, tag): one.value for tag in found.Tags()["scalars"] for one in found.Scalars(tag)}


def journal(path: Path, *lines: dict[str, object]) -> None:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


def test_every_number_of_every_attempt_is_there_under_its_name(tmp_path: Path) -> None:
    inner = {"web": {"loss": 2.5, "targets": 300}}
    journal(
        tmp_path / "metrics.jsonl",
        {"attempt": 1, "step": 1, "cursor": 0, "loss": 2.25, "mfu": None, "action": None, "datasets": inner},
        {"attempt": 1, "step": 200, "cursor": 8, "loss": 1e300, "applied": True},
        {"attempt": 2, "step": 2, "cursor": 8, "loss": -0.5},
    )
    journal(tmp_path / "evaluations.jsonl", {"attempt": 1, "step": 200, "datasets": {"web": {"loss": 3.5}}})
    first, second = tensorboard(tmp_path)
    assert scalars(first) == {
        (1, "loss"): 2.25,
        (1, "datasets/web/loss"): 2.5,
        (1, "datasets/web/targets"): 300.0,
        (200, "loss"): math.inf,  # beyond what 32 bits hold
        (200, "applied"): 1.0,
        (200, "held_out/datasets/web/loss"): 3.5,
    }
    assert scalars(second) == {(2, "loss"): -0.5}


def test_equal_journals_give_equal_bytes(tmp_path: Path) -> None:
    journal(tmp_path / "metrics.jsonl", *({"attempt": 1, "step": s, "loss": 1 / s} for s in range(1, 5)))
    files = [next(tensorboard(tmp_path, tmp_path / name)[0].iterdir()) for name in ("one", "two")]
    assert files[0].name == files[1].name and files[0].read_bytes() == files[1].read_bytes()


def test_a_run_at_work_can_be_drawn_and_half_a_line_waits(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "metrics.jsonl").write_text('{"attempt": 1, "step": 1, "loss": 1.0}\n{"attempt": 1, "st')
    assert main(["tensorboard", str(tmp_path)]) == 0
    assert "attempt-00001" in capsys.readouterr().out
    assert main(["tensorboard", str(tmp_path / "none")]) == 2
    assert capsys.readouterr().err.count("\n") == 1
