"""The engine's verbs as Beam pipelines. Each function only builds: nothing runs until the pipeline is run."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict
from typing import Any

import apache_beam as beam
import pyarrow as pa
import pyarrow.compute as pc
from apache_beam.ml.inference.base import RunInference

from obelics_pipeline.beam_jobs.child_process import ChildProcess
from obelics_pipeline.beam_jobs.counters import count, count_unit
from obelics_pipeline.beam_jobs.model_child import UnitHandler, unit_of
from obelics_pipeline.beam_jobs.outcomes import Answer, Outcome, Outcomes, from_json
from obelics_pipeline.core.commit import Manifest
from obelics_pipeline.core.errors import Stopped, UserError
from obelics_pipeline.core.storage import Location, draft, read_table
from obelics_pipeline.core.unit import Unit
from obelics_pipeline.engines.engine import Failure, MakeModel, Work, WorkWithModel
from obelics_pipeline.engines.groups import Reduce, write_group
from obelics_pipeline.engines.local import LocalEngine

UNITS_PER_FILE = 1000


def write_units(units: Sequence[Unit], folder: Location) -> list[Location]:
    """Lay units down, a line of JSON each, a thousand to a file: a job's graph may be 10 MB (Dataflow), units more."""
    files = []
    for start in range(0, len(units), UNITS_PER_FILE):
        files.append(folder / f"units-{start:09d}.jsonl")
        lines = "".join(f"{json.dumps(asdict(unit))}\n" for unit in units[start : start + UNITS_PER_FILE])
        with draft(files[-1]) as path:
            path.write_text(lines, encoding="utf-8")
    return files


def build_map_units(
    pipeline: beam.Pipeline, *, work: Work, files: Sequence[Location], guard: ChildProcess, outcomes: Outcomes
) -> None:
    """files of units | lines (str, JSON) | Reshuffle | ParDo(work): the outcome of a unit goes to `outcomes`."""
    (
        pipeline
        | "Files" >> beam.Create(list(range(len(files))), reshuffle=False).with_output_types(int)
        | "Units" >> beam.ParDo(_ReadLines(files)).with_output_types(str)
        | "DealOut" >> beam.Reshuffle()  # or reading is fused with the work, and one worker does all
        | "Work" >> beam.ParDo(_DoUnit(work, guard, outcomes))
    )


def build_map_models(
    pipeline: beam.Pipeline,
    *,
    make: MakeModel,
    work: WorkWithModel,
    files: Sequence[Location],
    guard: ChildProcess,
    outcomes: Outcomes,
) -> None:
    """files of units | lines (str, JSON) | Reshuffle | RunInference: the outcome of a unit goes to `outcomes`."""
    (
        pipeline
        | "Files" >> beam.Create(list(range(len(files))), reshuffle=False).with_output_types(int)
        | "Units" >> beam.ParDo(_ReadLines(files)).with_output_types(str)
        | "DealOut" >> beam.Reshuffle()
        | "Infer" >> RunInference(UnitHandler(make, work, guard))
        | "Note" >> beam.ParDo(_NoteOutcome(outcomes))
    )


def build_map(
    pipeline: beam.Pipeline, *, function: Callable[[Any], Any], items: Sequence[tuple[int, Any]], guard: ChildProcess,
    outcomes: Outcomes,
) -> None:  # fmt: skip
    """(number, item) | Reshuffle | ParDo(function): the value of each goes to `outcomes` under its number."""
    (
        pipeline
        | "Items" >> beam.Create(list(items), reshuffle=False)
        | "DealOut" >> beam.Reshuffle()
        | "Call" >> beam.ParDo(_CallFunction(function, guard, outcomes))
    )


def build_shuffle(
    pipeline: beam.Pipeline, *, sources: Sequence[Location], column: str, reduce: Reduce, output: Location
) -> None:
    """paths | Reshuffle | (value, Arrow IPC stream) | GroupByKey | a reduced group per value below `output`."""
    (
        pipeline
        | "Files" >> beam.Create(list(range(len(sources))), reshuffle=False).with_output_types(int)
        | "DealOut" >> beam.Reshuffle()
        | "Split" >> beam.ParDo(_SplitByValue(sources, column)).with_output_types(tuple[str, bytes])
        | "ByValue" >> beam.GroupByKey()
        | "Reduce" >> beam.ParDo(_ReduceGroup(column, reduce, output))
    )


