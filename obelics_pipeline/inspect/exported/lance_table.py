"""A finished run as one Lance dataset: the columns of `obelics publish`, pictures included.

`take` reads any documents by number, and a scan reads only the columns that are asked for. Lance names its files at
random and notes the time, so equal runs give equal rows and not equal bytes (pylance 14.0).
"""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from obelics_pipeline.core.errors import Stopped, UserError
from obelics_pipeline.core.shards.manifest import read_manifest
from obelics_pipeline.core.shards.source import all_documents
from obelics_pipeline.core.storage import TEMPORARY, Location
from obelics_pipeline.inspect.exported.row_groups import document_groups
from obelics_pipeline.inspect.published.table import table_row, table_schema

BYTES_PER_FILE = 2**30  # of a data file of Lance


@dataclass(frozen=True)
class LanceTable:
    """What was written: the folder, and the rows that were counted in it."""

    output: Path
    documents: int

    def lines(self) -> list[str]:
        """For a person."""
        return [
            f"wrote {self.documents:,} documents as a Lance dataset to {self.output}",
            f'lance.dataset("{self.output}")',
        ]


def export_lance(folder: Location, output: Location) -> LanceTable:
    """Write the documents of a run as a Lance dataset, in their order. It appears whole or not at all.

    Raises UserError where the package is missing, for a folder that is no finished run or is damaged, and for an output
    that is there already or is no folder of this machine; Stopped where the dataset does not read as it was written.
    """
    try:
        import lance
    except ImportError:
        raise UserError("--format lance: needs the package pylance: pip install 'obelics-pipeline[lance]'") from None
    manifest = read_manifest(folder)
    if not isinstance(output, Path):
        raise UserError(f"--output {output}: --format lance writes to a disk; give a path, then copy the folder")
    if output.exists() and (not output.is_dir() or any(output.iterdir())):
        raise UserError(f"--output {output}: is there already; give an empty or new folder")
    draft = output.parent / f"{TEMPORARY}{output.name}"
    shutil.rmtree(draft, ignore_errors=True)  # of a command that was killed
    output.parent.mkdir(parents=True, exist_ok=True)
    batches = _Batches(folder, manifest.promises.score_names)
    try:
        reader = pa.RecordBatchReader.from_batches(batches.schema, batches)
        lance.write_dataset(reader, str(draft), max_bytes_per_file=BYTES_PER_FILE)
        count = lance.dataset(str(draft)).count_rows()
        expected = manifest.counts()["documents"]
        if count != expected:
            raise Stopped(
                f"{output}: Lance counts {count} documents, the run has {expected}; run the same command again"
            )
        draft.replace(output)
    except (OSError, ValueError, RuntimeError) as error:
        raise batches.error or _stopped(output, error) from None
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return LanceTable(output, count)


class _Batches:
    """The rows of a run; `error` is what ended them, which Lance gives on only as a text."""

    def __init__(self, folder: Location, score_names: Sequence[str]) -> None:
        self._folder, self._scores = folder, score_names
        self.schema = table_schema(score_names)
        self.error: UserError | None = None

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        try:
            for group in document_groups(all_documents(self._folder)):
                rows = [table_row(document, self._scores) for document in group]
                yield pa.RecordBatch.from_pylist(rows, self.schema)
        except UserError as error:
            self.error = error
            raise
        except (KeyError, TypeError) as error:
            why = f"holds a document that is not a record of a run ({error})"
            self.error = UserError(f"{self._folder}: {why}; see obelics validate")
            raise self.error from None


def _stopped(output: Path, error: Exception) -> Exception:
    """The error as a person should see it. Lance passes the number of a disk's error on inside its message."""
    text = " ".join(str(error).split())
    if f"os error {errno.ENOSPC}" in text:
        return Stopped(f"{output}: {os.strerror(errno.ENOSPC)}; make room, then run the same command again")
    return Stopped(f"{output}: Lance could not write it ({text[:200]}); run the same command again")
