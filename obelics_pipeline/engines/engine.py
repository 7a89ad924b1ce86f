"""What an engine must do: map units through a function, and hand rows to those who share a key."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from obelics_pipeline.core.commit import Manifest
from obelics_pipeline.core.storage import Location
from obelics_pipeline.core.unit import Unit
from obelics_pipeline.engines.groups import Group, Reduce

Value = TypeVar("Value")

Work = Callable[[Unit], Manifest]
MakeModel = Callable[[], Any]
WorkWithModel = Callable[[Unit, Any], Manifest]


@dataclass(frozen=True)
class Failure:
    """A unit that could not be done, and why, in one line; `damaged` are the files that it could not read."""

    reason: str
    damaged: tuple[str, ...] = ()


class Engine(Protocol):
    """The verbs. `work` is a picklable function that reads, computes and commits one unit."""

    def map_units(self, work: Work, units: Sequence[Unit]) -> Iterator[tuple[Unit, Manifest | Failure]]:
        """Every unit exactly once, in any order, each with its outcome."""
        ...

    def map_models(
        self, make: MakeModel, work: WorkWithModel, units: Sequence[Unit]
    ) -> Iterator[tuple[Unit, Manifest | Failure]]:
        """As `map_units`, by workers that each make one model and keep it: `work(unit, model)`.

        Both are picklable; `make` is hashable, and equal where it makes the same model.
        """
        ...

    def map(self, function: Callable[[Any], Value], items: Iterable[Any]) -> Iterable[Value]:
        """What a function gives for each item, in their order."""
        ...

    def shuffle(self, sources: Sequence[Location], column: str, reduce: Reduce, output: Location) -> dict[str, Group]:
        """Rows of many Parquet files are brought together by the value of a column, and each group is reduced.

        `output` is emptied before. A `reduce` is a picklable, pure function; it is given the rows of a value sorted by
        all columns, so that nothing depends on the order in which they arrive.
        """
        ...
