"""The local engine, whose workers make results up: what the driver spends is what it spends in a run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from benchmarks.scale.made_run import MadeRun, Value
from obelics_pipeline.core.commit import Manifest
from obelics_pipeline.core.storage import Location, read_table, remove_tree
from obelics_pipeline.core.unit import Unit
from obelics_pipeline.engines.engine import Failure, Work
from obelics_pipeline.engines.groups import Group, Reduce, count_rows, read_groups, write_group
from obelics_pipeline.engines.local import LocalEngine
from obelics_pipeline.stages.shard.look_ups import BUCKETS

NO_CALLS = {"hold_to_name", "_check"}  # of the files of a shuffle, of a tar: these are made up


class MadeEngine(LocalEngine):
    """One worker, which commits what `run` says, and does what that does not know.

    Other calls arrive with all that they carry, and come back; some without having been made.
    """

    def __init__(self, run: MadeRun, folder: Path) -> None:
        super().__init__(1, folder, 3600.0)
        self._run = run
        self._units: dict[str, list[str]] = {}  # names, by stage

    def map_units(self, work: Work, units: Sequence[Unit]) -> Iterator[tuple[Unit, Manifest | Failure]]:
        """Every unit once."""
        for unit, outcome in super().map_units(_MadeWork(self._run, work), units):
            self._units.setdefault(unit.stage, []).append(unit.name)
            yield unit, outcome

    def map(self, function: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
        """An empty list for each item, where its answer would be that nothing is wrong with pages and images."""
        name = getattr(function.func if isinstance(function, partial) else function, "__name__", "")
        return super().map(_NoCall(function) if name in NO_CALLS else function, items)

    def shuffle(self, sources: Sequence[Location], column: str, reduce: Reduce, output: Location) -> dict[str, Group]:
        """Groups that are made up; the driver reads them, and counts rows, as after a shuffle.

        Rows of look-ups are dealt out by the worker: a validation compares them with the index.
        """
        remove_tree(output)
        step, run = output.parent.name, self._run
        if step == BUCKETS:
            list(super().map(_Dealt(column, reduce, output), [sources]))
            return read_groups(output, column, sources)
        if column == "partition":
            values = self._units["site" if step == "answers" else "extract"]
        else:
            values = [str(number) for number in range(run.fetch_buckets if step == "requests" else run.dedup_buckets)]
        (entered,) = super().map(count_rows, [sources])
        groups = min(len(values), entered)
        dealt = [Value(v, i, groups, entered // groups + (i < entered % groups)) for i, v in enumerate(values[:groups])]
        list(super().map(_MadeGroup(run, step, column, reduce, output), dealt))
        return read_groups(output, column, sources)


@dataclass(frozen=True)
class _MadeWork:
    """Carries the work of a stage, and commits made-up results in its folder."""

    run: MadeRun
    work: Any  # `once` of a work and a folder, see engines/runner.py

    def __call__(self, unit: Unit) -> Manifest:
        made: Manifest = self.run.commit(unit, self.work.keywords["folder"]) or self.work(unit)
        return made


@dataclass(frozen=True)
class _NoCall:
    """Carries a function, and does not call it."""

    function: Callable[[Any], Any]

    def __call__(self, _item: Any) -> list[str]:
        return []


@dataclass(frozen=True)
class _Dealt:
    """Deals rows out by a column, as another engine's workers do."""

    column: str
    reduce: Reduce
    output: Location

    def __call__(self, sources: Sequence[Location]) -> None:
        rows = pa.concat_tables([read_table(source) for source in sources])
        for value in pc.unique(rows[self.column]).to_pylist():
            write_group(rows.filter(pc.equal(rows[self.column], value)), self.column, self.reduce, self.output)


@dataclass(frozen=True)
class _MadeGroup:
    """Carries what reduces a group, and writes a made-up one."""

    run: MadeRun
    step: str
    column: str
    reduce: Reduce
    output: Location

    def __call__(self, value: Value) -> None:
        self.run.write_group(self.step, self.column, value, self.output)
