"""A finished run as Parquet: the published OBELICS columns, and such of the run's index as are asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby, islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.index_name import INDEX
from obelics_pipeline.core.shards.check_record import NotJson, parse_json
from obelics_pipeline.core.shards.manifest import SHARDS, read_manifest
from obelics_pipeline.core.shards.run_index import demand_index
from obelics_pipeline.core.shards.tar import Placed, TarDamaged, read_members
from obelics_pipeline.core.storage import Location, draft, local_copy, names_in
from obelics_pipeline.core.tables import PUBLISHED

ROWS_PER_FILE = 100_000
ROWS_PER_GROUP = 500  # held in memory at once
_PLACE = ("shard", "offset", "length")  # columns of the index that say where in the tars a document lies


def export_parquet(
    folder: Location, output: Location, rows_per_file: int = ROWS_PER_FILE, columns: Sequence[str] = ()
) -> list[Location]:
    """Write the documents of a run with the columns of HuggingFaceM4/OBELICS, in their order; returns the files.

    `columns` of the run's index follow, such as `page_type`, or a score. Image bytes stay in the shards: `images` holds
    URLs, as published. Each file appears whole or not at all, and equal runs give equal bytes. Raises UserError for a
    folder that is no finished run or is damaged, for a column that its index lacks, and for an output folder that holds
    other Parquet files.
    """
    total = read_manifest(folder).counts()["documents"]
    schema = _schema(folder, columns)
    count = max(1, -(-total // rows_per_file))
    paths = [output / f"train-{i:05d}-of-{count:05d}.parquet" for i in range(count)]
    there = {name for name in names_in(output) if name.endswith(".parquet")}
    if strangers := sorted(there - {path.name for path in paths}):
        raise UserError(f"--output {output}: holds another Parquet file, {strangers[0]}; give an empty or new folder")
    rows = _rows(folder, columns)
    for path in paths:
        with draft(path) as file, pq.ParquetWriter(file, schema, compression="zstd") as writer:
            part = islice(rows, rows_per_file)
            while group := list(islice(part, ROWS_PER_GROUP)):
                writer.write_table(pa.Table.from_pylist(group, schema))
    return paths


def _schema(folder: Location, columns: Sequence[str]) -> pa.Schema:
    if not columns:
        return PUBLISHED
    index = demand_index(folder).schema()
    valid = [name for name in index.names if name not in _PLACE]
    for i, name in enumerate(columns):
        if name not in valid or name in columns[:i]:
            raise UserError(f"--columns {name}: not a column of {folder / INDEX}, or twice; valid: {', '.join(valid)}")
    return pa.schema([*PUBLISHED, *(index.field(name) for name in columns)])


def _rows(folder: Location, columns: Sequence[str]) -> Iterator[dict[str, Any]]:
    for name, row, value in _records(folder, columns):
        try:
            yield {column: value[column] for column in PUBLISHED.names} | {column: row[column] for column in columns}
        except (KeyError, TypeError):
            raise UserError(f"{name}: a record without {', '.join(PUBLISHED.names)}; see obelics validate") from None


def _records(folder: Location, columns: Sequence[str]) -> Iterator[tuple[str, dict[str, Any], Any]]:
    """Shard name, `columns` of the index and JSON value of every document, in its order; images are not read."""
    rows = demand_index(folder).rows(list(dict.fromkeys([*_PLACE, *columns])))
    for name, of_shard in groupby(rows, lambda row: str(row["shard"])):
        place = folder / SHARDS / Path(name).name
        try:
            with local_copy(place) as path, path.open("rb") as shard:
                size = shard.seek(0, 2)
                for row in of_shard:
                    first = next(read_members(shard, Placed(row["offset"], row["length"]), size))
                    yield name, row, parse_json(first.stream.read())
        except (OSError, TarDamaged, NotJson) as error:
            raise UserError(f"{place}: cannot be read ({error}); obelics validate {folder} says more") from None
