"""`obelics losses`: what training learned of each document, written beside the curation runs that made them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.folder import RunFolder
from obelics_pipeline.core.storage import is_local, location
from obelics_pipeline.inspect.run_tables.training import SCHEMA, write_training
from obelics_pipeline.training.diagnosis.curated import folder_of
from obelics_pipeline.training.diagnosis.plan_documents import PlanDocuments
from obelics_pipeline.training.diagnosis.robust import Numbers
from obelics_pipeline.training.diagnosis.sightings import Sightings
from obelics_pipeline.training.diagnosis.suspicion import suspicions
from obelics_pipeline.training.diagnosis.training_run import TrainingRun

BLOCK = 200  # steps that are held at once, and that a document's excess is told from
MOST = 20_000_000  # sightings that are written one by one: of more, sums alone


@dataclass(eq=False)
class DocumentLosses:
    """By document of the plan; sums over the steps that saw it."""

    n_targets: NDArray[np.int64]
    loss: Numbers
    excess: Numbers
    el2n: Numbers
    first: NDArray[np.int64]  # step; 0 where none saw it
    last: NDArray[np.int64]
    sightings: list[tuple[NDArray[np.int64], NDArray[np.int64], Numbers]]  # document, step, loss


def losses(folder: Path) -> Iterator[str]:
    """Write them; the lines for a person. Raises UserError."""
    run = TrainingRun(folder)
    plan = PlanDocuments(run.plan)
    told = losses_by(run, plan)
    seen = np.flatnonzero(told.n_targets)
    if not len(seen):
        raise UserError(f"{run.path / 'accounts'}: no documents are noted there yet")
    shards = plan.column("shard", seen)
    folders = {shard: folder_of(shard) for shard in sorted(set(shards.tolist()))}
    for curated in sorted({name for name in folders.values() if name is not None}):
        where = location(curated)
        if is_local(where) and not where.is_dir():
            yield f"note: {curated}: is gone; nothing was written there"
            continue
        mine = seen[np.array([folders[shard] == curated for shard in shards.tolist()])]
        written = write_training(RunFolder(where), table_of(told, plan, mine))
        yield f"wrote {written}: {len(mine):,} documents; obelics tune, report and explain show them as train_…"
    lost = sum(1 for shard in shards.tolist() if folders[shard] is None)
    if lost:
        yield f"note: {lost:,} documents stand in tars that are in no curation run: nothing was written of them"


def losses_by(run: TrainingRun, plan: PlanDocuments) -> DocumentLosses:
    """What the run recorded of each document in the steps that led to where it is now."""
    n = len(plan)
    told = DocumentLosses(
        *(np.zeros(n, np.int64), np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(n, np.int64), np.zeros(n, np.int64)),
        [],
    )
    written = 0
    for first in range(1, run.last_step + 1, BLOCK):
        seen = run.sightings(run.lineage.last, first, first + BLOCK - 1)
        if not len(seen):
            continue
        _add(told, seen, plan.column("dataset", seen.document))
        written += len(seen)
        if written > MOST:
            told.sightings.clear()
    return told


def _add(told: DocumentLosses, seen: Sightings, dataset: NDArray[np.int64]) -> None:
    expected = suspicions(seen, dataset, 0).expected
    np.add.at(told.n_targets, seen.document, seen.n_targets)
    for sums, values in ((told.loss, seen.loss), (told.excess, seen.loss - expected), (told.el2n, seen.el2n)):
        np.add.at(sums, seen.document, values * seen.n_targets)
    unseen = told.first[seen.document] == 0
    told.first[seen.document[unseen][::-1]] = seen.step[unseen][::-1]  # of several the first, for steps rise
    np.maximum.at(told.last, seen.document, seen.step)
    told.sightings.append((seen.document, seen.step, seen.loss))


def table_of(told: DocumentLosses, plan: PlanDocuments, documents: NDArray[np.int64]) -> pa.Table:
    """The columns of some documents, in the order of the plan."""
    n = told.n_targets[documents]
    steps, values, ends = _lists(told, documents)
    columns = (
        plan.column("doc_id", documents),
        told.loss[documents] / n,
        told.excess[documents] / n,
        told.el2n[documents] / n,
        told.first[documents].astype(np.float64),
        told.last[documents].astype(np.float64),
        pa.ListArray.from_arrays(ends, pa.array(steps, pa.int32())),
        pa.ListArray.from_arrays(ends, pa.array(values, pa.float32())),
    )
    return pa.table(dict(zip(SCHEMA.names, columns, strict=True)))


def _lists(told: DocumentLosses, documents: NDArray[np.int64]) -> tuple[NDArray[np.int64], Numbers, NDArray[np.int32]]:
    """The steps and losses of each document, one after the other, and where each one's end."""
    if not told.sightings:
        return np.zeros(0, np.int64), np.zeros(0), np.zeros(len(documents) + 1, np.int32)
    document, step, loss = (np.concatenate(parts) for parts in zip(*told.sightings, strict=True))
    mine = np.isin(document, documents)
    document, step, loss = document[mine], step[mine], loss[mine]
    order = np.lexsort((step, document))
    counts = np.bincount(np.searchsorted(documents, document), minlength=len(documents))
    return step[order], loss[order], np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
