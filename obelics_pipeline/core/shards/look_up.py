"""Where the documents of a run stand, by URL and by id: files beside the index, of each of which a reader needs two
ranges.

A row has a hash of the key and the place of a document. The rows are cut into buckets by the range that the hash is in,
and each bucket is a Parquet file, sorted by the hash. A reader asks for the footer, and for the group of rows whose
statistics hold the hash. The run's manifest has a hash of the footer, and each page a checksum, so a key that is not
found is known to be missing. What is found is compared with the document itself.
"""

from __future__ import annotations

import hashlib
import mmap
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from obelics_pipeline.core.shards.manifest import LookUpPart, RunManifest, shard_name, standing_manifest
from obelics_pipeline.core.shards.run_index import index_of
from obelics_pipeline.core.shards.source import DAMAGE, StoredDocument, document_in
from obelics_pipeline.core.storage import AT_ONCE, Location, file_sha256, is_local, read_bytes_at

Hashes = npt.NDArray[np.uint64]
Item = TypeVar("Item")
Found = TypeVar("Found")

FOLDER = "look-up"  # below the folder of a run
KEYS = {"url": "url", "id": "doc_id"}  # what is looked up -> the column of the index that has it
SCHEMA = pa.schema(
    [
        pa.field("hash", pa.uint64(), nullable=False),  # the first eight bytes of the sha256 of the key, big-endian
        pa.field("shard", pa.uint32(), nullable=False),  # the number in its name
        pa.field("offset", pa.int64(), nullable=False),  # bytes, as in the index
        pa.field("length", pa.int64(), nullable=False),
        pa.field("content", pa.uint64(), nullable=False),  # the first eight bytes of `content_sha256`, big-endian
    ]
)
ORDER = [("hash", "ascending"), ("shard", "ascending"), ("offset", "ascending")]
ROWS_PER_BUCKET = 2**20  # at most, but for chance: some 30 MB, which one worker sorts and holds
ROWS_PER_GROUP = 8192  # a group takes some 250 kB, and the footer of a full bucket some 50 kB
LARGEST = 2**30  # bytes of a bucket that are believed to be one
NUMBER = re.compile(r"shard-([0-9]{6,9})\.tar")
PLAIN, SORTED = "PLAIN", "DELTA_BINARY_PACKED"


class NoLookUp(Exception):
    """A run has no look-up, or one that cannot be used: its index must be read. The message says which, in a line."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a document stands: as in the index, and the first eight bytes of the sha256 of its content."""

    shard: str
    offset: int
    length: int
    content: int


def by_url(folder: Location, manifest: RunManifest, urls: Iterable[str]) -> dict[str, list[StoredDocument]]:
    """The documents of a run with these URLs, in the order of the index; a URL that no document has is left out.

    Several documents may have one URL: the parts of a page that was split. Raises NoLookUp.
    """
    return _documents(folder, manifest, "url", urls, lambda document: str(document.row["url"]))


def by_id(folder: Location, manifest: RunManifest, doc_ids: Iterable[str]) -> dict[str, StoredDocument]:
    """The documents of a run with these ids; an id that no document has is left out. Raises NoLookUp."""
    found = _documents(folder, manifest, "id", doc_ids, lambda document: document.record.doc_id)
    return {doc_id: documents[0] for doc_id, documents in found.items()}


def rows_by_id(folder: Location, doc_ids: Iterable[str]) -> dict[str, Mapping[str, Any]]:
    """The rows that the index of a run has for these ids: by the look-up, or else of the index, which is read whole.

    Ids that no document has are left out; all are where a folder has no index. Raises UserError for one that cannot be
    read.
    """
    wanted = list(dict.fromkeys(doc_ids))
    index = index_of(folder) if wanted else None
    if index is None:
        return {}
    manifest = standing_manifest(folder)
    if manifest is not None:
        with suppress(NoLookUp):
            return {doc_id: document.row for doc_id, document in by_id(folder, manifest, wanted).items()}
    return {row["doc_id"]: row for row in index.table(filters=[("doc_id", "in", wanted)]).to_pylist()}


def places(folder: Location, manifest: RunManifest, kind: str, keys: Iterable[str]) -> dict[str, list[Place]]:
    """Where documents with these keys, of a kind of `KEYS`, may stand: a hash may be that of another key as well.

    Each bucket is opened once, whatever is looked for in it. Raises NoLookUp.
    """
    parts = parts_of(manifest, kind)
    if not parts:
        raise NoLookUp(f"{folder}: has no look-up: its index is read whole")
    wanted: dict[int, dict[int, str]] = {}
    names = list(dict.fromkeys(keys))
    hashes = key_hashes(names)
    for name, hash_, bucket in zip(names, hashes.tolist(), bucket_of(hashes, len(parts)).tolist(), strict=True):
        wanted.setdefault(bucket, {})[hash_] = name
    found: dict[str, list[Place]] = {}
    of_buckets = [(parts[bucket], of_bucket) for bucket, of_bucket in sorted(wanted.items())]
    for (_, of_bucket), rows in zip(of_buckets, _each(partial(_rows, folder), of_buckets, folder), strict=True):
        for row in rows:
            place = Place(shard_name(row["shard"]), row["offset"], row["length"], row["content"])
            found.setdefault(of_bucket[row["hash"]], []).append(place)
    return found


