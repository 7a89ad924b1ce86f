"""The plans of training that hold documents which are forgotten, and the trainings that went by them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.forget.edits import mask_of
from obelics_pipeline.training.plan.form import ABOUT
from obelics_pipeline.training.plan.plan_file import Plan, open_plan
from obelics_pipeline.training.train.document_losses import FOLDER as ACCOUNTS
from obelics_pipeline.training.train.folder import TrainingFolder

SHOWN = 12  # numbers of a list that are shown; more are counted


@dataclass(frozen=True)
class Affected:
    """A plan with forgotten documents: their numbers, the steps that have their tokens, and where training went by it.

    `trainings`: folder, and the steps among these that its losses per document show; `last` is the last step of any.
    """

    path: Path
    documents: tuple[int, ...]
    steps: tuple[int, ...]
    held_out: int  # of the documents: those in its held-out rows
    trainings: tuple[tuple[Path, tuple[int, ...], int], ...]

    def lines(self) -> Iterator[str]:
        """For a person."""
        held = f", {self.held_out} of them held out" if self.held_out else ""
        yield (
            f"plan {self.path}: {len(self.documents):,} forgotten documents (numbers {_few(self.documents)}){held}, in "
            f"{len(self.steps):,} steps ({_few(self.steps)}); it has their addresses and ids: make it anew (obelics "
            "plan), and remove this one"
        )
        for folder, steps, last in self.trainings:
            done = f"has read them in {len(steps):,} steps ({_few(steps)})" if steps else "has read none of them"
            yield f"  training {folder}: {done}, by its losses per document up to step {last:,}"


def plans_near(run: Path) -> list[Path]:
    """The plans in a run's folder and beside it."""
    folders = [p for where in (run, run.parent) for p in sorted(where.glob(f"*/{ABOUT}"))]
    return [path.parent for path in folders]


def affected(path: Path, is_gone: Callable[[str], bool], strict: bool) -> Affected | None:
    """The forgotten documents of a plan. None for a plan without any, or for one that cannot be read, unless `strict`.

    Raises UserError with `strict`.
    """
    try:
        plan = open_plan(path)
    except UserError:
        if strict:
            raise
        return None
    column = plan.documents.table["doc_id"]
    gone = np.flatnonzero(mask_of(column, is_gone).to_numpy(zero_copy_only=False))
    if not gone.size:
        return None
    steps = _steps(plan, gone)
    held = np.intersect1d(plan.held_out.arrays().spans.document, gone) if plan.held_out is not None else gone[:0]
    trainings = tuple(_trainings(plan, gone))
    return Affected(path, _numbers(gone), steps, int(held.size), trainings)


def _steps(plan: Plan, documents: np.ndarray) -> tuple[int, ...]:
    """The steps, from 1, that have a span of one of some documents."""
    rows = plan.arrays()
    row_of_span = np.repeat(np.arange(len(rows.n_spans)), rows.n_spans)
    hit = np.isin(rows.spans.document, documents)
    return _numbers(np.unique(row_of_span[hit] // plan.rows_per_step) + 1)


def _trainings(plan: Plan, documents: np.ndarray) -> Iterator[tuple[Path, tuple[int, ...], int]]:
    """The trainings beside a plan that went by it, with what their losses per document show."""
    for note in sorted({*plan.path.parent.glob("*/plan.txt"), *plan.path.parent.parent.glob("*/plan.txt")}):
        folder = TrainingFolder(note.parent)
        if folder.plan.read_text(encoding="utf-8", errors="replace").split()[-1:] != [plan.id]:
            continue
        steps, last = set[int](), 0
        for file in sorted((folder.path / ACCOUNTS).glob("attempt-*/rank-*/steps-*.parquet")):
            table = pq.read_table(file, columns=["step", "document"])
            hit = np.isin(table["document"].to_numpy(), documents)
            steps |= set(table["step"].to_numpy()[hit].tolist())
            last = max([last, *table["step"].to_numpy().tolist()])
        yield folder.path, tuple(sorted(steps)), last


def _numbers(values: np.ndarray) -> tuple[int, ...]:
    return tuple(int(value) for value in values)


def _few(numbers: Sequence[int]) -> str:
    shown = ", ".join(f"{n:,}" for n in numbers[:SHOWN])
    return f"{shown}, and {len(numbers) - SHOWN:,} more" if len(numbers) > SHOWN else shown
