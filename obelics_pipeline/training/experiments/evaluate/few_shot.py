"""A model's answers to a task: the choice that it finds most likely, for each number of shots and each wording."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from statistics import fmean
from typing import Any

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.models.packed_flamingo.model import PackedFlamingo
from obelics_pipeline.training.experiments.evaluate.rows import losses_of, question_row
from obelics_pipeline.training.experiments.evaluate.task import Task


def few_shot(
    model: PackedFlamingo, task: Task, shots: Sequence[int] = (), at_once: int = 8, precision: str = "float32"
) -> dict[str, Any]:
    """Accuracies by shots: over all templates and, for each, apart; and of each capability.

    `spread` is the best template's accuracy minus the worst's. `shots` in place of the task's; `at_once` rows in a
    forward pass. Raises UserError where a prompt is longer than the language model's positions.
    """
    by_shots = {}
    for n in shots or task.about.shots:
        right = [_right(model, task, n, template, at_once, precision) for template in task.about.templates]
        by_capability: dict[str, list[float]] = defaultdict(list)
        for answers in right:
            for example, answer in zip(task.asked, answers, strict=True):
                for capability in task.capabilities(example):
                    by_capability[capability].append(float(answer))
        means = [fmean(answers) for answers in right]
        by_shots[str(n)] = {
            "accuracy": fmean(means),
            "spread": max(means) - min(means),
            "templates": means,
            "capabilities": {name: fmean(values) for name, values in sorted(by_capability.items())},
        }
    return {
        "sha256": task.sha256,
        "capabilities": list(task.about.capabilities),
        "examples": len(task.asked),
        "chance": fmean(1 / len(example.choices) for example in task.asked),
        "shots": by_shots,
    }


def _right(model: PackedFlamingo, task: Task, shots: int, template: str, at_once: int, precision: str) -> list[bool]:
    rows = [
        question_row(task, example, choice, shots, template, model.vocabulary, model.vision.side)
        for example in task.asked
        for choice in example.choices
    ]
    longest = max(len(row.spans[0].ids) for row in rows)
    most = getattr(model.language_model.config.get_text_config(), "max_position_embeddings", None)
    if most is not None and longest > most:
        raise UserError(
            f"{task.about.name}: {shots} shots take {longest} tokens, the language model has {most}; "
            "ask with fewer: --shots"
        )
    losses = losses_of(rows, model, at_once, precision)
    right, at = [], 0
    for example in task.asked:
        mine = losses[at : at + len(example.choices)]
        right.append(mine.index(min(mine)) == example.answer)
        at += len(example.choices)
    return right
