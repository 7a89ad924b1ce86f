"""The entries of an opt-out list: a file that we did not write, of any size, read as a stream."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Iterator
from typing import IO, cast

import pyarrow as pa
import pyarrow.parquet as pq
import zstandard

from obelics_pipeline.config.consent import OptOutListConfig
from obelics_pipeline.errors import UserError
from obelics_pipeline.storage import Place, local_copy, pieces

MAX_LINE = 16_384  # bytes; a longer line is no entry, and is not held
COLUMNS = {"urls": "url", "domains": "domain", "hashes": "sha256"}  # where the config names none
ZSTD_WINDOW = 128 * 2**20  # bytes: what `zstd --long` needs and no more
_PIECE = 2**20
_ROWS = 65_536


def entries(where: Place, config: OptOutListConfig) -> Iterator[str | None]:
    """Every entry as written, in order; None for a line that can be none.

    Raises UserError for a file that is not what its name says or that is too large, OSError where it cannot be read.
    """
    name, _, compression = config.path.lower().rpartition(".")
    if compression not in ("gz", "zst"):
        name, compression = config.path.lower(), ""
    if name.endswith((".parquet", ".pq")):
        return _of_parquet(where, config)
    lines = _lines(_plain(pieces(where), compression, config))
    if name.endswith((".jsonl", ".ndjson", ".json")):
        return _of_json(lines, config.column or COLUMNS[config.kind])
    return _of_text(lines)


def _of_text(lines: Iterator[bytes | None]) -> Iterator[str | None]:
    for number, line in enumerate(lines):
        if line is None:
            yield None
            continue
        try:
            text = (line.removeprefix(b"\xef\xbb\xbf") if number == 0 else line).decode().strip()
        except UnicodeDecodeError:
            yield None
            continue
        if text and not text.startswith("#"):
            yield text


def _of_json(lines: Iterator[bytes | None], column: str) -> Iterator[str | None]:
    for line in lines:
        if line is None or line.strip():
            yield None if line is None else _json_entry(line, column)


def _json_entry(line: bytes, column: str) -> str | None:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if isinstance(value, dict):
        value = value.get(column)
    return value.strip() if isinstance(value, str) and value.strip() else None


def _of_parquet(where: Place, config: OptOutListConfig) -> Iterator[str | None]:
    column = config.column or COLUMNS[config.kind]
    with local_copy(where) as path:
        try:
            with pq.ParquetFile(path) as source:
                names = source.schema_arrow.names
                if column not in names:
                    valid = ", ".join(names[:20])
                    raise UserError(f"opt-out list {config.path}: no column {column}; valid for `column`: {valid}")
                for batch in source.iter_batches(_ROWS, columns=[column]):
                    yield from (_text(value) for value in batch.column(0).to_pylist())
        except pa.ArrowException as error:
            raise UserError(f"opt-out list {config.path}: not Parquet ({_first_line(error)})") from None


def _text(value: object) -> str | None:
    if isinstance(value, bytes) and len(value) == 32:
        return value.hex()  # a sha256 as it is
    return value.strip() if isinstance(value, str) and value.strip() and len(value) <= MAX_LINE else None


def _plain(data: Iterable[bytes], compression: str, config: OptOutListConfig) -> Iterator[bytes]:
    """The content, decompressed in bounded pieces. Raises UserError for what is damaged or too large."""
    total = 0
    try:
        for piece in _decompressed(data, compression):
            total += len(piece)
            if total > config.max_bytes:
                raise UserError(f"opt-out list {config.path}: more than max_bytes ({config.max_bytes:,}); raise it")
            yield piece
    except (zlib.error, zstandard.ZstdError) as error:
        raise UserError(f"opt-out list {config.path}: damaged ({_first_line(error)}); get it anew") from None


def _decompressed(data: Iterable[bytes], compression: str) -> Iterator[bytes]:
    if compression == "gz":
        yield from _gunzip(data)
    elif compression == "zst":
        with zstandard.ZstdDecompressor(max_window_size=ZSTD_WINDOW).stream_reader(
            cast(IO[bytes], _Readable(data)), read_across_frames=True
        ) as reader:
            while piece := reader.read(_PIECE):
                yield piece
    else:
        yield from data


def _gunzip(data: Iterable[bytes]) -> Iterator[bytes]:
    """Every member of a gzip file."""
    stream = zlib.decompressobj(31)
    for chunk in data:
        while chunk:
            if stream.eof:
                stream = zlib.decompressobj(31)
            yield stream.decompress(chunk, _PIECE)
            chunk = stream.unconsumed_tail or (stream.unused_data if stream.eof else b"")
    while not stream.eof:
        piece = stream.decompress(b"", _PIECE)
        if not piece:
            raise zlib.error("the file ends too early")
        yield piece


class _Readable:
    """What zstandard reads from."""

    def __init__(self, data: Iterable[bytes]) -> None:
        self._data, self._held = iter(data), b""

    def read(self, size: int = -1) -> bytes:
        while not self._held:
            piece = next(self._data, None)
            if piece is None:
                return b""
            self._held = piece
        size = len(self._held) if size < 0 else size
        out, self._held = self._held[:size], self._held[size:]
        return out


def _lines(data: Iterable[bytes]) -> Iterator[bytes | None]:
    """The lines of a stream; None for one that is too long, of which nothing is held."""
    held, too_long = b"", False
    for piece in data:
        first, *others = (held + piece).split(b"\n") if not too_long else piece.split(b"\n")
        for line in others:
            yield None if too_long or len(first) > MAX_LINE else first
            first, too_long = line, False
        if len(first) > MAX_LINE:
            first, too_long = b"", True
        held = first
    if held or too_long:
        yield None if too_long else held


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0][:200]
