"""Pages that would take the parser itself hours or gigabytes are refused before it sees them."""

from __future__ import annotations

from obelics_pipeline.config.extraction import ExtractionConfig


def check_parse_cost(source: bytes, config: ExtractionConfig) -> None:
    """Raises `PageRejected` for a page whose tree cannot be built within bounds."""
