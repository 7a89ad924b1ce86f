"""How a WARC file is compressed."""

from __future__ import annotations

from obelics_pipeline.stages.read.gzip_members import GzipFraming
from obelics_pipeline.stages.read.member import Framing
from obelics_pipeline.stages.read.source import Source
from obelics_pipeline.stages.read.zstd_frames import ZstdFraming, is_skippable


def framing_of(source: Source, position: int, path: str) -> Framing | None:
    """By the first bytes, at `position`; by the file's name where these are damaged; None: not compressed."""
    first = source.at(position, 5)
    if first == b"WARC/":
        return None
    if first.startswith(GzipFraming.magic):
        return GzipFraming()
    if first.startswith(ZstdFraming.magic) or is_skippable(first):
        return ZstdFraming(source)
    suffix = path.rsplit(".", 1)[-1].lower()
    return GzipFraming() if suffix == "gz" else ZstdFraming(source) if suffix == "zst" else None
