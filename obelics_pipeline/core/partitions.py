"""What a shuffle gave: files of rows, one for each value of a column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from obelics_pipeline.core.storage import Location


@dataclass(frozen=True)
class Partitions:
    """Names of files below `folder` by value, a digest of the rows in them, and how many there are, where it is known.

    A value without rows has no entry.
    """

    folder: Location
    files: Mapping[str, Sequence[str]] = field(default_factory=dict)
    digests: Mapping[str, str] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)

    def names(self, value: str) -> list[str]:
        """The files of one value."""
        return list(self.files.get(value, ()))

    def digest(self, value: str) -> str:
        """Says what is in them; empty where there are none."""
        return self.digests.get(value, "")