class _ReadLines(beam.DoFn):
    def __init__(self, files: Sequence[Location]) -> None:
        self._files = tuple(files)

    def process(self, element: int) -> Iterator[str]:
        yield from self._files[element].read_text(encoding="utf-8").splitlines()


class _Guarded(beam.DoFn):
    """A DoFn with a guarded child for as long as it lives."""

    def __init__(self, guard: ChildProcess, outcomes: Outcomes) -> None:
        self._guard, self._outcomes = guard, outcomes
        self._over = False  # the run ends here: the driver knows, or will soon

    def setup(self) -> None:
        """Once per instance, in the worker."""
        self._child: LocalEngine = self._guard.open().__enter__()

    def teardown(self) -> None:
        """Before the instance goes; a worker that is killed takes its child along anyway."""
        self._child.__exit__(None, None, None)

    def _note(self, name: str, outcome: Outcome) -> None:
        self._over = isinstance(outcome, UserError | Stopped)
        self._outcomes.write(name, outcome)


class _DoUnit(_Guarded):
    def __init__(self, work: Work, guard: ChildProcess, outcomes: Outcomes) -> None:
        super().__init__(guard, outcomes)
        self._work = work

    def process(self, element: str) -> None:
        if self._over:
            return
        unit = unit_of(element)
        try:
            for _, outcome in self._child.map_units(self._work, [unit]):
                self._note(unit.name, outcome)
                count_unit(outcome)
        except (UserError, Stopped) as error:
            self._note(unit.name, error)


class _NoteOutcome(beam.DoFn):
    def __init__(self, outcomes: Outcomes) -> None:
        self._outcomes = outcomes

    def process(self, element: tuple[str, str]) -> None:
        name, outcome = element[0], from_json(json.loads(element[1]))
        self._outcomes.write(name, outcome)
        if isinstance(outcome, Manifest | Failure):
            count_unit(outcome)


class _CallFunction(_Guarded):
    def __init__(self, function: Callable[[Any], Any], guard: ChildProcess, outcomes: Outcomes) -> None:
        super().__init__(guard, outcomes)
        self._function = function

    def process(self, element: tuple[int, Any]) -> None:
        if self._over:
            return
        number, item = element
        try:
            for value in self._child.map(self._function, [item]):
                self._note(str(number), Answer(value))
        except Exception as error:  # it is the driver that raises it
            self._note(str(number), error)


class _SplitByValue(beam.DoFn):
    def __init__(self, sources: Sequence[Location], column: str) -> None:
        self._sources, self._column = tuple(sources), column

    def process(self, element: int) -> Iterator[tuple[str, bytes]]:
        table = read_table(self._sources[element])
        values = table[self._column]
        if values.null_count:
            raise ValueError(f"{self._sources[element]}: {values.null_count} rows without a {self._column}")
        for value in pc.unique(values):
            rows = table.filter(pc.equal(values, value))
            count("rows_dealt_out", rows.num_rows)
            yield str(value.as_py()), to_ipc(rows)


class _ReduceGroup(beam.DoFn):
    def __init__(self, column: str, reduce: Reduce, output: Location) -> None:
        self._column, self._reduce, self._output = column, reduce, output

    def process(self, element: tuple[str, Iterable[bytes]]) -> None:
        rows = pa.concat_tables([from_ipc(stream) for stream in element[1]])
        write_group(rows, self._column, self._reduce, self._output)
        count("rows_received", rows.num_rows)


def to_ipc(table: pa.Table) -> bytes:
    """A table as one Arrow stream."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def from_ipc(stream: bytes) -> pa.Table:
    """The inverse of `to_ipc`."""
    return pa.ipc.open_stream(stream).read_all()
