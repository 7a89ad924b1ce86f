"""A finished run in other formats: the published OBELICS columns, as Parquet."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby, islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.shards.check_record import NotJson, parse_json
from obelics_pipeline.core.shards.index import read_index
from obelics_pipeline.core.shards.manifest import INDEX, SHARDS, read_manifest
from obelics_pipeline.core.shards.tar import Placed, TarDamaged, read_members
from obelics_pipeline.core.storage import Location, draft, local_copy, names_in
from obelics_pipeline.core.tables import PUBLISHED

ROWS_PER_FILE = 100_000
ROWS_PER_GROUP = 500  # held in memory at once


def export_parquet(folder: Location, output: Location, rows_per_file: int = ROWS_PER_FILE) -> list[Location]:
    """Write the documents of a run with the columns of HuggingFaceM4/OBELICS, in their order; returns the files.

    Image bytes stay in the shards: `images` holds URLs, as published. Each file appears whole or not at all, and equal
    runs give equal bytes. Raises UserError for a folder that is no finished run or is damaged, and for an output folder
    that holds other Parquet files.
    """
    total = read_manifest(folder).counts()["documents"]
    count = max(1, -(-total // rows_per_file))
    paths = [output / f"train-{i:05d}-of-{count:05d}.parquet" for i in range(count)]
    there = {name for name in names_in(output) if name.endswith(".parquet")}
    if strangers := sorted(there - {path.name for path in paths}):
        raise UserError(f"--output {output}: holds another Parquet file, {strangers[0]}; give an empty or new folder")
    rows = _rows(folder)
    for path in paths:
        with draft(path) as file, pq.ParquetWriter(file, PUBLISHED, compression="zstd") as writer:
            part = islice(rows, rows_per_file)
            while group := list(islice(part, ROWS_PER_GROUP)):
                writer.write_table(pa.Table.from_pylist(group, PUBLISHED))
    return paths


def _rows(folder: Location) -> Iterator[dict[str, Any]]:
    for name, value in _records(folder):
        try:
            yield {column: value[column] for column in PUBLISHED.names}
        except (KeyError, TypeError):
            raise UserError(f"{name}: a record without {', '.join(PUBLISHED.names)}; see obelics validate") from None


def _records(folder: Location) -> Iterator[tuple[str, Any]]:
    """Shard name and JSON value of every document, in the order of the index; images are not read."""
    place = folder / INDEX
    try:
        rows = read_index(folder / INDEX, ["shard", "offset", "length", "doc_id"])
        for name, of_shard in groupby(rows, lambda row: str(row["shard"])):
            place = folder / SHARDS / Path(name).name
            with local_copy(place) as path, path.open("rb") as shard:
                size = shard.seek(0, 2)
                for row in of_shard:
                    first = next(read_members(shard, Placed(row["offset"], row["length"]), size))
                    yield name, parse_json(first.stream.read())
    except (OSError, pa.ArrowException, TarDamaged, NotJson) as error:
        raise UserError(f"{place}: cannot be read ({error}); obelics validate {folder} says more") from None
