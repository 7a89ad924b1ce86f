"""Writing one Parquet file of the published table, as viewers and loaders want it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.shards.run_index import PartBounds, read_spans
from obelics_pipeline.core.shards.source import documents_of
from obelics_pipeline.core.storage import Location, draft, file_sha256
from obelics_pipeline.core.unit import digest
from obelics_pipeline.inspect.consent_again.answers import page_answers
from obelics_pipeline.inspect.published.grouped import grouped
from obelics_pipeline.inspect.published.parts import Part
from obelics_pipeline.inspect.published.standing_files import StandingFiles
from obelics_pipeline.inspect.published.table import row_bytes, table_row, table_schema
from obelics_pipeline.inspect.published.viewer import advised, refused, viewed

# Of a group of rows. The hub's viewer reads whole groups, and none above 300 MB; it shows a hundred rows at a time
# (huggingface.co/docs/dataset-viewer, `parquet` and `rows`).
ROWS_PER_GROUP = 100
BYTES_PER_GROUP = 100_000_000

PICTURES = "images.list.element.bytes"


@dataclass(frozen=True)
class WrittenPart:
    """A file that was written: its name, hash, size in bytes, and rows; `made_of` stands for the documents in it.

    `advice` is what its documents make the hub's viewer not show.
    """

    name: str
    sha256: str
    bytes: int
    rows: int
    made_of: str
    advice: Sequence[str] = ()


@dataclass(frozen=True)
class PartMaker:
    """Makes files of one publication. `made_of` stands for the run, so that a file of another is not taken for one."""

    folder: Location  # of the run's revision
    bounds: PartBounds  # of its index
    score_names: Sequence[str]
    made_of: str
    answers: Location | None = None  # of pages that were asked again

    def of(self, part: Part) -> str:
        """What stands for the documents of a part."""
        return digest(self.made_of, part.start, part.stop)

    def make(self, part: Part, path: Path) -> WrittenPart:
        """Write a part as a file of this machine; equal runs give equal bytes. One group of rows is held in memory.

        Raises UserError where the run is damaged, and where the hub's viewer would not show the file.
        """
        write_rows(path, table_schema(self.score_names), self._rows(part))
        size = path.stat().st_size
        with pq.ParquetFile(path) as source:
            file = viewed(f"data/{part.name}", size, source)
        if wrong := next(refused(file), None):
            raise UserError(f"{wrong}; this is a bug of publish, please report it")
        advice = list(advised(file))
        return WrittenPart(part.name, file_sha256(path), size, part.stop - part.start, self.of(part), advice)

    def _rows(self, part: Part) -> Iterator[dict[str, Any]]:
        rows = read_spans(self.folder, self.bounds.spans(part.start, part.stop))
        again = page_answers(self.answers, [row["url"] for row in rows]) if self.answers is not None else {}
        for document in documents_of(self.folder, rows):
            try:
                yield table_row(document, self.score_names, again.get(document.row["url"]))
            except (KeyError, TypeError, ValueError) as error:
                where = f"{self.folder}: document {document.row['doc_id']}"
                raise UserError(f"{where}: not a record of a run ({error}); see obelics validate") from None


@dataclass(frozen=True)
class PartWriter:
    """Writes files into a folder.

    `known` are the files of an earlier publication. What is written is noted in `notes`, for a command that goes on.
    """

    maker: PartMaker
    output: Location
    notes: Location
    known: Sequence[WrittenPart] = ()

    def __call__(self, part: Part) -> WrittenPart:
        """Write a part, or find it written and whole. Raises UserError where the run is damaged."""
        files = StandingFiles(WrittenPart, self.output, self.notes, self.known)
        if before := files.find(part.name, self.maker.of(part)):
            return before
        with draft(self.output / part.name) as path:
            written = self.maker.make(part, path)
        files.note(written)
        return written


def write_rows(path: Path, schema: pa.Schema, rows: Iterable[dict[str, Any]]) -> None:
    """Write rows as Parquet with a page index and checksums of pages.

    Pages end where their content says (content-defined chunking): where documents change, the bytes of all others stay,
    and an upload that knows such chunks sends only the changed ones.
    """
    text = [name for name in schema.names if name != "images"]
    with pq.ParquetWriter(
        path,
        schema,
        compression={name: "none" if name == PICTURES else "zstd" for name in _leaves(schema)},  # pictures are packed
        use_dictionary=["language", "page_type"],
        write_statistics=[name for name in _leaves(schema) if name.partition(".")[0] in text],
        write_page_index=True,
        write_page_checksum=True,
        use_content_defined_chunking=True,
    ) as writer:
        for group in grouped(rows, row_bytes, ROWS_PER_GROUP, BYTES_PER_GROUP):
            writer.write_table(pa.Table.from_pylist(group, schema), row_group_size=ROWS_PER_GROUP)


def _leaves(schema: pa.Schema) -> Iterator[str]:
    """The columns as Parquet names them."""
    for field in schema:
        inner, path = field.type, field.name
        if pa.types.is_list(inner):
            inner, path = inner.value_type, f"{path}.list.element"
        if pa.types.is_struct(inner):
            yield from (f"{path}.{inner.field(i).name}" for i in range(inner.num_fields))
        else:
            yield path
