"""Values of an event as what they should be: a log may have been written by anybody."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

LONGEST = 400  # characters of a text
LARGEST = 2**63  # no count of ours is as large
NOTHING: Mapping[str, Any] = {}


def text_of(value: Any) -> str:
    """A text, cut where it is very long; empty for any other value."""
    return value[:LONGEST] if isinstance(value, str) else ""


def count_of(value: Any) -> int:
    """A count; 0 for any other value."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < LARGEST else 0


def seconds_of(value: Any) -> float | None:
    """Seconds; None for any other value."""
    return float(value) if isinstance(value, int | float) and 0 <= value < LARGEST else None


def values_of(value: Any) -> Mapping[str, Any]:
    """An object of JSON; empty for any other value."""
    return value if isinstance(value, dict) else NOTHING


def list_of(value: Any) -> list[Any]:
    """A list of JSON; empty for any other value."""
    return value if isinstance(value, list) else []
