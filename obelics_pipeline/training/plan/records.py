"""The JSON of documents, read from shards by the offsets of an index: their images are not touched."""

from __future__ import annotations

import os
import tarfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from obelics_pipeline.core.access import reaching
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.shards.check_record import NotJson, parse_json
from obelics_pipeline.core.shards.record import BLOCK
from obelics_pipeline.core.storage import AT_ONCE, Location, is_local

FIRST = 64 * 2**10  # bytes of the first request to a store: the JSON of most documents

Where = tuple[int, int, str]  # offset and length in bytes, and the id of the document that should stand there


def read_records(shard: Location, documents: Sequence[Where]) -> Iterator[dict[str, Any]]:
    """The JSON of each document, in the order given; of a shard in a store many at a time.

    Raises UserError where a shard is not there, or does not hold what the index says.
    """
    try:
        if is_local(shard):
            yield from (_record(shard, where) for where in documents)
            return
        with ThreadPoolExecutor(AT_ONCE) as threads:
            for i in range(0, len(documents), 8 * AT_ONCE):
                yield from threads.map(partial(_record, shard), documents[i : i + 8 * AT_ONCE])
    except OSError as error:
        raise UserError(
            f"{shard}: cannot be read ({error}); was the run moved? give its folder in the recipe"
        ) from None


def slice_of(shard: Location, offset: int, length: int) -> bytes:
    """Bytes of a shard, fewer at its end: of a store by one request. Raises OSError.

    A local file is opened for each slice: that is cheap, and a handle from before a fork would be shared.
    """
    if not isinstance(shard, Path):
        with reaching(shard):
            return bytes(shard.fs.cat_file(shard.path, start=offset, end=offset + length))
    handle = os.open(shard, os.O_RDONLY)
    try:
        return os.pread(handle, length, offset)
    finally:
        os.close(handle)


def _record(shard: Location, where: Where) -> dict[str, Any]:
    offset, length, doc_id = where
    data = slice_of(shard, offset, min(length, FIRST))
    info = None
    with suppress(tarfile.HeaderError):
        info = tarfile.TarInfo.frombuf(data[:BLOCK], "utf-8", "surrogateescape")
    if info is None or info.name != f"{doc_id}.json" or BLOCK + info.size > length:
        raise UserError(
            f"{shard}: document {doc_id} is not at byte {offset}, where the index has it; see obelics validate"
        )
    if len(data) < BLOCK + info.size:
        data += slice_of(shard, offset + len(data), BLOCK + info.size - len(data))
    try:
        value = parse_json(data[BLOCK : BLOCK + info.size])
    except NotJson as error:
        raise UserError(f"{shard}: document {doc_id}: not JSON ({error}); see obelics validate") from None
    if not isinstance(value, dict) or not {"texts", "images", "files"} <= value.keys():
        raise UserError(f"{shard}: document {doc_id} has no texts, images and files: not a shard of obelics run")
    return value
