"""The result of fetching one image URL: a row of a fetch unit's table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import pyarrow as pa

from obelics_pipeline.core.document import IMAGE_MEASURES
from obelics_pipeline.stages.fetch.reason import is_dropped, is_retryable

Status = Literal["ok", "dropped", "failed"]
QUALITY = "quality"  # the key of a journal's line that has what was measured of the pixels, if anything was
SOURCE = "source"  # the key, and the column, that says where an image was taken from, if it was not fetched

RESULT_SCHEMA = pa.schema(
    [
        pa.field("url", pa.string(), nullable=False),
        pa.field("status", pa.string(), nullable=False),
        pa.field("reason", pa.string()),
        pa.field("retryable", pa.bool_(), nullable=False),
        pa.field("sha256", pa.string()),
        pa.field("n_bytes", pa.int64()),
        pa.field("format", pa.string()),
        pa.field("width", pa.int32()),
        pa.field("height", pa.int32()),
        pa.field("phash", pa.string()),
        pa.field("received_sha256", pa.string()),
    ]
)

# Where its bytes are: a pack, and where they begin in it. Results of earlier versions lack these.
PLACE_SCHEMA = pa.schema([pa.field("pack", pa.string()), pa.field("offset", pa.int64())])

# What documents want to know of it, beside its place.
ANSWER_SCHEMA = pa.schema([field for field in RESULT_SCHEMA if field.name != "received_sha256"])


@dataclass(frozen=True, slots=True)
class FetchResult:
    """One URL's outcome; no clock values, so equal outcomes are equal rows.

    `reason` is set unless `status` is ok. `sha256` names the stored bytes, `format` is Pillow's
    name in lower case, `width` and `height` are pixels as stored (an EXIF orientation is not applied). `phash` is the
    perceptual hash, in hexadecimal. `received_sha256` names the bytes as they came, where what is stored was changed
    (metadata taken out, faces blurred, re-encoded). `duplicate_of` is set where images are compared, and not stored:
    the document that has the image first, where too many have it. `quality` has what was measured of the pixels, by
    name, of IMAGE_MEASURES; None where nothing was. `source` is the place in `fetch.sources` that it was taken from;
    None where it was fetched. `pack` and `offset` say where the bytes are, once the unit is done.
    """

    url: str
    status: Status
    reason: str | None = None
    retryable: bool = False
    sha256: str | None = None
    n_bytes: int | None = None
    format: str | None = None
    width: int | None = None
    height: int | None = None
    phash: str | None = None
    received_sha256: str | None = None
    duplicate_of: str | None = None
    quality: Mapping[str, float] | None = None
    source: str | None = None
    pack: str | None = None
    offset: int | None = None

    @classmethod
    def without_image(cls, url: str, reason: str) -> FetchResult:
        """The row of an image that was dropped or failed; which of the two, and retryable, follow from the reason."""
        return cls(url, "dropped" if is_dropped(reason) else "failed", reason, is_retryable(reason))

    def to_json(self) -> dict[str, Any]:
        """The line of a journal: all that is known of the result before its image is in a pack."""
        row = {name: getattr(self, name) for name in RESULT_SCHEMA.names}
        more = {QUALITY: self.quality and dict(self.quality), SOURCE: self.source}
        return row | {name: value for name, value in more.items() if value is not None}


def results_to_table(results: Iterable[FetchResult], measures: Sequence[str] = ()) -> pa.Table:
    """`RESULT_SCHEMA`, `PLACE_SCHEMA`, and a column for each of `measures`; a row per result in the order given.

    Where some were not fetched, a last column says where they were taken from.
    """
    results = list(results)
    sources = [pa.field(SOURCE, pa.string())] if any(r.source is not None for r in results) else []
    schema = pa.schema([*RESULT_SCHEMA, *PLACE_SCHEMA, *measure_fields(measures), *sources])
    rows = [{**r.to_json(), "pack": r.pack, "offset": r.offset, **(r.quality or {})} for r in results]
    return pa.Table.from_pylist(rows, schema=schema)


def measure_fields(measures: Sequence[str]) -> list[pa.Field]:
    """The columns of what is measured of pixels."""
    return [pa.field(name, pa.float64()) for name in measures]


def results_from_table(table: pa.Table) -> list[FetchResult]:
    """The inverse of `results_to_table`; further columns, except those of measures, are ignored.

    Raises KeyError if a column is missing, except the last of `RESULT_SCHEMA` and a place, which older runs lack.
    """
    newer = {"received_sha256", *PLACE_SCHEMA.names} - set(table.column_names)
    names = [name for name in (*RESULT_SCHEMA.names, *PLACE_SCHEMA.names) if name not in newer]
    names += [SOURCE] if SOURCE in table.column_names else []
    measures = [name for name in IMAGE_MEASURES if name in table.column_names]
    rows = zip(table.select(names).to_pylist(), table.select(measures).to_pylist(), strict=True)
    return [FetchResult(**row, quality=_measured(quality)) for row, quality in rows]


def _measured(quality: Mapping[str, float | None]) -> dict[str, float] | None:
    return {name: value for name, value in quality.items() if value is not None} or None
