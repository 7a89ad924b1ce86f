"""The documents of a finished run with their images, in the order of the index, each shard read once."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import pyarrow as pa

from obelics_pipeline.errors import UserError
from obelics_pipeline.shard.check_record import NotJson, parse_json
from obelics_pipeline.shard.flamingo_record import plain_members
from obelics_pipeline.shard.index import read_index
from obelics_pipeline.shard.manifest import INDEX, SHARDS
from obelics_pipeline.shard.record import Record, RecordFile, content_sha256
from obelics_pipeline.shard.tar import Placed, TarDamaged, read_members
from obelics_pipeline.storage import Place, local_copy


@dataclass(frozen=True)
class Found:
    """One document: its row of the index, its plain record, the value of its JSON, and the bytes of its images."""

    row: Mapping[str, Any]
    record: Record
    value: Mapping[str, Any]
    images: Mapping[str, bytes]  # by name after the key

    def read(self, file: RecordFile) -> bytes:
        """The bytes of an image of the record."""
        return self.images[file.name]

    def metadata(self) -> list[dict[str, Any] | None]:
        """The metadata objects of its images, null at texts."""
        metadata: list[dict[str, Any] | None] = parse_json(self.value["metadata"])
        return metadata


def documents(folder: Place) -> Iterator[Found]:
    """Every document that has an image file, in either form of shards; one is held at a time.

    Raises UserError, which names the shard, where one cannot be read or holds other bytes than its index says.
    """
    place = folder / INDEX
    try:
        for name, rows in groupby(read_index(folder / INDEX), lambda row: str(row["shard"])):
            place = folder / SHARDS / Path(name).name
            with local_copy(place) as path, path.open("rb") as shard:
                size = shard.seek(0, 2)
                for row in rows:
                    if row["n_files"]:
                        members = read_members(shard, Placed(row["offset"], row["length"]), size)
                        key = f"{row['doc_id']}."
                        yield _found(row, {m.name.removeprefix(key): m.stream.read() for m in members})
    except (OSError, pa.ArrowException, TarDamaged, NotJson, KeyError, TypeError, ValueError) as error:
        reason = " ".join(str(error).split())[:200]
        raise UserError(f"{place}: cannot be read ({reason}); obelics validate {folder} says more") from None


def _found(row: Mapping[str, Any], members: Mapping[str, bytes]) -> Found:
    plain = plain_members(members)
    images = {name: data for name, data in plain.items() if name != "json"}
    hashes = {name: hashlib.sha256(data).hexdigest() for name, data in plain.items()}
    if content_sha256((f"{row['doc_id']}.{name}", sha256) for name, sha256 in hashes.items()) != row["content_sha256"]:
        raise ValueError(f"document {row['doc_id']} is not what the index has the sha256 of")
    files = tuple(RecordFile(name, hashes[name], len(data)) for name, data in images.items())
    record = Record(row["doc_id"], plain["json"], files, row["n_texts"], row["n_images"])
    return Found(row, record, parse_json(plain["json"]), images)