def parts_of(manifest: RunManifest, kind: str) -> list[LookUpPart]:
    """The buckets of a kind, in order; none where a run has no look-up."""
    return [part for part in manifest.look_up if part.kind == kind]


def _documents(
    folder: Location, manifest: RunManifest, kind: str, keys: Iterable[str], key_of: Callable[[StoredDocument], str]
) -> dict[str, list[StoredDocument]]:
    pairs = [(key, place) for key, of_key in places(folder, manifest, kind, keys).items() for place in of_key]
    found: dict[str, list[StoredDocument]] = {}
    read = _each(partial(_document, folder), [place for _, place in pairs], folder)
    for (key, _), document in zip(pairs, read, strict=True):
        if key_of(document) == key:  # else the hashes of two keys are equal
            found.setdefault(key, []).append(document)
    return found


def _document(folder: Location, place: Place) -> StoredDocument:
    try:
        document = document_in(folder, place.shard, place.offset, place.length)
    except DAMAGE as error:
        raise _unusable(folder, f"{place.shard}, byte {place.offset}: {error}") from None
    if content_number(document.row["content_sha256"]) != place.content:
        raise _unusable(folder, f"{place.shard}, byte {place.offset}: holds another document")
    return document


def _each(do: Callable[[Item], Found], items: Sequence[Item], folder: Location) -> Iterator[Found]:
    """What `do` gives for each item, in order; in a store many are asked for at a time."""
    if is_local(folder) or len(items) < 2:
        yield from map(do, items)
        return
    with ThreadPoolExecutor(AT_ONCE) as threads:
        yield from threads.map(do, items)


def _rows(folder: Location, asked: tuple[LookUpPart, Mapping[int, str]]) -> list[dict[str, Any]]:
    """The rows of a bucket that have one of these hashes: one request for the footer, one for each group of rows."""
    part, hashes = asked
    where = folder / FOLDER / Path(part.name).name
    wanted = np.sort(np.fromiter(hashes, np.uint64, len(hashes)))
    try:
        if not 0 < part.footer < part.bytes <= LARGEST:
            raise ValueError(f"{part.bytes} bytes, {part.footer} of them a footer")
        footer = read_bytes_at(where, part.bytes - part.footer, part.footer)
        if hashlib.sha256(footer).hexdigest() != part.footer_sha256:
            raise ValueError("its footer is not the one that the manifest names")
        whole = mmap.mmap(-1, part.bytes)  # zeros, which take no memory until something is read into them
        whole[part.bytes - part.footer :] = footer
        metadata = pq.read_metadata(pa.BufferReader(footer))
        groups = [number for number in range(metadata.num_row_groups) if _may_hold(metadata, number, wanted)]
        for number in groups:
            start, end = _extent(metadata.row_group(number))
            whole[start:end] = read_bytes_at(where, start, end - start)
        held, rows = pa.BufferReader(pa.py_buffer(whole)), list[dict[str, Any]]()
        with pq.ParquetFile(held, metadata=metadata, page_checksum_verification=True) as source:
            for number in groups:
                table = source.read_row_group(number).cast(SCHEMA)
                rows += table.filter(pc.is_in(table["hash"], pa.array(wanted))).to_pylist()
        return rows
    except (*DAMAGE, IndexError, OverflowError) as error:
        raise _unusable(folder, f"{where.name}: {error}") from None


def _may_hold(metadata: pq.FileMetaData, group: int, wanted: Hashes) -> bool:
    """Whether a group of rows can have one of these hashes, which are sorted."""
    known = metadata.row_group(group).column(SCHEMA.get_field_index("hash")).statistics
    if known is None or not known.has_min_max:
        return True
    at = int(np.searchsorted(wanted, np.uint64(known.min)))
    return at < len(wanted) and int(wanted[at]) <= known.max


def _extent(group: pq.RowGroupMetaData) -> tuple[int, int]:
    """The bytes of a file that a group of rows is in: [start, end)."""
    columns = [group.column(number) for number in range(group.num_columns)]
    starts = [c.dictionary_page_offset or c.data_page_offset for c in columns]
    return min(starts), max(start + c.total_compressed_size for start, c in zip(starts, columns, strict=True))


