"""A few units spread over the input, taken through the stages of a run in a temporary folder, and what they cost."""

from __future__ import annotations

import io
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from pathlib import Path

from rich.console import Console

from obelics_pipeline.core.commit import Manifest
from obelics_pipeline.core.config import ImageSafetyConfig, RunConfig, ScoringConfig
from obelics_pipeline.core.folder import RunFolder
from obelics_pipeline.core.shards.webdataset_parts import webdataset_parts
from obelics_pipeline.core.storage import scratch_of
from obelics_pipeline.core.tables import read_kept
from obelics_pipeline.core.unit import Unit
from obelics_pipeline.engines.runner import StageRunner
from obelics_pipeline.inspect.check.meter import metered
from obelics_pipeline.inspect.check.sampled_engine import SampledEngine, Step
from obelics_pipeline.jobs.display import Display
from obelics_pipeline.jobs.events import EventLog
from obelics_pipeline.jobs.publish import publish
from obelics_pipeline.jobs.stages import PRELOAD, columns_of, names_of, stages_of
from obelics_pipeline.stages.extract.stage import extract_unit, extract_units, incomplete_file, measurer
from obelics_pipeline.stages.extract.value import EXTRACT, robots_of
from obelics_pipeline.stages.fetch.host import host_of
from obelics_pipeline.stages.job import Documents, Job
from obelics_pipeline.stages.read.ranges import ReadTask
from obelics_pipeline.stages.shard.validate import problems
from obelics_pipeline.stages.stage import Stage

VALIDATE = "validate"  # reading the shards back
AFTER = "after_"  # begins the name of a count: of the documents that the stage of this name kept
START = "start"  # what is done once, whatever the size of the input
LEAST_SECONDS = 60.0  # that a single unit is given, whatever the time for the whole sample


@dataclass(frozen=True)
class Part:
    """One sampled unit. `weight` is its share of the input in the measure of its kind: bytes, or rows."""

    label: str
    kind: str
    weight: int
    counts: Mapping[str, int]  # records, pages, documents, … of this unit alone


@dataclass
class Sample:
    """What was measured. Counts of `whole` are those of all parts together, in which duplicates have met."""

    parts: list[Part] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    whole: Counter[str] = field(default_factory=Counter)
    urls: list[str] = field(default_factory=list)  # distinct image URLs, sorted
    hosts: Counter[str] = field(default_factory=Counter)  # host -> distinct image URLs
    asked: int = 0  # units that were to be sampled
    seconds: float = 0.0
    problems: list[str] = field(default_factory=list)  # of units that failed, a line each


def evenly_spaced(tasks: Sequence[ReadTask], units: int) -> list[ReadTask]:
    """At most `units` tasks of each kind of input, evenly over it: the first, the last, then those between."""
    chosen: list[ReadTask] = []
    for kind in ("warc", "pointers", "rows"):
        of_kind = [task for task in tasks if task.kind == kind]
        n = min(units, len(of_kind))
        places = sorted({round(i * (len(of_kind) - 1) / max(n - 1, 1)) for i in range(n)})
        chosen += [of_kind[i] for i in [*places[:1], *places[1:][-1:], *places[1:-1]]]
    return chosen


def take_sample(tasks: Sequence[ReadTask], config: RunConfig, units: int, seconds: float) -> Sample:
    """Run the stages on some units, without fetching an image.

    No further unit is begun after `seconds`; one is done at least. Raises UserError and Stopped as a run would.
    """
    folder = Path(tempfile.mkdtemp(prefix="obelics-check-"))
    try:
        return sample_into(folder, evenly_spaced(tasks, units), config, seconds)
    finally:
        shutil.rmtree(scratch_of(metered(folder)), ignore_errors=True)
        shutil.rmtree(folder, ignore_errors=True)


def sample_into(folder: Path, tasks: Sequence[ReadTask], config: RunConfig, seconds: float) -> Sample:
    """Run the stages on these units in a local folder, which is left as it is then."""
    began = time.monotonic()
    sample = _take(tasks, config, RunFolder(metered(folder)), began + seconds, max(seconds, LEAST_SECONDS))
    sample.seconds = time.monotonic() - began
    return sample


def _take(tasks: Sequence[ReadTask], config: RunConfig, run: RunFolder, until: float, unit_seconds: float) -> Sample:
    # One bucket, so that what a row costs is not hidden by what an empty bucket costs; no image is asked for here, and
    # without images no model of the score stage would do what it will do.
    dedup = config.dedup.model_copy(update={"buckets": 1})
    fetch = config.fetch.model_copy(update={"enabled": False})
    without = {"score": ScoringConfig(), "image_safety": ImageSafetyConfig()}
    sampled = config.model_copy(update={"dedup": dedup, "fetch": fetch, **without})
    sample = Sample(asked=len(tasks))
    events = EventLog(run.scratch / "events.jsonl")
    with SampledEngine(run.scratch, unit_seconds, PRELOAD) as engine:
        with engine.stage(START):
            list(engine.map(_start, [sampled.model_dump_json()]))
            import_module("pyarrow.dataset")  # what the driver loads once
            import_module("duckdb")
        stages = stages_of(sampled)
        runner = StageRunner(engine, events, Display(Console(file=io.StringIO())), names_of(stages))
        job = Job(run, sampled, runner, columns_of(stages, sampled))
        _extract(job, tasks, until, sample)
        if job.extracted:
            for stage in stages[1:]:
                if stage.cost.asks is not None and stage.active(config):
                    with engine.stage(stage.name):
                        asked = stage.cost.asks(job, config)
                    _count_urls(asked, sample)
                elif stage.active(sampled) and stage.cost.sampled:
                    with engine.stage(stage.name):
                        stage.work(job)
                        if stage is stages[-1]:
                            publish(job, stages)
            with engine.stage(VALIDATE):
                sample.problems += problems(run.path, engine.map)
            sample.whole += _counts(job, runner, run, job.extracted) + _after(stages, runner)
        sample.steps = engine.steps
    events.close()
    return sample


