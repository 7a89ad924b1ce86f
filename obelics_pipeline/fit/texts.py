"""Texts to learn from: JSON lines with a text each, and Parquet as OBELICS is published or as we export it."""

from __future__ import annotations

import glob
import gzip
import json
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, TypeVar, cast

import pyarrow as pa

from obelics_pipeline.core.document import PARAGRAPH_SEPARATOR
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.storage import Location, file_sha256, local_copy, location, open_parquet

ENDINGS = (".jsonl", ".jsonl.gz", ".parquet")
MAX_LINE = 64 * 2**20  # bytes of one JSON line: a longer one is skipped, so that a damaged file costs no memory
ROWS_AT_ONCE = 256  # of a Parquet file; held in memory

Found = TypeVar("Found")

_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class FoundText:
    """One text; `source` is what its row calls so, empty where it says nothing."""

    text: str
    source: str


@dataclass
class TextFile:
    """One file of texts. Reading it fills `read`, the number of texts, and `skipped`, rows by what is wrong."""

    where: Location
    read: int = 0
    skipped: Counter[str] = field(default_factory=Counter)

    def texts(self) -> Iterator[FoundText]:
        """The texts, in order. Raises UserError where the file cannot be read to its end."""
        return self.rows(("texts", "text", "source"), _text_of)

    def rows(self, columns: Sequence[str], read: Callable[[Any], Found | str]) -> Iterator[Found]:
        """What `read` makes of each row, in order; a string says what is wrong with the row.

        Of Parquet, these columns are read. Raises UserError where the file cannot be read to its end.
        """
        self.read, self.skipped = 0, Counter()
        parquet = self.where.name.endswith(".parquet")
        try:
            for row in _parquet_rows(self.where, columns) if parquet else _json_rows(self.where):
                found = row if isinstance(row, str) else read(row) if isinstance(row, dict) else "not an object"
                if isinstance(found, str):
                    self.skipped[found] += 1
                else:
                    self.read += 1
                    yield found
        except (OSError, EOFError, zlib.error, pa.ArrowException) as error:
            raise UserError(f"{self.where}: cannot be read ({' '.join(str(error).split())})") from None

    def description(self) -> dict[str, Any]:
        """What was read from where, for the record of a model: name, sha256 and counts, and no folder or time."""
        return {
            "name": self.where.name,
            "sha256": file_sha256(self.where),
            "texts": self.read,
            "passed_over": dict(sorted(self.skipped.items())),
        }

    def __str__(self) -> str:
        wrong = sum(self.skipped.values())
        reasons = ", ".join(f"{count:,} {reason}" for reason, count in sorted(self.skipped.items()))
        return f"{self.where.name}: {self.read:,} texts" + (f"; {wrong:,} rows skipped: {reasons}" if wrong else "")


def text_files(patterns: Sequence[str]) -> list[TextFile]:
    """The files that paths, globs and URLs name, in that order, each once. Raises UserError."""
    found = dict.fromkeys(name for pattern in patterns for name in _names(pattern))
    for name in found:
        if not name.endswith(ENDINGS):
            raise UserError(f"{name}: not a file of texts; valid are names that end in {', '.join(ENDINGS)}")
    return [TextFile(location(name)) for name in found]


def _names(pattern: str) -> list[str]:
    if "://" in pattern:
        return [pattern]
    if Path(pattern).is_file():
        return [pattern]
    names = sorted(name for name in glob.glob(pattern, recursive=True) if Path(name).is_file())
    if not names:
        raise UserError(f"{pattern}: there is no such file; give {', '.join(ENDINGS)} files, or a glob in quotes")
    return names


def _text_of(row: Any) -> FoundText | str:
    """The text of a row, or what is wrong with it."""
    value = row.get("text")
    if value is None and isinstance(row.get("texts"), list):
        value = PARAGRAPH_SEPARATOR.join(text for text in row["texts"] if isinstance(text, str))
    if not isinstance(value, str):
        return "without text"
    if not value.strip():
        return "with empty text"
    source = row.get("source")
    # A lone surrogate has no UTF-8, and whatever learns from the text reads UTF-8.
    return FoundText(
        _SURROGATE.sub("\ufffd", value), _SURROGATE.sub("\ufffd", source) if isinstance(source, str) else ""
    )


def _json_rows(where: Location) -> Iterator[Any]:
    """The values of the lines; a string is what is wrong with one."""
    with local_copy(where) as path, _opened(path) as lines:
        while line := lines.readline(MAX_LINE):
            if len(line) == MAX_LINE and not line.endswith(b"\n"):
                while line and not line.endswith(b"\n"):
                    line = lines.readline(MAX_LINE)
                yield "too long"
            elif not line.isspace():
                yield _value_of(line)


def _opened(path: Path) -> BinaryIO:
    return cast(BinaryIO, gzip.open(path)) if path.name.endswith(".gz") else path.open("rb")


def _value_of(line: bytes) -> Any:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return "not JSON"
    return None if isinstance(value, str) else value


def _parquet_rows(where: Location, columns: Sequence[str]) -> Iterator[Any]:
    """The rows of a file with a column `texts` (OBELICS) or `text`; of a run's own file, those of kept documents."""
    with open_parquet(where) as source:
        there = source.schema_arrow.names
        wanted = [name for name in (*columns, "reason") if name in there]
        if not {"texts", "text"} & set(wanted):
            raise UserError(f"{where}: has no column texts or text; it has {', '.join(there)}")
        for batch in source.iter_batches(ROWS_AT_ONCE, columns=wanted):
            for row in batch.to_pylist():
                yield "dropped" if isinstance(row.get("reason"), str) else row
