"""Texts of a region, and as many of the rest, as `obelics fit classifier` reads them."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
from typing import BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.folder import RunFolder
from obelics_pipeline.core.storage import Location, draft
from obelics_pipeline.inspect.run_tables.texts import in_file_order, texts_of

REST, REGION = "rest.jsonl.gz", "region.jsonl.gz"


def write_training_set(
    folder: RunFolder, documents: pa.Table, region: NDArray[np.bool_], output: Location, rest: int | None = None
) -> tuple[int, int]:
    """Write `region.jsonl.gz` and `rest.jsonl.gz`, lines {"id", "source", "text"}; returns how many texts each has.

    `documents` are a run table's, `region` says which of them are in the region, `output` is a folder. Of the others
    `rest` are taken, by default as many as the region has, always the same. Documents without text are left out.
    Raises UserError where either is empty, or a file cannot be read or written.
    """
    has_text = np.asarray(pc.greater(documents["bytes"], 0))
    chosen = documents.filter(pa.array(region & has_text))
    others = _some(documents.filter(pa.array(~region & has_text)), len(chosen) if rest is None else rest)
    if not len(chosen) or not len(others):
        raise UserError("a classifier learns from texts of two kinds: choose a region that is not empty, and not all")
    try:
        counts = [_write(folder, rows, output / name) for rows, name in ((chosen, REGION), (others, REST))]
    except (OSError, pa.ArrowException) as error:
        raise UserError(f"{output}: cannot be written ({' '.join(str(error).split())})") from None
    return counts[0], counts[1]


def _some(documents: pa.Table, at_most: int) -> pa.Table:
    """A sample by the hash of their ids, so that it is the same however they are ordered."""
    keys = [hashlib.sha256(f"rest {doc_id}".encode()).digest() for doc_id in documents["doc_id"].to_pylist()]
    return documents.take(pa.array(sorted(range(len(keys)), key=keys.__getitem__)[:at_most], pa.int64()))


def _write(folder: RunFolder, documents: pa.Table, target: Location) -> int:
    rows, count = in_file_order(documents), 0
    doc_ids, sites = rows["doc_id"].to_pylist(), rows["site"].to_pylist()
    with draft(target) as path, path.open("wb") as file, _zipped(file) as out:
        for row, text in texts_of(folder, rows):
            if text.strip():
                line = json.dumps({"id": doc_ids[row], "source": sites[row], "text": text}, ensure_ascii=False)
                out.write(line + "\n")
                count += 1
    return count


def _zipped(file: BinaryIO) -> io.TextIOWrapper:
    """Without a name or a time in its head: the same texts are the same bytes."""
    zipped = gzip.GzipFile("", "wb", fileobj=file, mtime=0)
    return io.TextIOWrapper(zipped, encoding="utf-8", errors="replace", newline="\n")
