"""MINT-1T's tar layout: a JSON with `texts` and `images` of one length, null where the other stands, and the pictures.

In the PDF parts of MINT-1T (huggingface.co/datasets/mlfoundations/MINT-1T-PDF-CC-2023-23: a sample is `KEY.json` and
`KEY.tiff`; `image_metadata` has an object for each picture) the pictures are frames of one TIFF, so each was encoded
again. Here each picture is a member of its own with its bytes unchanged, and `images` names the members, as NeMo
Curator writes and reads "MINT-1T-style" tars (nemo-curator 1.4, stages/interleaved/io/writers/webdataset.py).
"""

from __future__ import annotations

import json
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from obelics_pipeline.core.document import to_json
from obelics_pipeline.core.shards.source import StoredDocument
from obelics_pipeline.core.shards.tar import ShardWriter
from obelics_pipeline.core.storage import Location
from obelics_pipeline.inspect.exported.format import Format, nothing_beside

JSON = ".json"


def write_mint_tar(path: Path, documents: Iterator[StoredDocument]) -> None:
    """Write a tar of documents. Equal documents give equal bytes. Raises KeyError for a record that lacks a key."""
    with ShardWriter(path) as tar:
        for document in documents:
            pictures = [(file.name, document.images[file.name]) for file in document.record.files]
            tar.append(document.record.doc_id, [("json", to_json(mint_record(document)).encode()), *pictures])


def count_mint_tar(path: Path) -> int:
    """Documents of a tar. Raises ValueError where it is cut, or lacks a picture that a document names."""
    count = 0
    awaited: list[str] = []
    with tarfile.open(path, "r:") as tar:
        for member in tar:
            if awaited:
                if member.name != awaited.pop(0):
                    raise ValueError(f"member {member.name} stands where another picture should")
                continue
            stream = tar.extractfile(member)
            if stream is None or not member.name.endswith(JSON):
                raise ValueError(f"member {member.name} stands where a document should")
            awaited = [name for name in json.loads(stream.read())["images"] if name is not None]
            count += 1
    if awaited:
        raise ValueError(f"it ends before member {awaited[0]}")
    return count


def mint_record(document: StoredDocument) -> dict[str, Any]:
    """The JSON of a document. `images` names members, and `image_metadata` has an object for each of them.

    An image that was not fetched is null in both lists: readers would take another picture for it. `not_fetched` has
    its position and URL. Raises KeyError for a record that lacks a key.
    """
    value, key = document.value, document.record.doc_id
    hashes = {file.name: file.sha256 for file in document.record.files}
    places = list(zip(value["images"], value["files"], document.metadata(), strict=True))
    return {
        "sample_id": value["doc_id"],
        "url": document.row["url"],
        "texts": value["texts"],
        "images": [None if name is None else f"{key}.{name}" for name in value["files"]],
        "image_metadata": [
            {
                "src": url,
                "sha256": hashes[name],
                "width": (about or {}).get("original_width"),
                "height": (about or {}).get("original_height"),
            }
            for url, name, about in places
            if name is not None
        ],
        "not_fetched": [
            {"position": position, "src": url}
            for position, (url, name, _) in enumerate(places)
            if url is not None and name is None
        ],
        "language": value["language"],
        "general_metadata": value["general_metadata"],
    }


def _opens(output: Location) -> str:
    return f'InterleavedWebdatasetReader(file_paths="{output}", materialize_on_read=True)'


MINT = Format("mint1t", "shard-{number:06d}.tar", write_mint_tar, count_mint_tar, nothing_beside, _opens)
