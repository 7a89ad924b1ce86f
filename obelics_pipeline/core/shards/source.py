"""The documents of a finished run with their images, in the order of the index, each shard read once."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import pyarrow as pa

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.shards.check_record import PROVENANCE, NotJson, parse_json
from obelics_pipeline.core.shards.flamingo_record import plain_members
from obelics_pipeline.core.shards.manifest import SHARDS
from obelics_pipeline.core.shards.record import Record, RecordFile, content_sha256
from obelics_pipeline.core.shards.run_index import demand_index
from obelics_pipeline.core.shards.tar import Member, Placed, TarDamaged, read_members
from obelics_pipeline.core.storage import Location, local_copy, read_bytes_at


@dataclass(frozen=True)
class StoredDocument:
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


def documents(folder: Location) -> Iterator[StoredDocument]:
    """Every document that has an image file: see `all_documents`."""
    return documents_of(folder, (row for row in demand_index(folder).rows() if row["n_files"]))


def all_documents(folder: Location) -> Iterator[StoredDocument]:
    """Every document, in either form of shards; one is held at a time.

    Raises UserError, which names the shard, where one cannot be read or holds other bytes than its index says.
    """
    return documents_of(folder, demand_index(folder).rows())


def document_at(folder: Location, row: Mapping[str, Any]) -> StoredDocument:
    """The document of one row of the index; of its shard only these bytes are read. Raises UserError as above."""
    try:
        return _found(row, _named(row["doc_id"], _members_at(folder, row["shard"], row["offset"], row["length"])))
    except DAMAGE as error:
        raise _unreadable(folder, folder / SHARDS / Path(row["shard"]).name, error) from None


def document_in(folder: Location, shard: str, offset: int, length: int) -> StoredDocument:
    """The document of these bytes of a tar, with the row that the index has for it. Raises one of `DAMAGE`."""
    members = _members_at(folder, shard, offset, length)
    first = next(members)
    doc_id = first.name.removesuffix(".json")
    named = {"json": first.stream.read()} | _named(doc_id, members)
    plain = plain_members(named)
    value = parse_json(plain["json"])
    general = parse_json(value["general_metadata"])
    hashes = [(f"{doc_id}.{name}", hashlib.sha256(data).hexdigest()) for name, data in plain.items()]
    n_images = sum(image is not None for image in value["images"])
    row = {
        "shard": shard,
        "offset": offset,
        "length": length,
        "doc_id": doc_id,
        **{name: general[name] for name in PROVENANCE},
        "content_sha256": content_sha256(hashes),
        "n_texts": len(value["images"]) - n_images,
        "n_images": n_images,
        "n_files": len(plain) - 1,
        "language": value["language"],
        "page_type": general.get("page_type"),
        **value["scores"],
    }
    return _found(row, named)


def _members_at(folder: Location, shard: str, offset: int, length: int) -> Iterator[Member]:
    data = read_bytes_at(folder / SHARDS / Path(shard).name, offset, length)
    return read_members(io.BytesIO(data), Placed(0, length), len(data))


DAMAGE = (OSError, pa.ArrowException, TarDamaged, NotJson, StopIteration, KeyError, TypeError, ValueError)


def documents_of(folder: Location, rows: Iterable[Mapping[str, Any]]) -> Iterator[StoredDocument]:
    """The documents of rows of the index, in their order; rows of a shard stand together, and it is read once.

    Raises UserError as above.
    """
    for name, of_shard in groupby(rows, lambda row: str(row["shard"])):
        place = folder / SHARDS / Path(name).name
        try:
            with local_copy(place) as path, path.open("rb") as shard:
                size = shard.seek(0, 2)
                for row in of_shard:
                    members = read_members(shard, Placed(row["offset"], row["length"]), size)
                    yield _found(row, _named(row["doc_id"], members))
        except DAMAGE as error:
            raise _unreadable(folder, place, error) from None


def _named(doc_id: str, members: Iterable[Member]) -> dict[str, bytes]:
    """The bytes of members by their names after the key."""
    return {member.name.removeprefix(f"{doc_id}."): member.stream.read() for member in members}


def _unreadable(folder: Location, place: Location, error: Exception) -> UserError:
    reason = " ".join(str(error).split())[:200]
    return UserError(f"{place}: cannot be read ({reason}); obelics validate {folder} says more")


def _found(row: Mapping[str, Any], members: Mapping[str, bytes]) -> StoredDocument:
    plain = plain_members(members)
    images = {name: data for name, data in plain.items() if name != "json"}
    hashes = {name: hashlib.sha256(data).hexdigest() for name, data in plain.items()}
    if content_sha256((f"{row['doc_id']}.{name}", sha256) for name, sha256 in hashes.items()) != row["content_sha256"]:
        raise ValueError(f"document {row['doc_id']} is not what the index has the sha256 of")
    files = tuple(RecordFile(name, hashes[name], len(data)) for name, data in images.items())
    record = Record(row["doc_id"], plain["json"], files, row["n_texts"], row["n_images"])
    return StoredDocument(row, record, parse_json(plain["json"]), images)
