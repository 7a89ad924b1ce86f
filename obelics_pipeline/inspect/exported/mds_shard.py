"""MosaicML Streaming's shards (MDS), as `streaming.StreamingDataset` reads them: `shard.00000.mds` and `index.json`.

The package itself is not used to write: it asks for numpy below 2.2 and transformers below 5, and brings the clients of
four clouds (mosaicml-streaming 0.13). Its format (docs.mosaicml.com, "MDS"; streaming/base/format/mds/writer.py), of
little-endian uint32: the number of samples, where each begins and the last ends, the columns as JSON, the samples. A
sample is the length of each value, and the values, by the names of their columns. Tests compare with its own writer.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.shards.source import StoredDocument
from obelics_pipeline.core.storage import Location
from obelics_pipeline.inspect.exported.flat_document import flat_document
from obelics_pipeline.inspect.exported.format import ExportedFile, Format

LISTS = ("image_urls", "picture_bytes", "texts")
STRINGS = ("doc_id", "general_metadata", "language", "metadata", "page_type", "scores", "url")
PICTURES = "pictures"
ENCODINGS = dict.fromkeys(LISTS, "json") | dict.fromkeys(STRINGS, "str") | {PICTURES: "bytes"}
ENCODINGS = {name: ENCODINGS[name] for name in sorted(ENCODINGS)}  # in the order in which a sample has its values
INDEX = "index.json"
VERSION = 2  # of the format
WORD = 4  # bytes of a uint32
TARGET_BYTES = 64 * 2**20  # of a shard, which is held in memory: MDSWriter's own default


_CONFIG = {
    "version": VERSION,
    "format": "mds",
    "compression": None,
    "hashes": ["sha256"],  # of each shard, in the index; StreamingDataset checks it by validate_hash="sha256"
    "size_limit": None,
    "column_names": list(ENCODINGS),
    "column_encodings": list(ENCODINGS.values()),
    "column_sizes": [None] * len(ENCODINGS),
}


def write_mds(path: Path, documents: Iterator[StoredDocument]) -> None:
    """Write a shard, which is held in memory. Equal documents give equal bytes.

    Raises KeyError for a record that lacks a key, and UserError for a shard that reaches 4 GiB.
    """
    samples = [_sample(document) for document in documents]
    config = json.dumps(_CONFIG, sort_keys=True).encode()
    first = WORD * (len(samples) + 2) + len(config)
    offsets = list(accumulate(map(len, samples), initial=first))
    if offsets[-1] >= 2**32:
        raise UserError(f"--format mds: a shard of {offsets[-1]:,} bytes, and none may reach 4 GiB; give more --shards")
    with path.open("wb") as shard:
        shard.write(_words([len(samples), *offsets]) + config)
        shard.writelines(samples)


def count_mds(path: Path) -> int:
    """Samples of a shard. Raises ValueError where their places are not those of the bytes that are there."""
    size = path.stat().st_size
    with path.open("rb") as shard:
        (count,) = _numbers(shard.read(WORD), 1)
        offsets = _numbers(shard.read(WORD * (count + 1)), count + 1)
        config = shard.read(offsets[0] - WORD * (count + 2))
        if json.loads(config) != _CONFIG or offsets[-1] != size:
            raise ValueError(f"its samples should end at byte {offsets[-1]}, it has {size}")
        for begin, end in pairwise(offsets):
            shard.seek(begin)
            lengths = _numbers(shard.read(WORD * len(ENCODINGS)), len(ENCODINGS))
            if begin + WORD * len(ENCODINGS) + sum(lengths) != end:
                raise ValueError(f"the sample at byte {begin} does not end at byte {end}")
    return count


def index_of(files: Sequence[ExportedFile]) -> Mapping[str, bytes]:
    """The index, which StreamingDataset reads first."""
    shards = [
        _CONFIG
        | {
            "raw_data": {"basename": file.name, "bytes": file.bytes, "hashes": {"sha256": file.sha256}},
            "samples": file.documents,
            "zip_data": None,
        }
        for file in files
    ]
    return {INDEX: json.dumps({"version": VERSION, "shards": shards}, sort_keys=True).encode()}


def _sample(document: StoredDocument) -> bytes:
    flat = flat_document(document)
    values = [flat.pictures if name == PICTURES else _encoded(flat.record[name]) for name in ENCODINGS]
    return _words([len(value) for value in values]) + b"".join(values)


def _encoded(value: Any) -> bytes:
    return (value if isinstance(value, str) else json.dumps(value)).encode()


def _words(numbers: Sequence[int]) -> bytes:
    return b"".join(number.to_bytes(WORD, "little") for number in numbers)


def _numbers(data: bytes, count: int) -> list[int]:
    if len(data) != WORD * count:
        raise ValueError("it ends within its numbers")
    return [int.from_bytes(data[i : i + WORD], "little") for i in range(0, len(data), WORD)]


def _opens(output: Location) -> str:
    return f'StreamingDataset(local="{output}", shuffle=True, batch_size=8)'


MDS = Format("mds", "shard.{number:05d}.mds", write_mds, count_mds, index_of, _opens, TARGET_BYTES)
