"""The index of sources: a unit for each file says which URLs it holds, and a shuffle deals them out by host."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from obelics_pipeline.core.commit import Attempt, Manifest
from obelics_pipeline.core.ledger import Ledger
from obelics_pipeline.core.reduce_output import ReduceOutput
from obelics_pipeline.core.storage import Location, location
from obelics_pipeline.core.unit import Unit, digest
from obelics_pipeline.engines.groups import DATA
from obelics_pipeline.stages.fetch.host import host_bucket
from obelics_pipeline.stages.fetch.sources.found import Options, SourceFile
from obelics_pipeline.stages.fetch.sources.held_image import INDEX, NOT_FETCHED
from obelics_pipeline.stages.fetch.sources.read import Held, held_in
from obelics_pipeline.stages.fetch.sources.tar_members import SourceDamaged

STEP = "sources"  # in events; also of the shuffle
VERSION = 1  # raise it when the same file would give other rows
ROWS = 10_000  # held before they are written
MOST = 3  # images of one URL that are tried
HELD = "held images"  # the noun of the ledger
DAMAGED = "damaged"  # the note of a unit whose file could not be read to its end: what was wrong


def source_units(files: Sequence[SourceFile], buckets: int) -> list[Unit]:
    """A unit per file."""
    return [
        Unit(STEP, digest(VERSION, file.name, file.version, file.rank, buckets), "", vars(file) | {"buckets": buckets})
        for file in files
    ]


def source_unit(unit: Unit, *, folder: Location, options: Options) -> Manifest:
    """Write which images a file holds. What is of no use is counted; a damaged file gives what stands before that."""
    ledger, told = Ledger(HELD), unit.payload
    notes: dict[str, Any] = {"file": told["name"], DAMAGED: None}
    columns = told["rank"], told["name"], told["buckets"]
    with Attempt(folder, unit) as attempt:
        with pq.ParquetWriter(attempt.file("data", ".parquet"), INDEX) as writer:
            found = _counted(location(told["path"], options), ledger, notes)
            while some := list(islice(found, ROWS)):
                writer.write_table(_rows(some, *columns))
        return attempt.commit([ledger], notes | {"rows": {"data": ledger.kept}})


def _counted(where: Location, ledger: Ledger, notes: dict[str, Any]) -> Iterator[Held]:
    try:
        for held in held_in(where):
            if isinstance(held, str):
                ledger.count(held, failed=held != NOT_FETCHED)
            else:
                ledger.keep()
                yield held
    except SourceDamaged as damaged:
        notes[DAMAGED] = str(damaged)


def _rows(held: Sequence[Held], rank: int, file: str, buckets: int) -> pa.Table:
    rows = [
        (host_bucket(of.url, buckets), of.url, rank, file, of.key, at, n_bytes, of.sha256, *of.sizes)
        for of, at, n_bytes in held
    ]
    return pa.Table.from_pylist([dict(zip(INDEX.names, row, strict=True)) for row in rows], INDEX)


def first_of_url(rows: pa.Table, _bucket: str) -> ReduceOutput:
    """The rows of a bucket, sorted; of each URL the first `MOST`."""
    codes = rows["url"].combine_chunks().dictionary_encode().indices.to_numpy()
    numbers = np.arange(len(codes))
    begins = np.append(True, codes[1:] != codes[:-1])[: len(codes)]
    starts = np.maximum.accumulate(np.where(begins, numbers, 0))
    return ReduceOutput({DATA: rows.filter(pa.array(numbers - starts < MOST))})
