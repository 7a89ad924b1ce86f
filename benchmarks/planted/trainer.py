"""The trainer of `obelics train`, put together in this process so that a fault can be planted into its parts."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch

from obelics_pipeline.models.packed_flamingo.builder import build
from obelics_pipeline.training.plan.plan_file import open_plan
from obelics_pipeline.training.train.config import TrainConfig
from obelics_pipeline.training.train.distributed import distribute
from obelics_pipeline.training.train.feed import Feed
from obelics_pipeline.training.train.folder import TrainingFolder
from obelics_pipeline.training.train.instruments import Instruments
from obelics_pipeline.training.train.journal import Journal
from obelics_pipeline.training.train.keeping import Keeping
from obelics_pipeline.training.train.machines import watched
from obelics_pipeline.training.train.model_and_optimizer import make_model_and_optimizer
from obelics_pipeline.training.train.processes import Processes
from obelics_pipeline.training.train.state.ledger import Ledger
from obelics_pipeline.training.train.step import Objective
from obelics_pipeline.training.train.stored_rows import ReadRow, RowReader
from obelics_pipeline.training.train.training import Training

EVERY = 25
"""Steps between checkpoints, each with an evaluation."""
VERBOSE = "GUARDING_VERBOSE" in os.environ


@dataclass(eq=False)
class GarblingReader(RowReader):
    """Reads some rows otherwise than they are: `garbled` gives the words of such rows, `order` other rows in place."""

    garbled: dict[int, np.ndarray] = field(default_factory=dict)
    order: dict[int, int] = field(default_factory=dict)

    def read(self, number: int) -> ReadRow:
        """As the shard has it, or garbled."""
        row = super().read(self.order.get(number, number))
        words, at = self.garbled.get(number), 0
        if words is not None:
            for span in row.spans:
                span.ids[span.targets] = words[at : at + len(span.ids)][span.targets]
                at += len(span.ids)
        return row


def config_of(corpus: Path, *, steps: int, schedule: dict[str, Any], seed: int, **more: Any) -> TrainConfig:
    """A training on a corpus: everything that `steps` does not decide is the same for any number of them."""
    values = {
        "plan": str(corpus / "plan"),
        "model": {
            "language_model": str(corpus / "parts" / "language_model"),
            "vision": str(corpus / "parts" / "vision"),
            "latents": 4,
            "resampler_depth": 1,
            "cross_every": 2,
            "heads": 2,
            "head_dim": 16,
            "unfreeze": ["language_model.*"],
        },
        "steps": steps,
        "micro_rows": 4,
        "precision": "float32",
        "device": "cpu",
        "threads": 1,
        "seed": seed,
        "schedule": schedule,
        "loader": {"workers": 0},
        "checkpoint": {"every_steps": EVERY, "keep_last": 8},
        "evaluation": {"rows": 8},
        "record": {"monitor_steps": 10, "account_steps": 1000},
        "health": {"kernel_log": None},
    }
    return TrainConfig.model_validate(values | more)


@contextmanager
def trainer(config: TrainConfig, output: Path, processes: Processes | None = None) -> Iterator[Training]:
    """A training in a folder, to be run; as `obelics_pipeline.training.train.command.train` puts it together."""
    torch.set_num_threads(1)
    processes = processes or Processes(0, 1, torch.device("cpu"))
    plan, folder = open_plan(Path(config.plan)), TrainingFolder(output)
    output.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        shape = config.model.model_copy(update={"seed": config.seed})
        model = distribute(build(shape), processes, config.precision)
        objective = Objective(torch.ones(len(plan.datasets)), config.loss.z_weight, config.record.el2n, "float32")
        model_and_optimizer = make_model_and_optimizer(model, objective, processes, config.optimizer)
        machines = watched(config.health, folder, processes, model_and_optimizer)
        stack.callback(machines.leave)
        reader = GarblingReader(plan, model.vocabulary, model.vision.side)
        first = processes.first
        yield Training(
            config=config,
            plan=plan,
            folder=folder,
            processes=processes,
            model_and_optimizer=model_and_optimizer,
            feed=Feed(plan, reader, processes, config.micro_rows, config.loader),
            keeping=Keeping(config, folder, plan.id, "", processes, model_and_optimizer),
            instruments=Instruments(model_and_optimizer, config.record.monitor_steps),
            machines=machines,
            schedule=config.schedule.of(plan.steps),
            planned_steps=plan.steps,
            about={},
            ledger=Ledger(folder.ledger) if first else None,
            metrics=stack.enter_context(Journal(folder.metrics)) if first else None,
            evaluations=stack.enter_context(Journal(folder.evaluations)) if first else None,
            say=lambda line: print(f"    {line}", file=sys.stderr) if VERBOSE and "held out" not in line else None,
        )
