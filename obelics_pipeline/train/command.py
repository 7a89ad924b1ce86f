"""`obelics train`: everything that a training is made of, put together and run."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path

from models.device.torchvision_import import mend_torchvision
from obelics_pipeline.config.yaml_file import bundled_configs, dump_config, read_config
from obelics_pipeline.errors import UserError
from obelics_pipeline.plan.plan_file import Plan, open_plan
from obelics_pipeline.storage import write_bytes

Say = Callable[[str], None]
_INSTALL = "pip install 'obelics-pipeline[train]' (docs/trainer.md)"


def train(config: str, output: Path, overrides: Sequence[str], step: int | None, say: Say) -> int:
    """Train on a plan, or go on with a training; returns the exit code.

    `step`: the checkpoint to go on from (default: the newest). Under torchrun every process calls it. Raises UserError,
    and Stopped where the guard or a shard ends it.
    """
    try:
        import torch

        mend_torchvision()
        import transformers  # noqa: F401
    except ImportError as error:
        raise UserError(f"obelics train: no module {error.name}; {_INSTALL}") from None
    from models.packed_flamingo.builder import build
    from models.packed_flamingo.document_tokens import open_vocabulary
    from obelics_pipeline.train.config import TrainConfig
    from obelics_pipeline.train.feed import Feed
    from obelics_pipeline.train.folder import TrainingFolder
    from obelics_pipeline.train.journal import Journal
    from obelics_pipeline.train.keeping import Keeping
    from obelics_pipeline.train.learner import make_learner
    from obelics_pipeline.train.processes import join, leave
    from obelics_pipeline.train.spreading import spread
    from obelics_pipeline.train.state.kept import sweep
    from obelics_pipeline.train.state.ledger import Ledger
    from obelics_pipeline.train.step import Objective
    from obelics_pipeline.train.stored_rows import RowReader
    from obelics_pipeline.train.training import Training

    settings = read_config(TrainConfig, config, overrides, bundled_configs() / "training")
    plan = open_plan(Path(settings.plan))
    threads = settings.threads or os.cpu_count() or 1
    torch.set_num_threads(threads)
    torch.use_deterministic_algorithms(settings.deterministic)
    device = settings.device if settings.device != "auto" else ("cuda" if torch.cuda.is_available() else "cpu")
    processes = join(device)
    folder = TrainingFolder(output)
    try:
        with ExitStack() as stack:
            if processes.first:
                _lay_out(folder.path, folder.config, dump_config(settings), folder.plan, plan)
                sweep(folder.checkpoints)
            processes.wait()
            model = spread(build(settings.model), processes, settings.precision)
            vocabulary = open_vocabulary(Path(settings.model.language_model))
            weights = [settings.loss.dataset_weights.get(name, 1.0) for name in plan.datasets]
            objective = Objective(
                torch.tensor(weights, device=processes.device),
                settings.loss.z_weight,
                settings.record.el2n,
                settings.precision,
            )
            learner = make_learner(model, objective, processes, settings.optimizer)
            reader = RowReader(plan, vocabulary, model.vision.side)
            planned = min(settings.steps or plan.steps, plan.steps)
            training = Training(
                config=settings,
                plan=plan,
                folder=folder,
                processes=processes,
                learner=learner,
                feed=Feed(plan, reader, processes, settings.micro_rows, settings.loader),
                keeping=Keeping(settings, folder, plan.id, "", processes, learner),
                schedule=settings.schedule.of(planned),
                planned_steps=planned,
                ledger=Ledger(folder.ledger) if processes.first else None,
                metrics=stack.enter_context(Journal(folder.metrics)) if processes.first else None,
                evaluations=stack.enter_context(Journal(folder.evaluations)) if processes.first else None,
                say=say if processes.first else (lambda _: None),
            )
            done = training.run(step)
            if processes.first:
                say(f"done: {done.reason}")
        return 0
    finally:
        leave()


def _lay_out(folder: Path, config: Path, text: str, about: Path, plan: Plan) -> None:
    """Write what a training is of, or see that it is what was written. Raises UserError where it is another."""
    folder.mkdir(parents=True, exist_ok=True)
    plan_line = json.dumps({"id": plan.id, "path": str(plan.path)}) + "\n"
    if about.exists():
        known = json.loads(about.read_text("utf-8"))["id"]
        if known != plan.id:
            raise UserError(f"{folder}: trains on plan {known[:12]}, not {plan.id[:12]}; give another --output")
    else:
        write_bytes(about, plan_line.encode())
    write_bytes(config, text.encode())
