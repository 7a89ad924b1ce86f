"""Text from the web as text in HTML, and long columns in pieces that a browser lays out when they are seen."""

from __future__ import annotations

import html
from collections.abc import Sequence

from obelics_pipeline.explain.visible import visible

_ROWS_PER_PIECE = 50


def text(value: str) -> str:
    """Text, or an attribute's value: never markup, whatever it says."""
    return html.escape(visible(value))


def pieces(rows: Sequence[str]) -> str:
    """Rows of a long column, in sections."""
    starts = range(0, len(rows), _ROWS_PER_PIECE)
    return "\n".join(f"<section>{''.join(rows[start : start + _ROWS_PER_PIECE])}</section>" for start in starts)
