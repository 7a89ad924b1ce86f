"""The source of a page: its bytes, and where a mark stands in them; compiled where that was built."""

from __future__ import annotations

try:
    from obelics_pipeline.stages.extract._tag_scan import encode, find
except ImportError:

    def encode(html: str, /) -> bytes:
        """The page as UTF-8 without NUL: browsers ignore it in text; our rule sets may use it as a mark."""
        return html.encode("utf-8", "replace").replace(b"\0", b"")

    def find(source: bytes, mark: bytes, start: int, /) -> int:
        """The first place of a mark, not empty, from a byte on, which is not negative; -1 where it is missing."""
        return source.find(mark, start)


__all__ = ["encode", "find"]
