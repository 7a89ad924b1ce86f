"""What an engine must do: map units through a function, and hand rows to those who share a key."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from obelics_pipeline.commit import Manifest
from obelics_pipeline.storage import Place
from obelics_pipeline.unit import Unit

Value = TypeVar("Value")

Work = Callable[[Unit], Manifest]


@dataclass(frozen=True)
class Failure:
    """A unit that could not be done, and why, in one line."""

    reason: str


class Engine(Protocol):
    """The verbs. `work` is a picklable function that reads, computes and commits one unit."""

    def map_units(self, work: Work, units: Sequence[Unit]) -> Iterator[tuple[Unit, Manifest | Failure]]:
        """Every unit exactly once, in any order, each with what became of it."""
        ...

    def map(self, function: Callable[[Any], Value], items: Iterable[Any]) -> Iterable[Value]:
        """What a function gives for each item, in their order."""
        ...

    def regroup(self, sources: Sequence[Place], column: str, output: Place) -> dict[str, list[Place]]:
        """The shuffle: rows of many Parquet files dealt out by the value of a column.

        Returns the files of each value, without the column. The order of rows is not promised: who reads them sorts.
        """
        ...
