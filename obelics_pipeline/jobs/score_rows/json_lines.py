"""Rows of JSON Lines: read a bounded number at a time, scored by an engine, and written with their scores."""

from __future__ import annotations

import codecs
import gzip
import io
import json
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.ranged import Ranged
from obelics_pipeline.core.storage import PIECE, Location, size_of
from obelics_pipeline.jobs.score_rows.columns import Asked, Scores
from obelics_pipeline.jobs.score_rows.document_of_row import document_of_row, image_urls
from obelics_pipeline.jobs.score_rows.in_workers import BYTES_PER_BATCH, Maps, in_windows
from obelics_pipeline.jobs.score_rows.json_members import append_members, as_json, replace_members
from obelics_pipeline.jobs.score_rows.scorer import scorer_of
from obelics_pipeline.stages.rows.row_error import MAX_LENGTH, NOT_JSON, NOT_UTF8, TOO_LONG, RowError

SUFFIXES = (".jsonl", ".jsonl.gz")
UNREAD = "unread_line"  # the key of a line that is no JSON object, which has no keys of its own
BOM = b"\xef\xbb\xbf"
SPACE = b" \t\r\n"
GZIP = b"\x1f\x8b"

LINES_PER_BATCH = 128  # or BYTES_PER_BATCH


@dataclass(frozen=True)
class LineBatch:
    """Lines of one file with their numbers, from 1; none is blank or longer than MAX_LENGTH."""

    file: str
    numbers: list[int]
    lines: list[bytes]

    def __len__(self) -> int:
        return len(self.lines)

    def __repr__(self) -> str:
        return f"{self.file} lines {self.numbers[0]} to {self.numbers[-1]}"

    def size(self) -> int:
        """Bytes of the lines."""
        return sum(map(len, self.lines))

    def sent(self) -> LineBatch:
        """All of it goes to a worker."""
        return self

    def halves(self) -> tuple[LineBatch, LineBatch]:
        """The same lines as two batches."""
        half = len(self) // 2
        first = LineBatch(self.file, self.numbers[:half], self.lines[:half])
        return first, LineBatch(self.file, self.numbers[half:], self.lines[half:])

    def places(self) -> list[str]:
        """Where each line stands, for a person."""
        return [f"{self.file} line {number}" for number in self.numbers]


@dataclass(frozen=True)
class LongLine:
    """A line of more than MAX_LENGTH bytes: its pieces, to be read before anything that follows."""

    file: str
    number: int
    pieces: Iterator[bytes]


@dataclass(frozen=True)
class ScoredLines:
    """Output lines of some rows: their number, and the rows that failed, with position and reason."""

    data: Iterable[bytes]
    rows: int
    failures: list[tuple[str, RowError]]


def scored_lines(
    files: Sequence[Location], asked: Asked, replace: bool, engine: Maps, at_once: int
) -> Iterator[ScoredLines]:
    """The rows of all files, in their order, scored; `at_once` batches are held. Raises UserError."""
    work = partial(score_lines, asked=asked, replace=replace)
    parts = (part for file in files for part in read_lines(file))
    for long, group in groupby(parts, lambda part: isinstance(part, LongLine)):
        if long:
            yield from (_carried_over(part, asked.columns()) for part in group if isinstance(part, LongLine))
        else:
            batches = (part for part in group if isinstance(part, LineBatch))
            lost = partial(_lost, columns=asked.columns())
            for _, results in in_windows(batches, at_once, engine, work, lost):
                yield from results


def read_batches(files: Sequence[Location]) -> Iterator[LineBatch]:
    """The lines of all files but those that are too long. Raises UserError."""
    return (part for file in files for part in read_lines(file) if isinstance(part, LineBatch))


def images_of_lines(batch: LineBatch, at_most: int) -> list[str]:
    """The URLs of the first images of the documents of some lines."""
    rows = [row for row in map(_parsed, batch.lines) if isinstance(row, Parsed)]
    return image_urls([row.document() for row in rows], at_most)


def read_lines(file: Location) -> Iterator[LineBatch | LongLine]:
    """The lines of a file, plain or gzip, without blank ones. Raises UserError where it cannot be read to its end."""
    number = 0
    batch = LineBatch(str(file), [], [])
    size = 0
    try:
        with ExitStack() as stack:
            stream = _opened(file, stack)
            while line := stream.readline(MAX_LENGTH + 1):
                number += 1
                line = line.removeprefix(BOM) if number == 1 else line
                long = len(line) > MAX_LENGTH and not line.endswith(b"\n")
                if batch.lines and (long or len(batch.lines) == LINES_PER_BATCH or size + len(line) > BYTES_PER_BATCH):
                    yield batch
                    batch, size = LineBatch(str(file), [], []), 0
                if long:
                    pieces = _pieces(line, stream)
                    yield LongLine(str(file), number, pieces)
                    for _ in pieces:
                        pass
                elif line := line.strip(SPACE):
                    batch.numbers.append(number)
                    batch.lines.append(line)
                    size += len(line)
    except FileNotFoundError:
        raise UserError(f"input {file}: no such file") from None
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or error
        raise UserError(f"input {file}: cannot be read beyond line {number} ({reason}); nothing was written") from None
    if batch.lines:
        yield batch


