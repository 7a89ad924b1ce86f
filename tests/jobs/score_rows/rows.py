"""Rows to be scored, files of them, and the command as a person gives it."""

import gzip
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from obelics_pipeline.cli.main import main
from obelics_pipeline.core.document import to_json
from obelics_pipeline.core.storage import Location
from obelics_pipeline.core.tables import PUBLISHED

TEXT = "The river was low that summer, and the children of the village walked across it to the other side."
GERMAN = "Der Fluss führte in jenem Sommer wenig Wasser, und die Kinder des Dorfes gingen zu Fuß hinüber."


def published(number: int, text: str = TEXT, **changed: Any) -> dict[str, Any]:
    """A row as HuggingFaceM4/OBELICS has them: a text, an image, a text."""
    src = f"http://pictures.example/{number}.jpg"
    about = {"document_url": "http://page.example", "unformatted_src": "/1.jpg", "src": src, "format": "jpeg"}
    general = {"url": "http://page.example", "warc_filename": "w.warc.gz", "warc_record_offset": number}
    row = {
        "images": [None, src, None],
        "metadata": to_json([None, about, None]),
        "general_metadata": to_json(general | {"warc_record_length": 7}),
        "texts": [f"{text} {number}.", None, text],
    }
    return row | changed


def write_parquet(path: Path, rows: Sequence[dict[str, Any]], schema: pa.Schema | None = PUBLISHED) -> Path:
    pq.write_table(pa.Table.from_pylist(list(rows), schema), path)
    return path


def write_lines(path: Path, lines: Iterable[bytes | dict[str, Any]]) -> Path:
    data = b"".join((line if isinstance(line, bytes) else to_json(line).encode()) + b"\n" for line in lines)
    path.write_bytes(gzip.compress(data) if path.name.endswith(".gz") else data)
    return path


def read_lines(path: Path) -> list[dict[str, Any]]:
    data = path.read_bytes()
    return [json.loads(line) for line in (gzip.decompress(data) if path.name.endswith(".gz") else data).splitlines()]


def score(inputs: Location | list[Path], output: Location, columns: str = "word_count,language", *more: str) -> int:
    """The command, with one worker unless it is said otherwise."""
    files = inputs if isinstance(inputs, list) else [inputs]
    workers = () if "--workers" in more else ("--workers", "1")
    named = ("--columns", columns) if columns else ()
    return main(["score", "default", "--input", *map(str, files), "--output", str(output), *named, *workers, *more])
