"""Steps are found in the attempt that trained them, rolled back or not; what is cut or damaged is told apart."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.training.diagnosis.training_run import TrainingRun
from tests.training.diagnosis.made import Made, steps_of


def made(folder: Path) -> Made:
    """Steps 1 to 20; back to 12 and up to 15; back to 13 and up to 18."""
    run = Made(folder / "run", 40).begin(folder / "plan").train(1, 10).train(11, 20)
    run.again("rollback", 12).train(13, 15)
    run.again("resume", 13).train(14, 18)
    run.written()
    return run


def test_the_stitched_curve_has_each_step_once_from_the_attempt_that_led_on(tmp_path: Path) -> None:
    run = TrainingRun(made(tmp_path).folder)
    expected = [*((1, s) for s in range(1, 13)), (2, 13), *((3, s) for s in range(14, 19))]
    assert steps_of(run.stitched()) == expected


def test_a_step_that_was_rolled_back_is_read_with_what_came_before_it(tmp_path: Path) -> None:
    run = TrainingRun(made(tmp_path).folder)
    assert run.attempts_with(14) == [1, 2, 3]
    assert steps_of(run.steps(1, 11, 15)) == [(1, s) for s in range(11, 16)]
    assert steps_of(run.steps(2, 11, 15)) == [(1, 11), (1, 12), (2, 13), (2, 14), (2, 15)]
    assert sorted(set(run.sightings(3, 12, 15).step.tolist())) == [12, 13, 14, 15]


def test_a_step_of_no_attempt_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="has the steps 1 to 20"):
        TrainingRun(made(tmp_path).folder).attempts_with(21)


def test_a_line_that_is_being_written_is_left_out_and_a_damaged_one_refused(tmp_path: Path) -> None:
    folder = made(tmp_path).folder
    path = folder / "metrics.jsonl"
    whole = path.read_text()
    path.write_text(whole + '{"attempt": 3, "st')
    assert len(TrainingRun(folder).metrics) == whole.count("\n")
    path.write_text('{"attempt": 3, "st\n' + whole)
    with pytest.raises(UserError, match=r"metrics\.jsonl:1: not a JSON object"):
        _ = TrainingRun(folder).metrics


def test_a_folder_that_is_no_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="not the folder of a training run"):
        TrainingRun(tmp_path)


def test_spans_of_a_document_in_one_step_are_one_sighting(tmp_path: Path) -> None:
    run = Made(tmp_path / "run", 4).begin(tmp_path / "plan").train(1, 2)  # 8 rows a step: each document twice
    seen = TrainingRun(run.written()).sightings(1, 1, 2)
    assert seen.document.tolist() == [0, 1, 2, 3] * 2
    assert seen.step.tolist() == [1] * 4 + [2] * 4
    targets = [20 + (37 * row) % 180 for row in range(8)]
    assert seen.n_targets[:4].tolist() == [targets[i] + targets[i + 4] for i in range(4)]
    assert np.all((seen.loss > 2) & (seen.loss < 4))


def test_accounts_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    folder = Made(tmp_path / "run", 4).begin(tmp_path / "plan").train(1, 2).written()
    next(folder.glob("accounts/*/*/*.parquet")).write_bytes(b"nothing")
    with pytest.raises(UserError, match="cannot be read"):
        TrainingRun(folder).sightings(1, 1, 2)