def _start(config_json: str) -> None:
    """Load in a worker what it loads once in its life, so that it is no part of a unit."""
    measurer(config_json)
    webdataset_parts()  # reads shards back, as `datasets` does
    with suppress(ImportError):
        import_module("datasets")


def _extract(job: Job, tasks: Sequence[ReadTask], until: float, sample: Sample) -> None:
    """The units that could be extracted before the time was up, in the order of the input."""
    engine, done, folder, robots = job.runner.engine, list[Unit](), job.folder.extract, robots_of(job)
    assert isinstance(engine, SampledEngine)
    work = partial(extract_unit, folder=folder, config=job.config, opt_outs=job.opt_outs, robots=robots)
    units = extract_units(tasks, job.config, opt_outs=job.opt_outs, robots=robots)
    with engine.stage(EXTRACT.name):
        for task, unit in zip(tasks, units, strict=True):
            if done and time.monotonic() >= until:
                break
            for _, outcome in engine.map_units(work, [unit]):
                if isinstance(outcome, Manifest):
                    done.append(unit)
                    sample.parts.append(Part(unit.label, task.kind, task.end - task.start, _counts_of(outcome)))
                    sample.problems += [wrong] if (wrong := incomplete_file(unit, outcome)) else []
                else:
                    sample.problems.append(f"{unit.label}: {outcome.reason}")
    done.sort(key=lambda unit: [task.label for task in sorted(tasks, key=_place)].index(unit.label))
    job.extracted = job.runner.map(EXTRACT.name, work, done, folder)  # so that the ledgers are those of all
    job.documents = Documents(job.extracted, folder)


def _place(task: ReadTask) -> tuple[bool, str, int]:
    return task.kind != "warc", task.name, task.start


def _counts_of(manifest: Manifest) -> dict[str, int]:
    records, documents = manifest.ledgers["records"], manifest.ledgers["documents"]
    return {
        "records": records.entered,
        "pages": records.kept,
        "documents_read": documents.entered,
        "documents": documents.kept,
        "extracted_bytes": sum(int(f["bytes"]) for f in manifest.files.values()),
    }


def _count_urls(asked: Sequence[str], sample: Sample) -> None:
    sample.urls = sorted({*sample.urls, *asked})
    sample.hosts = Counter(host_of(url) for url in sample.urls)
    sample.whole["requests"] += len(asked)


def _counts(job: Job, runner: StageRunner, run: RunFolder, extracted: Sequence[Manifest]) -> Counter[str]:
    """The counts of all parts together, by stage."""
    counts: Counter[str] = Counter()
    for manifest in extracted:
        counts.update(_counts_of(manifest))
    counts["in_shards"] = job.ledgers["documents"].kept
    counts["images_in_shards"] = job.ledgers["images"].kept
    counts["shard_bytes"] = _bytes(run, ["shards"])
    kept = (document for m in job.documents.units for document in read_kept(m.path(job.documents.folder, "data")))
    counts["text_bytes"] = sum(len(document.text().encode("utf-8", "surrogatepass")) for document in kept)
    for name, step in (("candidates", "candidates"), ("uses", "uses"), ("alive", "passed")):
        rows, size = _shuffled_rows(run, step)
        counts[f"{name}_rows"], counts[f"{name}_bytes"] = rows, size
    return counts


def _after(stages: Sequence[Stage], runner: StageRunner) -> Counter[str]:
    """How many documents each stage after the first kept, until they meet their images."""
    return Counter(
        {
            AFTER + stage.name: runner.ledgers[stage.name]["documents"].kept
            for stage in stages[1:]
            if not stage.with_images and "documents" in runner.ledgers.get(stage.name, {})
        }
    )


def _bytes(run: RunFolder, folders: Iterable[str]) -> int:
    root = Path(run.path.path) if not isinstance(run.path, Path) else run.path
    return sum(p.stat().st_size for name in folders for p in (root / name).rglob("*.tar"))


def _shuffled_rows(run: RunFolder, step: str) -> tuple[int, int]:
    """Rows and bytes of the shuffled files of a step."""
    import pyarrow.parquet as pq

    root = Path(run.path.path) if not isinstance(run.path, Path) else run.path
    files = sorted((root / "shuffled" / step).glob("*.parquet"))
    return sum(pq.read_metadata(path).num_rows for path in files), sum(path.stat().st_size for path in files)
