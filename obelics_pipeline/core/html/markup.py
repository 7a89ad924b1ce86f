"""Text from the web as text in HTML, and long columns in pieces that a browser lays out when they are seen."""

from __future__ import annotations

import html
from collections.abc import Sequence

from obelics_pipeline.core.html.visible import visible

LONGEST = 50_000  # characters of one text that are shown: a browser hardly lays out a word of millions
_ROWS_PER_PIECE = 50


def text(value: str) -> str:
    """Text, or an attribute's value: never markup, whatever it says; of a very long one the beginning."""
    more = len(value) - LONGEST
    shown = f"{value[:LONGEST]}… and {more:,} characters more" if more > 0 else value
    return html.escape(visible(shown))


def pieces(rows: Sequence[str]) -> str:
    """Rows of a long column, in sections."""
    starts = range(0, len(rows), _ROWS_PER_PIECE)
    return "\n".join(f"<section>{''.join(rows[start : start + _ROWS_PER_PIECE])}</section>" for start in starts)
