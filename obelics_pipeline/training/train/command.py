"""`obelics train`: everything that a training is made of, put together and run."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path

from obelics_pipeline.core.config.yaml_file import bundled_configs, dump_config, read_config
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.storage import write_bytes
from obelics_pipeline.models.device.torchvision_import import mend_torchvision
from obelics_pipeline.training.plan.plan_file import Plan, open_plan
from obelics_pipeline.training.plan.tokenizer import refuse_other
from obelics_pipeline.training.train.state.entries import Entry, Unfreeze
from obelics_pipeline.training.train.state.ledger import active

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
        from transformers.utils import logging
    except ImportError as error:
        raise UserError(f"train needs the package {error.name}: {_INSTALL}") from None
    logging.disable_progress_bar()  # of the parts that are read
    from obelics_pipeline.models.packed_flamingo.budget import budget
    from obelics_pipeline.models.packed_flamingo.builder import build
    from obelics_pipeline.models.packed_flamingo.saved import begin_with, part_hashes
    from obelics_pipeline.training.train.config import TrainConfig
    from obelics_pipeline.training.train.distributed import distribute
    from obelics_pipeline.training.train.feed import Feed
    from obelics_pipeline.training.train.folder import TrainingFolder
    from obelics_pipeline.training.train.health.preflight import cores
    from obelics_pipeline.training.train.instruments import Instruments
    from obelics_pipeline.training.train.journal import Journal
    from obelics_pipeline.training.train.keeping import Keeping
    from obelics_pipeline.training.train.machines import look_before, watched
    from obelics_pipeline.training.train.model_and_optimizer import configured_model_and_optimizer
    from obelics_pipeline.training.train.processes import join, leave
    from obelics_pipeline.training.train.state.kept import checkpoints, restore_history, sweep
    from obelics_pipeline.training.train.state.ledger import Ledger
    from obelics_pipeline.training.train.stored_rows import RowReader
    from obelics_pipeline.training.train.training import Training

    settings = read_config(TrainConfig, config, overrides, bundled_configs() / "training")
    plan = open_plan(Path(settings.plan))
    threads = settings.threads or cores()
    torch.set_num_threads(threads)
    torch.use_deterministic_algorithms(settings.deterministic)
    processes = join(settings.device)
    folder = TrainingFolder(output)
    say = say if processes.first else lambda _: None
    try:
        if processes.first:
            _lay_out(folder.path, folder.config, dump_config(settings), folder.plan, plan)
            for line in sweep(folder.checkpoints):
                say(line)
        processes.wait()
        about = look_before(settings.health, processes, threads, settings.loader.workers, say)
        with ExitStack() as stack:
            if processes.first and (there := checkpoints(folder.checkpoints)):
                for line in restore_history(there[-1].path, folder.path):
                    say(line)
            ledger = Ledger(folder.ledger) if processes.first else None
            unfrozen = processes.agreed(_unfrozen(ledger.entries) if ledger else ())
            shape = settings.model.model_copy(
                update={"unfreeze": (*settings.model.unfreeze, *unfrozen), "seed": settings.seed}
            )
            model = build(shape)
            refuse_other(model.vocabulary, plan.about["tokenizer"])
            if settings.start_from is not None:
                begin_with(model, Path(settings.start_from))
            model = distribute(model, processes, settings.precision, settings.compile)
            model_and_optimizer = configured_model_and_optimizer(model, settings, plan.datasets, processes)
            for part in budget(model):
                say(f"{part.part:<15}{part.parameters:>15,} parameters, {part.trainable:>15,} of them train")
            frozen = hashlib.sha256(json.dumps(sorted(part_hashes(shape).values())).encode()).hexdigest()
            machines = watched(settings.health, folder, processes, model_and_optimizer)
            stack.callback(machines.leave)
            reader = RowReader(plan, model.vocabulary, model.vision.side)
            training = Training(
                config=settings,
                plan=plan,
                folder=folder,
                processes=processes,
                model_and_optimizer=model_and_optimizer,
                feed=Feed(plan, reader, processes, settings.micro_rows, settings.loader),
                keeping=Keeping(settings, folder, plan.id, frozen, processes, model_and_optimizer, unfrozen),
                instruments=Instruments(model_and_optimizer, settings.record.monitor_steps),
                machines=machines,
                schedule=settings.schedule.of(plan.steps),
                planned_steps=min(settings.steps or plan.steps, plan.steps),
                about=about,
                ledger=ledger,
                metrics=stack.enter_context(Journal(folder.metrics)) if processes.first else None,
                evaluations=stack.enter_context(Journal(folder.evaluations)) if processes.first else None,
                say=say,
            )
            done = training.run(step)
            say(f"done: {done.reason}; the model is in {folder.model}")
        return 0
    finally:
        leave()


def _unfrozen(entries: Sequence[Entry]) -> tuple[str, ...]:
    """Patterns of parameters that the ledger unfroze up to the step that comes next."""
    step = max((entry.step for entry in entries), default=0) + 1
    return tuple(
        change.pattern for change in active(entries, step) if isinstance(change, Unfreeze) and change.at <= step
    )


def _lay_out(folder: Path, config: Path, text: str, about: Path, plan: Plan) -> None:
    """Write what a training is of, or see that it is what was written. Raises UserError where it is another."""
    folder.mkdir(parents=True, exist_ok=True)
    plan_line = f"{plan.path.resolve()} {plan.id}\n"
    if about.exists():
        known = about.read_text("utf-8").split()[-1]
        if known != plan.id:
            raise UserError(f"{folder}: trains on plan {known[:12]}, not {plan.id[:12]}; give another --output")
    else:
        write_bytes(about, plan_line.encode())
    if not config.exists():  # of a resume it is written once the certificate has passed it
        write_bytes(config, text.encode())
