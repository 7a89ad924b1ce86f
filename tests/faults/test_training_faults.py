"""Faults that are planted into a training are found in a few steps, and the training is as if they had not been."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from obelics_pipeline.models.device.torchvision_import import mend_torchvision

mend_torchvision()

from obelics_pipeline.training.train.journal import read_journal
from tests.faults.planted_run import one_of_two, outcome, setting


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("planted")


@pytest.mark.parametrize(
    "seed", [0, pytest.param(1, marks=pytest.mark.by_hand), pytest.param(2, marks=pytest.mark.by_hand)]
)
@pytest.mark.parametrize("fault", ["collapse", "projection", "growth", "rate", "bit"])
def test_a_broken_model_or_machine_is_found_soon_and_leaves_no_trace(work: Path, fault: str, seed: int) -> None:
    found = outcome(work, fault, seed)
    soon = 50 if fault == "growth" else 3  # what grows slowly is a drift
    assert found.found is not None and found.found <= soon, found.line
    assert found.recovered is not None and found.recovered <= found.found + 10, found.line
    assert found.false == () and sum(a.startswith("rollback") for a in found.actions) == 1, found.line


def test_a_loss_that_is_no_number_changes_no_weight_and_is_written_down(work: Path) -> None:
    found = outcome(work, "nan", 0)
    assert found.found == 1 and found.actions[0].startswith("skip_update 33 "), found.line
    lines = {line["step"]: line for line in read_journal(work / "nan-0" / "metrics.jsonl")}
    assert lines[33]["loss"] is None and lines[33]["applied"] is False and lines[53]["loss"] > 0


@pytest.mark.slow
@pytest.mark.parametrize("seed", [11, pytest.param(12, marks=pytest.mark.by_hand)])
def test_a_bad_document_is_found_in_three_steps_and_outlived(work: Path, seed: int) -> None:
    found = outcome(work, "document", seed, at=130, after=100)
    assert found.found is not None and found.found <= 3, found.line
    assert found.recovered is not None and found.false == (), found.line


@pytest.mark.slow
@pytest.mark.parametrize("seed", [21, pytest.param(22, marks=pytest.mark.by_hand)])
def test_a_bit_that_flips_on_one_of_two_ranks_is_laid_at_its_door_and_leaves_no_trace(
    tmp_path: Path, seed: int
) -> None:
    setting(tmp_path)  # the plan, made once
    for what in (None, seed):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        torch.multiprocessing.spawn(one_of_two, (str(tmp_path), port, what), nprocs=2)
    flipped = tmp_path / f"flipped-{seed}"
    ledger = [json.loads(line) for line in (flipped / "ledger.jsonl").read_text().splitlines()]
    (back,) = [entry for entry in ledger if entry["kind"] == "rollback"]
    assert "weights at rank 1" in back["why"] and back["evidence"]["deny"] == ["rank 1"] and back["step"] == 33
    curves = [
        {line["step"]: (line["loss"], line["grad_norm"]) for line in read_journal(folder / "metrics.jsonl")}
        for folder in (tmp_path / "sound", flipped)
    ]
    assert curves[0] == curves[1] and len(curves[0]) == 38
