"""`ExtractDocuments`: WARC files, or ranges of them, to measured and decided documents."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import apache_beam as beam
from apache_beam.pvalue import PCollection

import obelics_pipeline.beam_jobs.elements  # noqa: F401 - registers the coders
from obelics_pipeline.beam_jobs.child_process import ChildProcess
from obelics_pipeline.beam_jobs.counters import count_unit
from obelics_pipeline.core.config import RunConfig
from obelics_pipeline.core.document import Document
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.tables import read_documents
from obelics_pipeline.engines.engine import Failure
from obelics_pipeline.engines.local import LocalEngine
from obelics_pipeline.policy.opt_outs.lists import prepare
from obelics_pipeline.policy.tombstones.tombstones import configured
from obelics_pipeline.stages.extract.stage import extract_unit, extract_units
from obelics_pipeline.stages.read.inputs import resolve_inputs
from obelics_pipeline.stages.read.ranges import ReadTask, plan_ranges
from obelics_pipeline.stages.read.robots import captures_of
from obelics_pipeline.stages.rows.layouts.layout import LAYOUTS

UNIT_SECONDS = 3600.0  # a range that takes longer is killed and tried again


class ExtractDocuments(beam.PTransform[Any, Any]):
    """PCollection[str | ReadTask] -> PCollection[Document].

    In: whatever `obelics run --input` takes, one per element, or ranges that `plan_ranges` made of all of them (then
    files of equal names in different folders count as different). Out: every document of every page, in no order,
    measured; `reason`: None if it is kept, else the filter that dropped it. Counters: `records_*`, `documents_*` by
    reason.

    A range is read by a guarded process: a page that kills or hangs it is singled out and counted. Raises (and with it
    fails the bundle) where a range cannot be read at all. Raises UserError for a layout whose rows hold images.
    """

    def __init__(self, config: RunConfig, unit_timeout_seconds: float = UNIT_SECONDS) -> None:
        super().__init__()
        layout = LAYOUTS.get(config.reading.layout)
        if layout is not None and layout.carries:
            raise UserError(
                f"reading.layout {config.reading.layout}: images in rows are not read by these transforms; use "
                "obelics run --engine beam"
            )
        self._config, self._seconds = config, unit_timeout_seconds

    def expand(self, pcoll: PCollection[Any]) -> PCollection[Any]:
        """Plan, deal out, read."""
        guard = ChildProcess(Path(tempfile.gettempdir()), self._seconds, ("obelics_pipeline.stages.extract.stage",))
        return (
            pcoll
            | "Plan" >> beam.ParDo(_Plan(self._config)).with_output_types(ReadTask)
            | "DealOut" >> beam.Reshuffle()
            | "Extract" >> beam.ParDo(_Extract(self._config, guard)).with_output_types(Document)
        )


class _Plan(beam.DoFn):
    def __init__(self, config: RunConfig) -> None:
        self._config = config

    def process(self, element: str | ReadTask) -> Iterator[ReadTask]:
        if isinstance(element, ReadTask):
            yield element
        else:
            yield from plan_ranges(resolve_inputs([element], self._config.reading), self._config.reading)


class _Extract(beam.DoFn):
    def __init__(self, config: RunConfig, guard: ChildProcess) -> None:
        self._config, self._guard = config, guard

    def setup(self) -> None:
        self._child: LocalEngine = self._guard.open().__enter__()
        self._lists = tempfile.TemporaryDirectory(prefix="obelics-")
        options = self._config.reading.storage_options
        self._opt_outs = prepare(self._config.consent.lists, Path(self._lists.name), options)
        self._robots = captures_of(self._config.consent.crawl, self._config.reading, Path(self._lists.name))

    def teardown(self) -> None:
        self._child.__exit__(None, None, None)
        self._lists.cleanup()

    def process(self, element: ReadTask) -> Iterator[Document]:
        with tempfile.TemporaryDirectory(prefix="obelics-") as name:
            folder = Path(name)
            work = partial(
                extract_unit,
                folder=folder,
                config=self._config,
                opt_outs=self._opt_outs,
                robots=self._robots,
                forgotten=configured(self._config),
            )
            units = extract_units([element], self._config, opt_outs=self._opt_outs, robots=self._robots)
            for _, outcome in self._child.map_units(work, units):
                count_unit(outcome)
                if isinstance(outcome, Failure):
                    raise RuntimeError(f"{element.name} from {element.start} to {element.end}: {outcome.reason}")
                yield from read_documents(outcome.path(folder, "data"))
