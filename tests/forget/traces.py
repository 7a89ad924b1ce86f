"""Everything that a run's folder holds, decompressed: where something that is forgotten might still be found."""

import contextlib
import io
import json
import tarfile
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

Part = tuple[str, bytes]


def contents(folder: Path, without: Iterable[str] = ()) -> Iterator[Part]:
    """Every file as it lies there, and what is inside where it is packed: names and bytes."""
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.is_file() and not any(name.startswith(other) for other in without):
            data = path.read_bytes()
            yield name, name.encode() + b"\n" + data
            yield from _inside(name, data)


def _inside(name: str, data: bytes) -> Iterator[Part]:
    if data[:4] == b"PAR1":
        table = pq.read_table(io.BytesIO(data))
        for column in table.column_names:
            yield f"{name}:{column}", _flat(table[column].to_pylist())
        yield f"{name}:schema", str(table.schema.metadata).encode()
    elif data[:2] == b"\x1f\x8b":
        yield f"{name}:gzip", b"\n".join(parts(data))
    elif data[:4] == b"\x28\xb5\x2f\xfd":
        import zstandard

        yield f"{name}:zstd", zstandard.ZstdDecompressor().stream_reader(data, read_across_frames=True).read()
    elif data[257:262] == b"ustar":
        with tarfile.open(fileobj=io.BytesIO(data)) as tar:
            for member in tar:
                stream = tar.extractfile(member)
                yield f"{name}:{member.name}", b"" if stream is None else stream.read()


def _flat(value: Any) -> bytes:
    """Every string and every run of bytes in a value, also as hexadecimal, and strings of JSON as what they say."""
    if isinstance(value, bytes):
        return value + b"\n" + value.hex().encode() + b"\n"
    if isinstance(value, dict):
        return b"".join(_flat(of_it) for of_it in value.values())
    if isinstance(value, list | tuple):
        return b"".join(_flat(of_it) for of_it in value)
    text = str(value)
    plain = text.encode("utf-8", "surrogatepass") + b"\n"
    if text[:1] in "[{" and text:
        try:
            return plain + _flat(json.loads(text))
        except ValueError:
            pass
    return plain


def traces(folder: Path, needles: Iterable[str | bytes], without: Iterable[str] = ()) -> list[str]:
    """Where something can still be found, a line for each."""
    wanted = [needle if isinstance(needle, bytes) else needle.encode() for needle in needles]
    assert all(len(needle) >= 8 for needle in wanted), "a needle that is in everything"
    return [
        f"{name}: {needle[:60]!r}" for name, data in contents(folder, without) for needle in wanted if needle in data
    ]


def parts(data: bytes) -> list[bytes]:
    """What can be read of each member of a gzip file."""
    found = []
    while data:
        unpacker = zlib.decompressobj(31)
        with contextlib.suppress(zlib.error):
            found.append(unpacker.decompress(data))
        at = data.find(b"\x1f\x8b\x08", 1) if not unpacker.eof else len(data) - len(unpacker.unused_data)
        data = data[at:] if at > 0 else b""
    return found
