"""The parts of a corpus that one line of `datasets` opens: Parquet files beside the card, with their columns.

The tars are not among them: documents differ in their image members, which `datasets` refuses (docs/shards.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from obelics_pipeline.core.index_name import INDEX, PARTS
from obelics_pipeline.core.shards.run_index import demand_index
from obelics_pipeline.core.storage import Location, names_in, open_parquet, read_schema

EXPORTED = "export-parquet"  # where `obelics export DIR --format parquet` writes, unless told otherwise
# As cards of the hub name the types of columns: huggingface.co/docs/datasets/about_dataset_features.
NAMES = {pa.string(): "string", pa.int32(): "int32", pa.int64(): "int64", pa.float64(): "float64"}


@dataclass(frozen=True)
class Opens:
    """One table that `load_dataset(folder, name)` opens: its files, below the folder, and its columns."""

    name: str
    files: str  # a pattern
    schema: pa.Schema
    split: str = "train"

    def features(self) -> list[dict[str, str]]:
        """The columns as a card's front matter states them."""
        return [_feature(field) for field in self.schema]


@dataclass(frozen=True)
class Layout:
    """How a corpus lies in its folder: the tables that open by one line, the template that says how to read it, and
    what its files are, as a tag of the hub.
    """

    opens: Sequence[Opens]
    how_to_read: str = "read_run.md"
    container: str = "webdataset"


def what_opens(folder: Location, documents: int) -> list[Opens]:
    """The documents, where they were exported and all of them are there, and the index. The first is the default.

    Raises OSError or pa.ArrowException for an export or an index that cannot be read.
    """
    lies = demand_index(folder)
    index = Opens("index", INDEX if lies.names == (INDEX,) else PARTS, lies.schema())
    files = [name for name in names_in(folder / EXPORTED) if name.endswith(".parquet")]
    if not files or sum(_rows(folder / EXPORTED / name) for name in files) != documents:
        return [index]
    return [Opens("default", f"{EXPORTED}/*.parquet", read_schema(folder / EXPORTED / files[0])), index]


def _rows(where: Location) -> int:
    with open_parquet(where) as source:
        return int(source.metadata.num_rows)


def _feature(field: pa.Field) -> dict[str, str]:
    if pa.types.is_list(field.type):
        return {"name": field.name, "sequence": _name(field.type.value_type)}  # what all versions of `datasets` read
    return {"name": field.name, "dtype": _name(field.type)}


def _name(kind: pa.DataType) -> str:
    return "image" if pa.types.is_struct(kind) else NAMES[kind]
