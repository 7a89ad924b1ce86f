"""What a detector tells of a text that it judged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Told:
    """Rows (what it is about, a number, a quote or what would be otherwise), and characters of the text.

    Spans (begin, end) stand in any order and may overlap. Quotes are the text's own and are not made safe.
    """

    rows: Sequence[tuple[str, str, str]] = ()
    spans: Sequence[tuple[int, int]] = ()