def _opened(file: Location, stack: ExitStack) -> io.BufferedIOBase:
    """The bytes of a file, unpacked where it is gzip, whatever its name says."""
    raw = file.open("rb") if isinstance(file, Path) else io.BufferedReader(_ranged(file), PIECE)
    stack.enter_context(raw)
    if raw.peek(2)[:2] != GZIP:
        return raw
    return stack.enter_context(gzip.GzipFile(fileobj=raw))


def _ranged(file: Any) -> Ranged:
    size = size_of(file)
    if size is None:
        raise FileNotFoundError(str(file))
    return Ranged(file, size)


def _pieces(first: bytes, stream: io.BufferedIOBase) -> Iterator[bytes]:
    """The pieces of a line whose first one was read."""
    piece = first
    while piece:
        yield piece
        piece = b"" if piece.endswith(b"\n") else stream.readline(PIECE)


def score_lines(batch: LineBatch, asked: Asked, replace: bool) -> ScoredLines:
    """Lines with their scores. Raises UserError where a score's name is a key already, unless it may be replaced."""
    rows = [_parsed(line) for line in batch.lines]
    columns = asked.columns()
    taken = [row for row in rows if isinstance(row, Parsed) and not row.value.keys().isdisjoint(columns)]
    if taken and not replace:
        place = batch.places()[rows.index(taken[0])]
        name = next(name for name in columns if name in taken[0].value)
        raise UserError(f"{place}: has a {name} already; leave it out of --columns, or give --replace")
    scored = scorer_of(asked).score([row.document() if isinstance(row, Parsed) else row for row in rows])
    return _written(batch, rows, scored, columns)


def _written(
    batch: LineBatch, rows: Sequence[Parsed | RowError], scored: Sequence[Scores | RowError], columns: Sequence[str]
) -> ScoredLines:
    data = b"".join(_line(*row, columns) for row in zip(batch.lines, rows, scored, strict=True))
    failures = [(place, x) for place, x in zip(batch.places(), scored, strict=True) if isinstance(x, RowError)]
    return ScoredLines([data], len(batch), failures)


def _lost(batch: LineBatch, error: RowError, columns: Sequence[str]) -> ScoredLines:
    return _written(batch, [_parsed(line) for line in batch.lines], [error] * len(batch), columns)


@dataclass(frozen=True, eq=False)
class Parsed:
    """A line that is a JSON object: its text, and its value."""

    text: str
    value: dict[str, Any]

    def document(self) -> Any:
        """The document, or the reason why the row gives no document."""
        try:
            return document_of_row(self.value)
        except RowError as error:
            return error


def _parsed(line: bytes) -> Parsed | RowError:
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as error:
        return RowError(NOT_UTF8, f"byte {error.start} of the line")
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        return RowError(NOT_JSON, str(error)[:100])
    return Parsed(text, value) if isinstance(value, dict) else RowError(NOT_JSON, "not an object")


def _line(line: bytes, row: Parsed | RowError, scores: Scores | RowError, columns: Sequence[str]) -> bytes:
    values = dict.fromkeys(columns) if isinstance(scores, RowError) else scores
    members = {name: as_json(values[name]) for name in columns}
    if isinstance(row, RowError):
        return b"".join(_unread([line], columns))
    put = append_members if row.value.keys().isdisjoint(columns) else replace_members
    return put(row.text, members).encode() + b"\n"


def _carried_over(line: LongLine, columns: Sequence[str]) -> ScoredLines:
    error = RowError(TOO_LONG, f"more than {MAX_LENGTH} bytes")
    return ScoredLines(_unread(line.pieces, columns), 1, [(f"{line.file} line {line.number}", error)])


def _unread(pieces: Iterable[bytes], columns: Sequence[str]) -> Iterator[bytes]:
    """An unreadable line, as a string in an object. A byte that is not UTF-8 becomes \udc80 to \udcff."""
    decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
    yield f'{{"{UNREAD}":"'.encode()
    for piece in pieces:
        yield _escaped(decoder.decode(piece.rstrip(b"\r\n") if piece.endswith(b"\n") else piece))
    yield _escaped(decoder.decode(b"", final=True))
    nulls = "".join(f",{as_json(name)}:null" for name in columns)
    yield f'"{nulls}}}\n'.encode()


def _escaped(text: str) -> bytes:
    """The text as written within a JSON string; a lone surrogate, which has no UTF-8, becomes its escape."""
    return as_json(text)[1:-1].encode("utf-8", "backslashreplace")


class LineWriter:
    """Writes rows to a local file, as gzip where its name says so; equal rows give equal bytes. A context manager."""

    def __init__(self, path: Path) -> None:
        self._path, self._open = path, ExitStack()

    def __enter__(self) -> LineWriter:
        raw = self._open.enter_context(self._path.open("wb"))
        packed = self._path.name.endswith(".gz")
        self._file: Any = raw
        if packed:
            self._file = self._open.enter_context(gzip.GzipFile("", "wb", fileobj=raw, mtime=0))
        return self

    def __exit__(self, *error: Any) -> None:
        self._open.__exit__(*error)

    def write(self, scored: ScoredLines) -> None:
        """Add rows."""
        for piece in scored.data:
            self._file.write(piece)


def count_lines(path: Path) -> int:
    """Rows of a file that was written: each ends with a line feed."""
    with ExitStack() as stack:
        stream = _opened(path, stack)
        return sum(block.count(b"\n") for block in iter(partial(stream.read, PIECE), b""))