def _unusable(folder: Location, why: str) -> NoLookUp:
    return NoLookUp(f"{folder}: its look-up cannot be used ({' '.join(why.split())[:200]}); its index is read whole")


def key_hashes(keys: Iterable[str]) -> Hashes:
    """The hashes of URLs, or of ids."""
    digests = b"".join(hashlib.sha256(key.encode("utf-8", "surrogatepass")).digest()[:8] for key in keys)
    return np.frombuffer(digests, ">u8").astype(np.uint64)


def content_number(content_sha256: str) -> int:
    """The first eight bytes of a sha256 in hexadecimal."""
    return int(content_sha256[:16], 16)


def bucket_count(rows: int) -> int:
    """How many buckets a run of this many documents has for each kind of key."""
    return rows // ROWS_PER_BUCKET + 1


def bucket_of(hashes: Hashes, buckets: int) -> npt.NDArray[np.int64]:
    """The bucket that each hash is in: the range of hashes is cut into so many equal parts."""
    upper: npt.NDArray[np.int64] = ((hashes >> np.uint64(32)) * np.uint64(buckets) >> np.uint64(32)).astype(np.int64)
    return upper


def rows_of(index: pa.Table, kind: str) -> pa.Table:
    """Rows of a look-up for rows of an index, in their order. Raises ValueError for what no run has in its index."""
    coded = index["shard"].combine_chunks().dictionary_encode()
    numbers = pa.array([shard_number(name) for name in coded.dictionary.to_pylist()], pa.uint32())
    contents = np.fromiter(map(content_number, index["content_sha256"].to_pylist()), np.uint64, index.num_rows)
    columns = [
        pa.array(key_hashes(index[KEYS[kind]].to_pylist())),
        numbers.take(coded.indices),
        index["offset"].combine_chunks(),
        index["length"].combine_chunks(),
        pa.array(contents),
    ]
    return pa.Table.from_arrays(columns, schema=SCHEMA)


COLUMNS = ("shard", "offset", "length", "url", "doc_id", "content_sha256")  # of the index, for `rows_of`


def shard_number(shard: str) -> int:
    """The number in the name of a tar. Raises ValueError for a name that no run gives."""
    found = NUMBER.fullmatch(shard)
    if found is None or shard_name(int(found[1])) != shard:
        raise ValueError(f"{shard!a} is no name of a shard")
    return int(found[1])


def write_look_up(rows: pa.Table, path: Path) -> None:
    """Write the rows of a bucket. Equal rows give equal bytes, in whatever order they come."""
    pq.write_table(
        rows.cast(SCHEMA).sort_by(ORDER),
        path,
        row_group_size=ROWS_PER_GROUP,
        compression="zstd",
        use_dictionary=False,
        column_encoding={name: SORTED if name == "hash" else PLAIN for name in SCHEMA.names},
        write_statistics=["hash"],
        write_page_checksum=True,
        store_schema=False,
    )


def read_look_up(path: Location) -> pa.Table:
    """All rows of a bucket. Raises OSError, pa.ArrowException or ValueError for another file."""
    with path.open("rb") as stream:
        data = pa.py_buffer(stream.read())
    return pq.read_table(pa.BufferReader(data), page_checksum_verification=True).cast(SCHEMA)


def is_whole(folder: Location, part: LookUpPart) -> bool:
    """Whether a bucket has the bytes that its entry in the manifest states."""
    try:
        return file_sha256(folder / FOLDER / Path(part.name).name) == part.sha256
    except OSError:
        return False


def facts_of(kind: str, path: Path) -> dict[str, Any]:
    """What the entry of a bucket says of its file, beside the name, hash and size."""
    size = path.stat().st_size
    footer = int.from_bytes(read_bytes_at(path, size - 8, 4), "little") + 8
    sha256 = hashlib.sha256(read_bytes_at(path, size - footer, footer)).hexdigest()
    return {"kind": kind, "rows": pq.read_metadata(path).num_rows, "footer": footer, "footer_sha256": sha256}


def fingerprint(rows: pa.Table) -> int:
    """A number of 64 bits that equal rows have in whatever order; of parts the sum, modulo 2^64, is that of all."""
    mixed = np.zeros(rows.num_rows, np.uint64)
    for column in rows.select(SCHEMA.names).columns:
        mixed = _mix(mixed ^ column.to_numpy().astype(np.uint64))
    return int(mixed.sum(dtype=np.uint64))


def _mix(values: Hashes) -> Hashes:
    """The finalizer of splitmix64 (Steele, Lea and Flood, 2014): each bit depends on all."""
    values = values + np.uint64(0x9E3779B97F4A7C15)
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))
