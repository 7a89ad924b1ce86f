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
from urllib.parse import urlsplit

from rich.console import Console

from obelics_pipeline.check.meter import metered
from obelics_pipeline.check.sampled_engine import SampledEngine, Step
from obelics_pipeline.commit import Manifest
from obelics_pipeline.config import RunConfig, ScoringConfig
from obelics_pipeline.dealt import Dealt
from obelics_pipeline.display import Display
from obelics_pipeline.events import EventLog
from obelics_pipeline.exchange import deal, sources_of
from obelics_pipeline.extract.stage import extract_unit, extract_units, measurer
from obelics_pipeline.fetch.stage import request_unit, request_units
from obelics_pipeline.folder import RunFolder
from obelics_pipeline.job import Documents, Job
from obelics_pipeline.read.ranges import ReadTask
from obelics_pipeline.run import PRELOAD, STAGES
from obelics_pipeline.shard.image_rules import url_reason
from obelics_pipeline.shard.validate import problems
from obelics_pipeline.stages import StageRunner
from obelics_pipeline.storage import read_table, scratch_of
from obelics_pipeline.unit import Unit

START = "start"  # what is done once, whatever the size of the input
LEAST_SECONDS = 60.0  # that a single unit is given, whatever the time for the whole sample


@dataclass(frozen=True)
class Part:
    """One sampled unit. `weight` is its share of the input in the measure of its kind: bytes, or rows of pointers."""

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


def spread(tasks: Sequence[ReadTask], units: int) -> list[ReadTask]:
    """At most `units` tasks of each kind of input, evenly over it: the first, the last, then those between."""
    chosen: list[ReadTask] = []
    for kind in ("warc", "pointers"):
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
        return sample_into(folder, spread(tasks, units), config, seconds)
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
    sampled = config.model_copy(update={"dedup": dedup, "fetch": fetch, "score": ScoringConfig()})
    sample = Sample(asked=len(tasks))
    events = EventLog(run.scratch / "events.jsonl")
    with SampledEngine(run.scratch, unit_seconds, PRELOAD) as engine:
        with engine.stage(START):
            list(engine.map(_start, [sampled.model_dump_json()]))
            import_module("pyarrow.dataset")  # what the driver loads once
            import_module("duckdb")
        runner = StageRunner(engine, events, Display(Console(file=io.StringIO())), STAGES)
        job = Job(run, sampled, runner)
        extracted = _extract(runner, run, sampled, tasks, job, until, sample)
        if extracted:
            with engine.stage("dedup"):
                documents = job.dedup(extracted)
            if sampled.site.active:
                with engine.stage("site"):
                    documents = job.site(extracted, documents)
            if config.fetch.enabled:
                with engine.stage("fetch"):
                    requests = _requests(runner, run, config, documents)
                _count_urls(requests, run, sample)
            with engine.stage("assemble"):
                assembled = job.assemble(documents, Dealt(run.fetch), Dealt(run.exchange))
            with engine.stage("shard"):
                job.shard(assembled)
            with engine.stage("validate"):
                sample.problems += problems(run.path, engine.map)
            sample.whole += _counts(job, runner, run, extracted)
        sample.steps = engine.steps
    events.close()
    return sample


def _start(config_json: str) -> None:
    """Load in a worker what it loads once in its life, so that it is no part of a unit."""
    measurer(config_json)
    for name in ("webdataset", "datasets"):  # read shards back
        with suppress(ImportError):
            import_module(name)


def _extract(
    runner: StageRunner,
    run: RunFolder,
    config: RunConfig,
    tasks: Sequence[ReadTask],
    job: Job,
    until: float,
    sample: Sample,
) -> list[Manifest]:
    """The units that could be extracted before the time was up, in the order of the input."""
    work = partial(extract_unit, folder=run.extract, config=config, opt_outs=job.opt_outs, robots=job.robots)
    engine, done = runner.engine, list[Unit]()
    assert isinstance(engine, SampledEngine)
    units = extract_units(tasks, config, opt_outs=job.opt_outs, robots=job.robots)
    with engine.stage("extract"):
        for task, unit in zip(tasks, units, strict=True):
            if done and time.monotonic() >= until:
                break
            for _, outcome in engine.map_units(work, [unit]):
                if isinstance(outcome, Manifest):
                    done.append(unit)
                    sample.parts.append(Part(unit.label, task.kind, task.end - task.start, _counts_of(outcome)))
                else:
                    sample.problems.append(f"{unit.label}: {outcome.reason}")
    done.sort(key=lambda unit: [task.label for task in sorted(tasks, key=_place)].index(unit.label))
    return runner.map("extract", work, done, run.extract)  # so that the ledgers are those of all


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


def _requests(runner: StageRunner, run: RunFolder, config: RunConfig, documents: Documents) -> list[Manifest]:
    """Which image URLs the kept documents would ask for: the first half of the fetch stage, as a run does it."""
    rules = config.images
    work = partial(
        request_unit,
        folder=run.requests,
        document_folder=documents.folder,
        buckets=1,
        url_reason=partial(url_reason, config=rules),
    )
    units = request_units(documents.units, config.fetch, [rules.banned_words, rules.banned_as_substrings])
    requests = runner.map("requests", work, units, run.requests, part_of="fetch")
    deal(runner, run.exchange / "requests", sources_of(requests, run.requests), "bucket")
    return requests


def _count_urls(requests: Sequence[Manifest], run: RunFolder, sample: Sample) -> None:
    asked = [url for m in requests for url in read_table(m.path(run.requests, "data"), ["url"])["url"].to_pylist()]
    sample.urls = sorted(set(asked))
    sample.hosts = Counter(_host(url) for url in sample.urls)
    sample.whole["requests"] = len(asked)


def _host(url: str) -> str:
    try:
        return (urlsplit(url).hostname or "").lower()
    except ValueError:
        return ""


def _counts(job: Job, runner: StageRunner, run: RunFolder, extracted: Sequence[Manifest]) -> Counter[str]:
    """What all parts together gave, stage by stage."""
    counts: Counter[str] = Counter()
    for manifest in extracted:
        counts.update(_counts_of(manifest))
    dedup = runner.ledgers.get("dedup", {}).get("documents")
    counts["after_dedup"] = dedup.kept if dedup is not None else counts["documents"]
    counts["in_shards"] = job.ledgers["documents"].kept
    counts["images_in_shards"] = job.ledgers["images"].kept
    counts["shard_bytes"] = _bytes(run, ["shards"])
    for name, step in (("candidates", "candidates"), ("uses", "uses"), ("alive", "passed")):
        rows, size = _messages(run, step)
        counts[f"{name}_rows"], counts[f"{name}_bytes"] = rows, size
    return counts


def _bytes(run: RunFolder, folders: Iterable[str]) -> int:
    root = Path(run.path.path) if not isinstance(run.path, Path) else run.path
    return sum(p.stat().st_size for name in folders for p in (root / name).rglob("*.tar"))


def _messages(run: RunFolder, step: str) -> tuple[int, int]:
    """Rows and bytes of the message files of a step."""
    import pyarrow.parquet as pq

    root = Path(run.path.path) if not isinstance(run.path, Path) else run.path
    files = sorted((root / "exchange" / step).glob("*.parquet"))
    return sum(pq.read_metadata(path).num_rows for path in files), sum(path.stat().st_size for path in files)
