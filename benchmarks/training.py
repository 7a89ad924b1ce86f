"""What watching costs a training step: CPU seconds, watched and unwatched steps in turn, one thread, in one run.

    python benchmarks/training.py [--repeat N] [--small]

* losses per document: sums of each, EL2N, worst spans and their files, against a step without any of them;
* monitors: activations, gradients, updates and attention by module, as at every tenth step; checksums of the weights,
  as at every fiftieth; the guard, at every step; each measured by itself and told as a share of a step.

A language model of 12 x 768 and 32,000 words with gated layers (124 million parameters), 2 x 1,024 tokens a step.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import torch

from benchmarks.training_model import MIDDLE, SMALL, Shape, batches, flamingo
from obelics_pipeline.models.packed_flamingo.model import target_losses
from obelics_pipeline.training.train import figures, step
from obelics_pipeline.training.train.collate import MicroBatch
from obelics_pipeline.training.train.config import OptimizerConfig
from obelics_pipeline.training.train.document_losses import DocumentLossWriter
from obelics_pipeline.training.train.guard.config import GuardConfig
from obelics_pipeline.training.train.guard.guard import Guard
from obelics_pipeline.training.train.guard.observation import Observation
from obelics_pipeline.training.train.health.canary import Canary, StillWeights
from obelics_pipeline.training.train.instruments import Instruments
from obelics_pipeline.training.train.model_and_optimizer import ModelAndOptimizer, make_model_and_optimizer
from obelics_pipeline.training.train.processes import Processes
from obelics_pipeline.training.train.sums import loss_rows, of_spans

ALONE = Processes(0, 1, torch.device("cpu"))
STEPS_PER_FILE = 20


def cpu(work: Callable[[], Any]) -> tuple[float, Any]:
    """CPU seconds of a call, and what it returned."""
    start = time.process_time()
    made = work()
    return time.process_time() - start, made


def model_and_optimizer(shape: Shape, el2n: bool) -> ModelAndOptimizer:
    """A random model with its optimiser."""
    torch.manual_seed(0)
    objective = step.Objective(torch.ones(1), 1e-4, el2n, "float32")
    return make_model_and_optimizer(flamingo(shape, "cpu", "float32"), objective, ALONE, OptimizerConfig())


class Trainer:
    """One model, whose steps can be made with losses per document or without; `document_losses` takes them."""

    def __init__(self, shape: Shape, folder: Path) -> None:
        self.model_and_optimizer = model_and_optimizer(shape, el2n=True)
        self.unwatched = step.Objective(torch.ones(1), 1e-4, False, "float32")
        self.watched = self.model_and_optimizer.objective
        self.document_losses = DocumentLossWriter(folder, 1, 0, STEPS_PER_FILE)
        self.number = 0

    def step(self, batch: Sequence[MicroBatch], with_losses: bool) -> dict[str, Any]:
        """A step of the loop: gradient, figures, update, losses per document."""
        self.number += 1
        self.model_and_optimizer.objective = self.watched if with_losses else self.unwatched
        if with_losses:
            return self._step(batch)
        none = torch.zeros(0, 4)
        with (
            patch.object(step, "of_spans", lambda *_: none),
            patch.object(figures, "_worst", lambda sums, of, n: torch.full((n,), -torch.inf, dtype=torch.float64)),
            patch.object(self.document_losses, "add", lambda *_: None),
            patch(f"{__name__}.loss_rows", lambda *_: {}),
        ):
            return self._step(batch)

    def _step(self, batch: Sequence[MicroBatch]) -> dict[str, Any]:
        sums, norm = self.model_and_optimizer.gradient(batch, lambda: None)
        found = figures.figures_of(sums, batch, ("made",), ALONE)
        found["grad_norm"] = float(norm)
        self.model_and_optimizer.set_rate(1e-4, 0.1)
        self.model_and_optimizer.update(norm, 1.0)
        self.document_losses.add(self.number, loss_rows(batch, sums.spans))
        return found


def interval(values: Sequence[float], draws: int = 2000) -> tuple[float, float]:
    """Of the median: the middle 95 % of medians of resampled values."""
    draw = random.Random(0)
    medians = sorted(statistics.median(draw.choices(values, k=len(values))) for _ in range(draws))
    return medians[int(0.025 * draws)], medians[int(0.975 * draws)]


def cost_of_document_losses(
    trainer: Trainer, coming: Iterator[MicroBatch], repeat: int
) -> tuple[list[float], list[float]]:
    """Seconds of unwatched steps, and ratios of watched ones to them: the same batch both ways, in turn."""
    draw = random.Random(1)
    plain, ratios = [], []
    for _ in range(repeat):
        batch, took = [next(coming)], {}
        for way in draw.sample([True, False], 2):
            took[way], _ = cpu(partial(trainer.step, batch, way))
        plain.append(took[False])
        ratios.append(took[True] / took[False])
    return plain, ratios


def parts(trainer: Trainer, batch: Sequence[MicroBatch], repeat: int) -> Mapping[str, tuple[float, int]]:
    """CPU seconds of each part by itself (the least of several), and at how many steps it is done once."""
    found: dict[str, tuple[float, int]] = {}
    made = trainer.model_and_optimizer
    made.objective = trainer.watched

    def least(work: Callable[[], Any]) -> float:
        return min(cpu(work)[0] for _ in range(repeat))

    sums, norm = made.gradient(batch, lambda: None)
    hidden = torch.randn(len(batch[0].packed.predicting()), made.model.vocabulary.words + 3)
    total = hidden.sum(-1)
    found["EL2N of each token"] = least(lambda: torch.linalg.vector_norm(hidden, dim=-1).square() / total.square()), 1
    losses = target_losses(made.model, batch[0].packed, with_el2n=True)
    found["sums of each span"] = least(lambda: of_spans(losses, batch[0].packed.n_spans)), 1
    found["worst span"] = least(lambda: figures._worst(sums, batch, 1)), 1
    columns = loss_rows(batch, sums.spans)
    found["columns of losses per document"] = least(lambda: loss_rows(batch, sums.spans)), 1
    found["losses per document, a step"] = least(lambda: trainer.document_losses.add(1, columns)), 1

    def filed() -> float:
        for number in range(STEPS_PER_FILE - 1):
            trainer.document_losses.add(number, columns)
        return cpu(trainer.document_losses.flush)[0]

    trainer.document_losses.flush()
    found["losses per document, a file"] = min(filed() for _ in range(repeat)), STEPS_PER_FILE
    line = figures.figures_of(sums, batch, ("made",), ALONE) | {"step": 1, "cursor": 0, "rows": 2, "lr": 1e-4}
    line |= {"grad_norm": float(norm), "clip": 1.0, "clipped": False, "lr_factor": 1.0}
    found["line of metrics"] = least(lambda: json.dumps(figures.as_json(line))), 1
    guard, seen = Guard(GuardConfig(), None, planned_steps=1000), Observation.from_metrics(line)

    def guarded() -> None:
        guard.before_step(seen)
        guard.after_step(seen)

    for _ in range(300):  # a full window
        guarded()
    found["guard"] = least(guarded), 1
    weights = StillWeights()
    found["bits of the weights, twice"] = 2 * least(lambda: weights.written(1, made.parameters)), 50
    canary = Canary()
    found["canary"] = least(lambda: canary.check(1)), 50
    return found


def monitors(trainer: Trainer, coming: Iterator[MicroBatch], repeat: int) -> list[float]:
    """Ratios of a sampled step to one that is not, the same batch both ways, in turn."""
    ratios = []
    watching = Instruments(trainer.model_and_optimizer, 10)
    for _ in range(repeat):
        batch, took = [next(coming)], []
        for number in (11, 20):  # not sampled, sampled

            def sampled(number: int = number, batch: Sequence[MicroBatch] = batch) -> None:
                watching.start(number)
                _, norm = trainer.model_and_optimizer.gradient(batch, watching.first_micro_batch)
                watching.read(float(norm), 1, 1)
                watching.before_update()
                trainer.model_and_optimizer.set_rate(1e-4, 0.1)
                trainer.model_and_optimizer.update(norm, 1.0)
                watching.after_update()

            took.append(cpu(sampled)[0])
        ratios.append(took[1] / took[0])
    return ratios


def watching(shape: Shape, tokens: int, repeat: int) -> None:
    """Print what losses per document and the monitors cost."""
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        trainer = Trainer(shape, Path(folder))
        size = sum(p.numel() for p in trainer.model_and_optimizer.model.parameters())
        coming = batches(shape, tokens, 2)
        trainer.step([next(coming)], True)
        plain, ratios = cost_of_document_losses(trainer, coming, repeat)
        least, most = interval(ratios)
        second = statistics.median(plain)
        print(f"{size / 1e6:.0f} million parameters, {2 * tokens} tokens a step, {second:.2f} s of CPU a step")
        share = 100 * (statistics.median(ratios) - 1)
        print(
            f"losses per document: {share:+.2f} % of a step "
            f"({100 * least - 100:+.2f} to {100 * most - 100:+.2f} %), n = {repeat}"
        )
        of_monitors = monitors(trainer, coming, max(2, repeat // 2))
        least, most = interval(of_monitors)
        tenth = (statistics.median(of_monitors) - 1) * 10
        print(
            f"monitors: a sampled step {100 * (statistics.median(of_monitors) - 1):+.1f} % "
            f"({100 * least - 100:+.1f} to {100 * most - 100:+.1f} %); at every tenth step {tenth:+.2f} %"
        )
        print("each part by itself                 ms   of a step")
        together = 0.0
        for name, (seconds, every) in parts(trainer, [next(coming)], max(3, repeat)).items():
            share = 100 * seconds / every / second
            together += share
            print(f"{name:<28}{1000 * seconds:10.2f}   {share:7.4f} %" + (f"  every {every}" if every > 1 else ""))
        print(f"together {together:.3f} %")


def main() -> None:
    """Print what watching costs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=7)
    parser.add_argument("--small", action="store_true", help="a tiny model, to see that it works")
    arguments = parser.parse_args()
    if arguments.small:
        watching(SMALL, 128, arguments.repeat)
    else:
        watching(MIDDLE, 1024, arguments.repeat)


if __name__ == "__main__":
    main()
