"""WebDataset tars in which every document has the same two members: `KEY.json` and `KEY.bin`.

`load_dataset("webdataset", data_files=…)` opens a tar only where its first five documents have members of equal names,
and takes the types from their JSON (packaged_modules/webdataset of `datasets` 5.2). The tars of a run have a member for
each picture, so they differ. Here a document's pictures are one member.
"""

from __future__ import annotations

import json
import tarfile
from collections.abc import Iterator
from pathlib import Path

from obelics_pipeline.core.document import to_json
from obelics_pipeline.core.shards.source import StoredDocument
from obelics_pipeline.core.shards.tar import ShardWriter
from obelics_pipeline.core.storage import Location
from obelics_pipeline.inspect.exported.flat_document import flat_document
from obelics_pipeline.inspect.exported.format import Format, nothing_beside

JSON, PICTURES = "json", "bin"  # names of the members after the key; loaders parse the first and leave the second


def write_uniform_tar(path: Path, documents: Iterator[StoredDocument]) -> None:
    """Write a tar of documents. Equal documents give equal bytes. Raises KeyError for a record that lacks a key."""
    with ShardWriter(path) as tar:
        for document in documents:
            flat = flat_document(document)
            tar.append(document.record.doc_id, [(JSON, to_json(flat.record).encode()), (PICTURES, flat.pictures)])


def count_uniform_tar(path: Path) -> int:
    """Documents of a tar. Raises ValueError where it is cut, or one has other members or lengths than it states."""
    count = 0
    with tarfile.open(path, "r:") as tar:
        members = iter(tar)
        for first in members:
            second = next(members, None)
            key = first.name.removesuffix(f".{JSON}")
            stream = tar.extractfile(first)
            if stream is None or second is None or (first.name, second.name) != (f"{key}.{JSON}", f"{key}.{PICTURES}"):
                raise ValueError(f"member {first.name} does not stand before one of pictures")
            if sum(json.loads(stream.read())["picture_bytes"]) != second.size:
                raise ValueError(f"member {second.name} has {second.size} bytes, its document states others")
            tar.members.clear()  # type: ignore[attr-defined]  # tarfile keeps every header it read
            count += 1
    return count


def _opens(output: Location) -> str:
    return f'load_dataset("webdataset", data_files="{output}/*.tar", split="train")'


WEBDATASET = Format(
    "webdataset", "shard-{number:06d}.tar", write_uniform_tar, count_uniform_tar, nothing_beside, _opens
)
