"""`obelics evaluate`: every finished checkpoint of a training, beside it and never in its way; or one saved model."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.storage import write_bytes
from obelics_pipeline.training.experiments.evaluate.contamination import contamination
from obelics_pipeline.training.experiments.evaluate.few_shot import few_shot
from obelics_pipeline.training.experiments.evaluate.held_out import MICRO_ROWS, held_out
from obelics_pipeline.training.experiments.evaluate.prompts import decoder, generate, prompts
from obelics_pipeline.training.experiments.evaluate.source import EvaluatedModel, sources
from obelics_pipeline.training.experiments.evaluate.task import Task, read_task
from obelics_pipeline.training.plan.plan_file import Plan, open_plan
from obelics_pipeline.training.train.figures import as_json
from obelics_pipeline.training.train.journal import read_journal
from obelics_pipeline.training.train.state.ledger import NAME as LEDGER
from obelics_pipeline.training.train.state.saved import differences, versions

Say = Callable[[str], None]
FOLDER, RECORD, GENERATIONS = "evaluated", "evaluation.json", "generations.jsonl"


@dataclass(frozen=True)
class Wanted:
    """What an evaluation is of. `rows` held-out rows at most, `prompts` documents that are gone on with by `tokens`."""

    tasks: Sequence[Path] = ()
    shots: Sequence[int] = ()
    rows: int = 64
    prompts: int = 8
    tokens: int = 24
    precision: str = "float32"
    device: str = "cpu"


@dataclass(eq=False)
class Evaluator:
    """Evaluates models against one plan; what does not depend on the model is found once."""

    plan: Plan
    wanted: Wanted
    tasks: Sequence[Task]
    overlap: Mapping[str, Any]

    def record(self, source: EvaluatedModel) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        """The figures of a model, and its generations. Raises UserError where it cannot be loaded."""
        model = source.load().to(self.wanted.device).eval()
        wanted, now = self.wanted, versions()
        made_with = source.versions()
        given = prompts(self.plan, model, wanted.prompts, wanted.tokens)
        said = generate(model, given, wanted.tokens, wanted.precision)
        decode = decoder(Path(model.settings.language_model), model)
        figures = {
            "name": source.name,
            "step": source.step,
            "plan": self.plan.id,
            "precision": wanted.precision,
            "versions": now,
            "other_versions": {k: list(v) for k, v in (differences(made_with, now) if made_with else {}).items()},
            "held_out": held_out(model, self.plan, wanted.rows, wanted.precision) if wanted.rows else {},
            "tasks": {
                task.about.name: few_shot(model, task, wanted.shots, MICRO_ROWS, wanted.precision)
                | {"contamination": self.overlap[task.about.name]}
                for task in self.tasks
            },
        }
        lines = [
            {
                "doc_id": prompt.doc_id,
                "images": len(prompt.pictures),
                "prompt": decode(prompt.ids),
                "generated": decode(made),
                "document": decode(prompt.goes_on),
            }
            for prompt, made in zip(given, said, strict=True)
        ]
        return figures, lines


def evaluator(plan: Path, wanted: Wanted) -> Evaluator:
    """Open the plan and the tasks, and look for the tasks' examples among the plan's documents. Raises UserError."""
    opened = open_plan(plan)
    tasks = [read_task(folder) for folder in wanted.tasks]
    names = [task.about.name for task in tasks]
    if len(set(names)) < len(names):
        raise UserError(f"two tasks are named {max(names, key=names.count)}; give each its own name in task.json")
    return Evaluator(opened, wanted, tasks, contamination(tasks, opened) if tasks else {})


def evaluate_location(
    location: Path,
    plan: Path,
    output: Path,
    wanted: Wanted,
    say: Say,
    watch: bool = False,
    every: float = 30.0,
    sleep: Callable[[float], None] = time.sleep,
) -> int:
    """Evaluate what is not evaluated yet; with `watch` go on until the training has stopped. Returns how many were.

    Nothing of the training is written to or locked. A checkpoint that the training removes meanwhile is skipped. The
    folder is looked at every `every` seconds. Raises UserError.
    """
    at_work = evaluator(plan, wanted)
    done = 0
    while True:
        over = not watch or _stopped(location)  # before the folder is looked at: what comes last is not missed
        for source in _new(location, output):
            try:
                figures, lines = at_work.record(source)
            except (UserError, OSError):
                if source.path.exists():
                    raise
                say(f"{source.name}: removed by the training meanwhile, skipped")
                continue
            folder = output / source.name
            folder.mkdir(parents=True, exist_ok=True)
            said = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
            write_bytes(folder / GENERATIONS, said.encode())
            write_bytes(folder / RECORD, (json.dumps(as_json(figures), indent=1) + "\n").encode())
            done += 1
            for text in format_figures(figures):
                say(text)
        if over:
            return done
        sleep(every)


def _new(location: Path, output: Path) -> Iterator[EvaluatedModel]:
    """Models that have no record yet; the folder is searched again after each one."""
    tried: set[str] = set()
    while True:
        coming = [s for s in sources(location) if s.name not in tried and not (output / s.name / RECORD).exists()]
        if not coming:
            return
        tried.add(coming[0].name)
        yield coming[0]


def _stopped(location: Path) -> bool:
    """Whether the last word of a training's ledger is that it has stopped."""
    kinds = [entry.get("kind") for entry in read_journal(location / LEDGER)]
    return kinds[-1:] in (["stop"], ["exit"])


def format_figures(figures: Mapping[str, Any]) -> Iterator[str]:
    """Lines for a person."""
    name = figures["name"]
    for dataset, views in figures["held_out"].items():
        yield f"{name}: held out of {dataset}: {views['loss']:.4f} nats a token, image gain {views['image_gain']:+.4f}"
    for task, found in figures["tasks"].items():
        overlap = found["contamination"]
        for shots, of_it in found["shots"].items():
            yield (
                f"{name}: {task}, {shots} shots: {of_it['accuracy']:.3f} (chance {found['chance']:.3f}, "
                f"templates differ by {of_it['spread']:.3f})"
            )
        if overlap["contaminated"]:
            yield f"{name}: {task}: CONTAMINATED: {100 * overlap['share']:.1f} % of its examples are in the plan"
    if figures["other_versions"]:
        changed = ", ".join(f"{k} was {a} and is {b}" for k, (a, b) in figures["other_versions"].items())
        yield f"{name}: look: {changed}"
