"""What the driver of a made-up run spends, step by step: CPU seconds of its process, and the most memory it had."""

from __future__ import annotations

import io
import shutil
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console

from benchmarks.scale.fit import Size
from benchmarks.scale.made_engine import MadeEngine
from benchmarks.scale.made_run import DOCUMENT_BYTES, DOCUMENTS_OF_A_PART, DOCUMENTS_OF_A_TAR, UNIT_BYTES, MadeRun
from benchmarks.scale.process import Spent, memory_folder, peak, reset_peak
from obelics_pipeline.core.config import RunConfig, load_config
from obelics_pipeline.core.folder import RunFolder
from obelics_pipeline.core.shards import look_up
from obelics_pipeline.engines.runner import StageRunner
from obelics_pipeline.jobs.display import Display
from obelics_pipeline.jobs.events import EventLog
from obelics_pipeline.jobs.publish import publish
from obelics_pipeline.jobs.stages import columns_of, names_of, stages_of
from obelics_pipeline.stages.job import Job
from obelics_pipeline.stages.read.inputs import Inputs
from obelics_pipeline.stages.shard.validate import problems

# What ends with an event: the units of a step are listed, they are done; files are listed, groups of rows are there.
ENDS = {
    "stage_started": "plan",
    "stage_done": "units",
    "shuffle_started": "plan of shuffles",
    "shuffle_done": "shuffles",
}


class Clock:
    """The events of a run, which tell where a step ends. What is between two belongs to the one that ends there."""

    def __init__(self, log: EventLog) -> None:
        self._log, self._stage = log, ""
        self.spent: dict[str, list[Spent]] = defaultdict(list)
        self._began, self._size = time.process_time(), reset_peak()

    def write(self, event: str, **values: Any) -> None:
        """Note one event, and what was spent since the one before."""
        self._log.write(event, **values)
        about = str(values.get("step") or values.get("stage") or "")
        if event in ENDS:
            self.mark(ENDS[event] if event.startswith("shuffle") else f"{ENDS[event]} {about}")

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """What is done in the block belongs to a stage."""
        self._stage = name
        self.mark("rest")
        yield
        self.mark("rest")

    def mark(self, step: str) -> None:
        """End a step here."""
        now = time.process_time()
        spent = Spent(now - self._began, peak() - self._size)
        self.spent[f"{self._stage}: {step}"].append(spent)
        reset_peak()
        self._began = time.process_time()


def config_of(run: MadeRun) -> RunConfig:
    """The default config with the buckets of so large a run."""
    settings = [
        f"fetch.buckets={run.fetch_buckets}",
        f"dedup.buckets={run.dedup_buckets}",
        f"reading.unit_bytes={UNIT_BYTES}",
        f"shard.target_bytes={DOCUMENT_BYTES * DOCUMENTS_OF_A_TAR}",
        f"shard.index_rows={DOCUMENTS_OF_A_PART}",
    ]
    return load_config("default", settings)


@contextmanager
def small_buckets() -> Iterator[None]:
    """Look-ups in several buckets, as those of a large run, which no setting asks for."""
    before, look_up.ROWS_PER_BUCKET = look_up.ROWS_PER_BUCKET, DOCUMENTS_OF_A_PART
    try:
        yield
    finally:
        look_up.ROWS_PER_BUCKET = before


def drive(size: Size) -> dict[str, Spent]:
    """A run of so many documents and units, from the first to its validation; what each step of it spent here."""
    run = MadeRun(int(size.rows), int(size.units))
    config = config_of(run)
    place = Path(tempfile.mkdtemp(prefix="obelics-scale-", dir=memory_folder()))
    try:
        folder = RunFolder(place)
        engine = MadeEngine(run, place)
        with small_buckets(), closing(EventLog(folder.events)) as log, engine:
            list(engine.map(id, [0]))  # starts the worker
            return _stages(folder, config, run, Clock(log), engine)
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _stages(folder: RunFolder, config: RunConfig, run: MadeRun, clock: Clock, engine: MadeEngine) -> dict[str, Spent]:
    every = stages_of(config)
    runner = StageRunner(engine, clock, Display(Console(file=io.StringIO())), names_of(every))
    job = Job(folder, config, runner, columns_of(every, config))
    job.shared(Inputs, run.inputs)
    for stage in every:
        if stage.active(config):
            with clock.stage(stage.name):
                stage.work(job)
    with clock.stage("publish"):
        publish(job, every)
    with clock.stage("validate"):
        found = problems(folder.path, engine.map)
    if found:
        raise RuntimeError(f"a made-up run does not validate: {found[0]}")
    return {
        step: Spent(sum(spent.seconds for spent in times), max(spent.memory for spent in times))
        for step, times in clock.spent.items()
    }
