"""An image that a source holds, as the source notes it: a row of the index, and what of its notes can be told."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from obelics_pipeline.core.unit import digest
from obelics_pipeline.net.failure import FetchError
from obelics_pipeline.net.target import parse_target

NOT_FETCHED = "not_fetched"  # img2dataset could not fetch it, or not read it
BAD_NOTES = "bad_notes"  # what is noted of it is not what img2dataset writes
BAD_URL = "bad_url"
NO_IMAGE = "no_image"  # noted as fetched, and not there
FORMATS = ("jpg", "png", "webp")  # encode_format: the endings of its files, and its columns of bytes
SIZES = ("width", "height", "original_width", "original_height")
NOTES = ("url", "key", "status", "sha256", *SIZES)

_KEY = re.compile(r"[0-9A-Za-z_-]{1,64}")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_MOST = 2**31

INDEX = pa.schema(
    [
        pa.field("bucket", pa.int32()),
        pa.field("url", pa.string()),  # as it is sent: two spellings of one are one
        pa.field("rank", pa.int32()),
        pa.field("file", pa.string()),
        pa.field("key", pa.string()),
        pa.field("at", pa.int64()),  # where it begins in a tar, in bytes; its row in a table
        pa.field("n_bytes", pa.int64()),  # null in a table: its bytes are not read for the index
        pa.field("sha256", pa.string()),
        *(pa.field(name, pa.int32()) for name in SIZES),
    ]
)


@dataclass(frozen=True, slots=True)
class Noted:
    """What a source says of an image. `sha256` is of the bytes that came from the host; sizes are in pixels, of what is
    stored and of what came. All of these are None where img2dataset encoded nothing again, but the hash may be there.
    """

    url: str
    key: str
    sha256: str | None
    sizes: tuple[int | None, ...]


def noted(row: Mapping[str, Any]) -> Noted | str:
    """What a row, or the JSON, of img2dataset says; the reason where it is of no use."""
    status, url, key, sha256 = (row.get(name) for name in ("status", "url", "key", "sha256"))
    if status != "success":
        return NOT_FETCHED if isinstance(status, str) else BAD_NOTES
    sizes = tuple(row.get(name) for name in SIZES)
    if not (isinstance(url, str) and isinstance(key, str) and _KEY.fullmatch(key)) or not all(map(_is_size, sizes)):
        return BAD_NOTES
    if not (sha256 is None or (isinstance(sha256, str) and _SHA256.fullmatch(sha256))):
        return BAD_NOTES
    try:
        return Noted(parse_target(url).url, key, sha256, sizes)
    except FetchError:
        return BAD_URL


def _is_size(value: Any) -> bool:
    return value is None or (isinstance(value, int) and not isinstance(value, bool) and 0 < value < _MOST)


@dataclass(frozen=True, slots=True)
class HeldImage:
    """A row of the index."""

    url: str
    rank: int
    file: str
    key: str
    at: int
    n_bytes: int | None
    sha256: str | None
    width: int | None
    height: int | None
    original_width: int | None
    original_height: int | None

    @property
    def source(self) -> str:
        """Its file and key, and a mark of its notes: another image under the same key has another one."""
        return f"{self.file}#{self.key} {digest(self.at, self.n_bytes, self.sha256, self.width, self.height)[:8]}"

    @property
    def is_encoded(self) -> bool:
        """Whether img2dataset read its pixels, so that its bytes may be others than those that came."""
        return self.width is not None

    @property
    def is_resized(self) -> bool:
        """Whether it has another size than what came, as its notes say."""
        sizes = (self.width, self.height, self.original_width, self.original_height)
        return None not in sizes and sizes[:2] != sizes[2:]
