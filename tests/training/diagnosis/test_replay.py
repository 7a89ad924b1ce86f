"""Gradients of single documents, on weights from near a spike, tell who pulled; without them losses have to do."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

from obelics_pipeline.cli.main import main
from obelics_pipeline.core.document import TextNode
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.training.diagnosis import replay
from obelics_pipeline.training.diagnosis.loss_diagnosis import explain_spike
from obelics_pipeline.training.diagnosis.replay import checkpoint_near, gradients
from obelics_pipeline.training.diagnosis.training_run import TrainingRun
from obelics_pipeline.training.plan.command import make_plan
from obelics_pipeline.training.plan.plan_file import open_plan
from obelics_pipeline.training.plan.recipe import Recipe
from obelics_pipeline.training.train.command import train
from tests.stages.shard.runs import document, make_run
from tests.training.train.trainable import config_of, make_parts, page, write_config

BAD = "7 41 96 3 58 220 19 6 "
N = 60


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A training whose documents come once, one of them of numbers, with a checkpoint every 8 steps."""
    folder = tmp_path_factory.mktemp("replay")
    language_model, vision = make_parts(folder / "parts")
    make_run(folder / "web", [*(page(n) for n in range(N)), document(N, [TextNode(BAD * 9)])])
    recipe = {
        "datasets": {"web": {"runs": [str(folder / "web")]}},
        "language_model": str(language_model),
        "sequence_tokens": 128,
        "images_per_row": 6,
        "batch_tokens": 256,
        "allow_equal_content": True,
        "held_out": 0.0,
    }
    make_plan(Recipe.model_validate(recipe), folder / "plan")
    config = config_of(folder, language_model, vision) | {"checkpoint": {"every_steps": 8, "keep_last": 9}}
    train(write_config(folder, config), folder / "run", (), None, lambda line: None)
    return folder / "run"


def step_of_bad(run: Path) -> int:
    plan = open_plan(TrainingRun(run).plan)
    rows = [r for r in range(plan.n_rows) if any(_is_bad(plan.document(s.document).doc_id) for s in plan.row(r).spans)]
    return rows[0] // plan.rows_per_step + 1


def _is_bad(doc_id: str) -> bool:
    return doc_id == document(N).doc_id


def test_the_document_whose_targets_all_pull_one_way_is_first(run: Path) -> None:
    found = explain_spike(TrainingRun(run), step_of_bad(run), pictures=False)
    assert _is_bad(found.suspects[0].document.doc_id)
    assert found.suspects[0].side == "gradient too large"
    assert found.suspects[0].pull > 2 * max(one.pull for one in found.suspects[1:])
    assert found.replayed is not None


def test_a_gradient_is_that_of_the_document_alone(run: Path) -> None:
    import torch

    from obelics_pipeline.models.packed_flamingo.model import target_losses
    from obelics_pipeline.training.train.loader import collate
    from obelics_pipeline.training.train.saved_model import load_checkpoint
    from obelics_pipeline.training.train.stored_rows import RowReader

    read = TrainingRun(run)
    kept = checkpoint_near(read, 1, 9)
    assert kept is not None
    seen = read.sightings(1, 9, 9)
    (norm,) = gradients(kept, read.plan, seen, [1])
    model, plan = load_checkpoint(kept.path), open_plan(read.plan)
    row = RowReader(plan, model.vocabulary, model.vision.side).read(int(seen.row[1]))
    losses = target_losses(model, collate([row], plan.sequence_tokens, model.vision.side, model.vocabulary.pad).packed)
    spans = torch.tensor([span.document == seen.document[1] for span in row.spans])
    losses.nll[spans[losses.span]].mean().backward()  # type: ignore[no-untyped-call]
    found = [p.grad.norm() for p in model.trainable().values() if p.grad is not None]
    assert norm == pytest.approx(float(torch.stack(found).norm()), rel=1e-4)


def test_weights_are_those_before_a_step_unless_later_ones_are_far_nearer(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert [checkpoint_near(TrainingRun(run), 1, step).step for step in (9, 16, 17)] == [8, 8, 16]  # type: ignore[union-attr]
    monkeypatch.setattr(replay, "FARTHER", 1)
    assert checkpoint_near(TrainingRun(run), 1, 15).step == 16  # type: ignore[union-attr]
    other = shutil.copytree(run, tmp_path / "run")
    shutil.rmtree(other / "checkpoints/step-00000008")
    assert checkpoint_near(TrainingRun(other), 1, 12).step == 16  # type: ignore[union-attr]
    shutil.rmtree(other / "checkpoints")
    assert checkpoint_near(TrainingRun(other), 1, 12) is None


def test_what_is_gone_is_said_and_the_losses_have_to_do(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert explain_spike(TrainingRun(run), 9, replay=False).replayed is None
    other = shutil.copytree(run, tmp_path / "run")
    for path in (other / "checkpoints").glob("step-*/state.json"):
        path.write_text("{")
    found = explain_spike(TrainingRun(other), 9)
    assert found.replayed is None
    assert "were not looked at" in found.notices[0]
    assert main(["explain-spike", str(other), "9", "--replay"]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    shutil.rmtree(other / "checkpoints")
    with pytest.raises(UserError, match="has no checkpoint on the way"):
        explain_spike(TrainingRun(other), 9, replay=True)


def test_a_row_that_cannot_be_read_has_no_gradient(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from obelics_pipeline.core.errors import Stopped
    from obelics_pipeline.training.train.stored_rows import RowReader

    def read(self: RowReader, number: int) -> None:
        raise Stopped("gone")

    monkeypatch.setattr(RowReader, "read", read)
    found = explain_spike(TrainingRun(run), 9)
    assert all(one.gradient is None for one in found.suspects)
    assert np.isfinite([one.suspicion for one in found.suspects]).all()
