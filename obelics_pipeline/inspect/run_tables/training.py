"""Measurements of a training on the documents of a curation run: columns beside its scores, which decide nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from obelics_pipeline.core.folder import RunFolder
from obelics_pipeline.core.storage import Location, read_table, size_of, write_table

# Nats a target, but for steps. The excess is over what documents of the same data set and length had in those steps: a
# loss falls as training goes on, so that a document that was met early has a high one by that alone.
SCORES = ("train_loss", "train_excess", "train_el2n", "train_first_step", "train_last_step")
SCHEMA = pa.schema(
    [
        ("doc_id", pa.string()),
        *((name, pa.float64()) for name in SCORES),
        ("steps", pa.list_(pa.int32())),  # that saw it
        ("losses", pa.list_(pa.float32())),  # of it in each of these
    ]
)


@dataclass(frozen=True)
class Trained:
    """The measurements of a training on one document."""

    scores: dict[str, float | None]
    steps: tuple[int, ...]
    losses: tuple[float, ...]


def write_training(folder: RunFolder, table: pa.Table) -> Location:
    """Write the columns beside a run, in place of an earlier training run's; where they are."""
    write_table(table.cast(SCHEMA), folder.training)
    return folder.training


def training_schema(folder: RunFolder, schema: pa.Schema) -> pa.Schema:
    """The columns of a table as `with_training` makes them."""
    if size_of(folder.training) is None:
        return schema
    return pa.schema([*schema, *(pa.field(name, pa.float64()) for name in SCORES)])


def with_training(folder: RunFolder, documents: pa.Table) -> pa.Table:
    """A run table with the columns of training, null where training has not seen a document; as it is without any."""
    if size_of(folder.training) is None:
        return documents
    table = read_table(folder.training, ["doc_id", *SCORES])
    at = pc.index_in(documents["doc_id"], table["doc_id"])
    for name in SCORES:
        documents = documents.append_column(pa.field(name, pa.float64()), table[name].take(at))
    return documents


def trained(folder: RunFolder, doc_ids: list[str]) -> dict[str, Trained]:
    """The measurements of a training on documents, by id. Documents that it has not read are left out."""
    if not doc_ids or size_of(folder.training) is None:
        return {}
    table = read_table(folder.training, filters=[("doc_id", "in", doc_ids)])
    return {row["doc_id"]: _trained(row) for row in table.to_pylist()}


def _trained(row: dict[str, Any]) -> Trained:
    return Trained({name: row[name] for name in SCORES}, tuple(row["steps"] or ()), tuple(row["losses"] or ()))
