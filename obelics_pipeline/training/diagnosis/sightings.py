"""What a training run noted of documents: the losses of each, by the step that saw it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from obelics_pipeline.core.errors import UserError

COLUMNS = ("step", "row", "document", "repeat", "n_targets", "loss_sum", "el2n_sum", "log_z_sum")


@dataclass(frozen=True, eq=False)
class Sightings:
    """A document in a step, one an entry of each array: spans of one document in one step are one sighting.

    `loss`, `el2n` and `log_z` are means per target: nats, squared distance of prediction and truth, nats.
    """

    step: NDArray[np.int64]
    document: NDArray[np.int64]
    row: NDArray[np.int64]  # of the plan: the first that had it in this step
    repeat: NDArray[np.int64]
    n_targets: NDArray[np.int64]
    loss: NDArray[np.float64]
    el2n: NDArray[np.float64]
    log_z: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.step)

    def take(self, at: NDArray[Any]) -> Sightings:
        """The sightings at some indices, or under a mask."""
        return Sightings(**{field.name: getattr(self, field.name)[at] for field in fields(self)})


def read_sightings(folder: Path, parts: Iterable[tuple[int, int, int]]) -> Sightings:
    """The sightings of some steps, by step and document. `parts` are an attempt, its first and its last step each.

    `folder` is the run's `accounts`. Raises UserError for a file that cannot be read; steps without a file have none.
    """
    tables = [table for attempt, first, last in parts for table in _tables(folder, attempt, first, last)]
    return _joined(pa.concat_tables(tables) if tables else _EMPTY)


_EMPTY = pa.table(
    {name: pa.array([], pa.float64() if name.endswith("_sum") else pa.int64()) for name in COLUMNS}
)  # fmt: skip


def steps_of(file: str) -> tuple[int, int]:
    """The first and the last step of a file of losses per document, by its name. Raises ValueError for another name."""
    _, first, last = file.removesuffix(".parquet").split("-")
    return int(first), int(last)


def _tables(folder: Path, attempt: int, first: int, last: int) -> Iterator[pa.Table]:
    for path in sorted((folder / f"attempt-{attempt:05d}").glob("rank-*/steps-*.parquet")):
        try:
            start, stop = steps_of(path.name)
            if start > last or stop < first:
                continue
            table = pq.read_table(path, columns=list(COLUMNS), partitioning=None)
        except (OSError, ValueError, pa.ArrowException) as error:
            raise UserError(f"{path}: cannot be read ({str(error).splitlines()[0][:200]}); leave it out") from None
        inside = pc.and_(pc.greater_equal(table["step"], first), pc.less_equal(table["step"], last))
        yield table.filter(inside).cast(_EMPTY.schema)


def _joined(table: pa.Table) -> Sightings:
    values = {name: table[name].to_numpy() for name in COLUMNS}
    order = np.lexsort((values["row"], values["document"], values["step"]))
    values = {name: column[order] for name, column in values.items()}
    step, document = values["step"], values["document"]
    first = np.flatnonzero(np.append(True, (step[1:] != step[:-1]) | (document[1:] != document[:-1])[: len(step)]))
    first = first[first < len(step)]
    sums = {name: _sums(values[name], first) for name in ("n_targets", "loss_sum", "el2n_sum", "log_z_sum")}
    targets = np.maximum(sums["n_targets"], 1)
    found = Sightings(
        step[first],
        document[first],
        values["row"][first],
        values["repeat"][first],
        sums["n_targets"].astype(np.int64),
        sums["loss_sum"] / targets,
        sums["el2n_sum"] / targets,
        sums["log_z_sum"] / targets,
    )
    return found.take(found.n_targets > 0)


def _sums(values: NDArray[Any], first: NDArray[np.int64]) -> NDArray[Any]:
    return np.add.reduceat(values, first) if len(first) else values[:0]


def of_documents(seen: Sightings, documents: Sequence[int]) -> Sightings:
    """The sightings of some documents, in their order."""
    return seen.take(np.isin(seen.document, np.array(documents, np.int64)))
