"""The entries of an opt-out list: a file that we did not write, of any size, read as a stream."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pyarrow as pa
import pyarrow.parquet as pq

from obelics_pipeline.core.config.consent import OptOutListConfig
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.storage import Location, local_copy, pieces
from obelics_pipeline.policy.lists.lines import read_lines, too_large

MAX_LINE = 16_384  # bytes; a longer line is no entry, and is not held
COLUMNS = {"urls": "url", "domains": "domain", "hashes": "sha256"}  # where the config names none
_IF_LARGER = "raise its max_bytes if it is right"
_ROWS = 65_536


def entries(where: Location, config: OptOutListConfig) -> Iterator[str | None]:
    """Every entry as written, in order; None for a line that can be none.

    Raises UserError for a file that cannot be read, is not what its name says, or is too large.
    """
    name = config.path.lower().removesuffix(".gz").removesuffix(".zst")
    if name.endswith((".parquet", ".pq")):
        return _of_parquet(where, config)
    said = f"opt-out list {config.path}"
    lines = read_lines(pieces(where), said, config.max_bytes, MAX_LINE, _IF_LARGER)
    if name.endswith((".jsonl", ".ndjson", ".json")):
        return _of_json(lines, config.column or COLUMNS[config.kind])
    return _of_text(lines)


def _of_text(lines: Iterator[bytes | None]) -> Iterator[str | None]:
    for line in lines:
        try:
            text = None if line is None else line.decode().strip()
        except UnicodeDecodeError:
            text = None
        if text is None or (text and not text.startswith("#")):
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


def _of_parquet(where: Location, config: OptOutListConfig) -> Iterator[str | None]:
    column = config.column or COLUMNS[config.kind]
    with local_copy(where) as path:
        try:
            with pq.ParquetFile(path) as source:
                names = source.schema_arrow.names
                if column not in names:
                    valid = ", ".join(names[:20])
                    raise UserError(f"opt-out list {config.path}: no column {column}; valid for `column`: {valid}")
                read = 0
                for batch in source.iter_batches(_ROWS, columns=[column]):
                    read += batch.nbytes
                    if read > config.max_bytes:
                        raise too_large(f"opt-out list {config.path}", config.max_bytes, _IF_LARGER)
                    yield from (_text(value) for value in batch.column(0).to_pylist())
        except (OSError, pa.ArrowException) as error:
            why = str(error).partition("\n")[0][:200]
            raise UserError(f"opt-out list {config.path}: is not Parquet that can be read ({why})") from None


def _text(value: object) -> str | None:
    if isinstance(value, bytes) and len(value) == 32:
        return value.hex()  # a sha256 as it is
    return value.strip() if isinstance(value, str) and value.strip() and len(value) <= MAX_LINE else None
