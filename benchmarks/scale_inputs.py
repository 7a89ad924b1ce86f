"""What one crawl and many would take, reckoned from WARC files that are measured here. Prints Markdown.

    python benchmarks/scale_inputs.py FILE.warc.gz … [--crawls 1 25] [--cores 1000] [--unit-bytes 1000000000]

Each file is taken through the stages of a run (that is `obelics check`, with one unit per file), and beside that are
measured: how evenly keys fall into buckets, how often the most frequent key comes, and what the driver holds in memory
for each unit. Then the numbers are scaled by the compressed bytes of the input. docs/scale.md says what follows.
"""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
import tracemalloc
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from math import ceil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from obelics_pipeline.core.commit import Manifest
from obelics_pipeline.core.config import RunConfig, load_config
from obelics_pipeline.core.interval import rounded
from obelics_pipeline.core.ledger import Ledger
from obelics_pipeline.core.storage import scratch_of
from obelics_pipeline.inspect.check.estimate import Estimate, Plan, estimate, totals
from obelics_pipeline.inspect.check.limits import BUCKET_ROWS
from obelics_pipeline.inspect.check.meter import Traffic, metered
from obelics_pipeline.inspect.check.sample import START, Sample, sample_into
from obelics_pipeline.inspect.check.sampled_engine import DRIVER, UNIT, Cost, Step
from obelics_pipeline.stages.assumptions import Assumptions
from obelics_pipeline.stages.read.inputs import Inputs, WarcSource, resolve_inputs
from obelics_pipeline.stages.read.ranges import plan_ranges

WARCS, WARC_BYTES = 80_000, 1_000_000_000  # of a crawl: about 80,000 files of about 1 GB
OBJECTS = 2_000  # that are made to measure the memory of one
LETTERS = "%05d-0123456789abcdef"


@dataclass(frozen=True)
class Memory:
    """Bytes that the driver holds for each unit of the input."""

    plan: float
    manifests: dict[str, float]
    dealt: float


def held(make: Callable[[int], Any]) -> float:
    """Bytes of one of the objects that `make` makes from a number."""
    tracemalloc.start()
    kept = [make(i) for i in range(OBJECTS)]
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    del kept
    return size / OBJECTS


def driver_memory(folder: Path, config: RunConfig) -> Memory:
    """From the manifests of the sample, each read again and again under other names, as a driver has them."""
    sources = [WarcSource(f"s3://bucket/{LETTERS % i}", LETTERS % i, WARC_BYTES, "e") for i in range(OBJECTS)]
    tracemalloc.start()
    tasks = plan_ranges(Inputs(sources, []), config.reading.model_copy(update={"unit_bytes": WARC_BYTES}))
    plan, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(tasks) == OBJECTS
    found: dict[str, float] = {}
    for path in sorted(folder.glob("**/manifests/*.json")):
        text = path.read_text()
        stage = json.loads(text)["stage"]
        if stage not in found:
            found[stage] = held(partial(renumbered, text))
    name = "CC-MAIN-20260101000000-20260101000000-00000-000000000000-0123456789abcdef"
    dealt = held(lambda i: ({f"{name}{i}": [f"dealt/{name}/partition={name}{i}/data_0.parquet"]}, {f"{name}{i}": name}))
    return Memory(plan / OBJECTS, found, dealt)


def renumbered(text: str, number: int) -> Manifest:
    """The manifest of another unit."""
    return parsed(text.replace("-0000", f"-{number:05d}"))


def parsed(text: str) -> Manifest:
    """A manifest as `read_manifests` gives it."""
    value = json.loads(text)
    ledgers = {noun: Ledger.from_json(noun, counts) for noun, counts in value["ledgers"].items()}
    return Manifest(value["unit"], value["stage"], value["files"], ledgers, value["notes"])


def rows_of(folder: Path, step: str, columns: Sequence[str]) -> pa.Table:
    """The messages of a step in the sample."""
    files = sorted((folder / "shuffled" / step).glob("*.parquet"))
    return pa.concat_tables([pq.read_table(path, columns=list(columns)) for path in files])


def hottest(folder: Path, step: str) -> tuple[int, int, int]:
    """Rows of the most frequent key of a step, units that it is in, and all rows."""
    table = rows_of(folder, step, ["rule", "key", "partition"])
    keys = Counter(zip(table["rule"].to_pylist(), table["key"].to_pylist(), strict=True))
    (key, rows), *_ = keys.most_common(1)
    where = zip(table["rule"].to_pylist(), table["key"].to_pylist(), table["partition"].to_pylist(), strict=True)
    return rows, len({partition for rule, of, partition in where if (rule, of) == key}), table.num_rows


def uncombined(folder: Path) -> tuple[int, int]:
    """The most frequent paragraph or image: its uses, and the rows that travel once each unit has added up its own."""
    table = rows_of(folder, "uses", ["rule", "key", "count"])
    sums = table.group_by(["rule", "key"]).aggregate([("count", "sum"), ("count", "count")])
    rows = sorted(zip(sums["count_sum"].to_pylist(), sums["count_count"].to_pylist(), strict=True), reverse=True)
    return rows[0]


def fullest(folder: Path, step: str, buckets: int) -> float:
    """Rows of the fullest bucket, as a multiple of the mean."""
    keys = rows_of(folder, step, ["key"])["key"].to_pylist()
    counts = Counter(int.from_bytes(key[-8:], "little") % buckets for key in keys)
    return max(counts.values()) / (len(keys) / buckets)


def table(titles: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Print Markdown."""
    print(f"\n| {' | '.join(titles)} |")
    print(f"|{'---|' * len(titles)}")
    for row in rows:
        print(f"| {' | '.join(str(cell) for cell in row)} |")
    print()


def per(sample: Sample) -> None:
    """What was measured, per gigabyte of WARC and per document."""
    size = sum(part.weight for part in sample.parts)
    whole, gb = sample.whole, size / 1e9
    rows = [
        (name, f"{whole[key]:,}", rounded(whole[key] / gb), f"{whole[key] / whole['documents']:.3g}")
        for name, key in (
            ("records", "records"),
            ("pages that gave documents", "pages"),
            ("documents that filters keep", "documents"),
            ("after dedup", "after_dedup"),
            ("bytes of extract's files", "extracted_bytes"),
            ("messages: URL and text bands", "candidates_rows"),
            ("their bytes", "candidates_bytes"),
            ("messages: paragraphs and image URLs", "uses_rows"),
            ("their bytes", "uses_bytes"),
            ("messages: first of a group", "alive_rows"),
            ("bytes of tars without images", "shard_bytes"),
            ("images in documents", "images_in_shards"),
        )
    ]
    rows.append(("distinct image URLs", f"{len(sample.urls):,}", rounded(len(sample.urls) / gb), ""))
    rows.append(("hosts of images", f"{len(sample.hosts):,}", rounded(len(sample.hosts) / gb), ""))
    print(f"\n{len(sample.parts)} files, {size / 1e6:,.1f} MB compressed")
    table(("measured", "in all", "per GB of WARC", "per kept document"), rows)
    seconds: Counter[str] = Counter()
    for step in sample.steps:
        seconds[f"{step.stage}: {step.name if step.kind == UNIT else step.kind}"] += step.cost.cpu  # type: ignore[assignment]
    rows = [
        (name, f"{value:.2f}", rounded(value / gb), f"{1000 * value / whole['pages']:.2f}")
        for name, value in seconds.items()
        if not name.startswith("start")
    ]
    table(("CPU", "s in all", "s per GB of WARC", "ms per page"), rows)


def skew(folder: Path, sample: Sample, buckets: int) -> None:
    """How uneven the shuffles are."""
    rows = []
    for step in ("candidates", "uses"):
        most, units, in_all = hottest(folder, step)
        rows.append(
            (
                step,
                f"{in_all:,}",
                f"{most:,}",
                f"{units} of {len(sample.parts)}",
                f"{fullest(folder, step, buckets):.2f}",
            )
        )
    table(
        ("messages", "rows", "of the hottest key", "units that send it", f"fullest of {buckets} buckets / mean"), rows
    )
    uses, travel = uncombined(folder)
    print(f"The most used paragraph or image has {uses} uses, and sends {travel} rows, since a unit adds up its own.")
    share = sample.hosts.most_common(1)[0][1] / len(sample.urls)
    print(f"The host with the most images has {share:.1%} of {len(sample.urls):,} URLs.")


def driver_steps(files: Sequence[str], config_name: str, n: int, units: int) -> list[Step]:
    """What the driver does for `n` units: the difference between about `units` of the same files and half as many.

    A few units would show what a driver does once, however large the input.
    """
    size = sum(Path(file).stat().st_size for file in files)
    costs: list[dict[str, Cost]] = []
    counts: list[int] = []
    for cuts in (units, units // 2):
        config = load_config(config_name, [f"reading.unit_bytes={size // cuts}"])
        tasks = plan_ranges(resolve_inputs(files, config.reading), config.reading)
        folder = Path(tempfile.mkdtemp(prefix="obelics-scale-"))
        try:
            sample = sample_into(folder, tasks, config, 3600)
        finally:
            shutil.rmtree(scratch_of(metered(folder)), ignore_errors=True)
            shutil.rmtree(folder, ignore_errors=True)
        costs.append({step.stage: step.cost for step in sample.steps if step.kind == DRIVER})
        counts.append(len(sample.parts))
    steps = []
    more = counts[0] - counts[1]
    print(f"\nThe driver, for each unit: from {counts[0]} units less {counts[1]}\n")
    rows = []
    for stage in (name for name in costs[0] if name != START):
        many, few = costs[0][stage], costs[1][stage]
        asked = many.traffic - few.traffic
        asked.gets -= asked.missed  # of many units a listing tells which are done
        asked.missed = 0
        cpu = max(many.cpu - few.cpu, 0.0) / more
        rows.append((stage, f"{1000 * cpu:.2f}", f"{asked.puts / more:.2f}", f"{asked.gets / more:.2f}"))
        times = n / more
        traffic = Traffic(*(round(value * times) for value in (asked.puts, asked.gets, asked.read, asked.written)))
        steps.append(Step(stage, DRIVER, "driver", "", Cost(cpu * n, cpu * n, many.memory, traffic)))
    table(("driver", "CPU ms", "PUT and LIST", "GET and HEAD"), rows)
    return steps


# Lists of manifests, by stage, and maps of dealt files that a driver holds at the same time near the end of a run
# (obelics_pipeline/stages/dedup/deduplication.py).
HELD = ("extract", "candidates", "uses", "dedup", "requests", "assemble", "passed", "settled")
DEALT_MAPS = 5  # members, paragraphs and URLs, answers, looks, lost


def driver_bytes(memory: Memory, config: RunConfig) -> float:
    """What the driver holds for one unit."""
    stages = [name for name in HELD if name in memory.manifests]
    return memory.plan + sum(memory.manifests[name] for name in stages) + DEALT_MAPS * memory.dealt


def settings(crawls: int, unit_bytes: int, config: RunConfig, sample: Sample, assumed: Assumptions) -> RunConfig:
    """The config that fits so many crawls: units of this size, buckets that fit into a worker and a unit's time."""
    scale = crawls * WARCS * WARC_BYTES / sum(part.weight for part in sample.parts)
    messages = max(sample.whole["candidates_rows"], sample.whole["uses_rows"]) * scale
    fetch_seconds = len(sample.urls) * scale * assumed.image_seconds / config.fetch.threads
    buckets = {
        "dedup": config.dedup.model_copy(update={"buckets": 1 << ceil(messages / BUCKET_ROWS).bit_length()}),
        "fetch": config.fetch.model_copy(update={"buckets": 1 << ceil(fetch_seconds / 1800).bit_length()}),
        "reading": config.reading.model_copy(update={"unit_bytes": unit_bytes}),
    }
    return config.model_copy(update=buckets)


def show(crawls: int, config: RunConfig, found: Estimate, units: int, memory: Memory, cores: int) -> None:
    """One size of input."""
    unit_bytes, dedup, fetch = config.reading.unit_bytes, config.dedup.buckets, config.fetch.buckets
    print(f"\n### {crawls} x {WARCS:,} WARCs, units of {unit_bytes / 1e6:,.0f} MB\n")
    print(f"`reading.unit_bytes={unit_bytes}`, `dedup.buckets={dedup}`, `fetch.buckets={fetch}`, {cores:,} cores")
    rows = []
    for row in [*found.stages, totals(found.stages)]:
        numbers = (row.tasks, row.cpu_hours, row.wall_hours, row.serial_hours, row.read * 1e-12, row.written * 1e-12)
        rows.append(
            [row.stage, *(rounded(n.point) for n in (*numbers, row.puts, row.gets, row.site_requests, row.dollars))]
        )
    titles = ("stage", "tasks", "CPU h", "hours", "of them one after the other", "TB read", "TB written")
    table((*titles, "PUT", "GET", "to sites", "$"), rows)
    counts = found.counts
    messages = max(counts["candidates_rows"].point, counts["uses_rows"].point)
    sizes = [
        ("units of extract", rounded(units)),
        ("documents kept, before dedup", str(counts["documents"])),
        ("distinct image URLs, at most", str(counts["urls"])),
        ("messages of the largest shuffle", rounded(messages)),
        ("messages in a bucket", rounded(messages / dedup)),
        ("rows of a key that every unit sends, in one bucket", rounded(units)),
        ("driver: bytes for a unit", rounded(driver_bytes(memory, config))),
        ("driver: GB in all", rounded(driver_bytes(memory, config) * units / 1e9)),
        ("objects on the store", rounded(totals(found.stages).puts.point)),
        ("TB of tars", rounded(counts["shard_bytes"].point / 1e12)),
    ]
    table(("", ""), sizes)


def main() -> None:
    """Measure, then print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", metavar="FILE.warc.gz")
    parser.add_argument("--crawls", type=int, nargs="+", default=[1, 25])
    parser.add_argument("--cores", type=int, default=1000)
    parser.add_argument("--unit-bytes", type=int, nargs="+", default=[64 * 2**20, WARC_BYTES])
    parser.add_argument(
        "--driver-units", type=int, default=48, help="that the files are cut into to measure the driver"
    )
    parser.add_argument("--config", default="default")
    arguments = parser.parse_args()
    config, assumed = load_config(arguments.config, ["reading.unit_bytes=10000000000"]), Assumptions()
    tasks = plan_ranges(resolve_inputs(arguments.files, config.reading), config.reading)
    folder = Path(tempfile.mkdtemp(prefix="obelics-scale-"))
    try:
        sample = sample_into(folder, tasks, config, 3600)
        for problem in sample.problems:
            print(f"failed: {problem}")
        per(sample)
        skew(folder, sample, 64)
        memory = driver_memory(folder, config)
    finally:
        shutil.rmtree(scratch_of(metered(folder)), ignore_errors=True)
        shutil.rmtree(folder, ignore_errors=True)
    steps = driver_steps(arguments.files, arguments.config, len(sample.parts), arguments.driver_units)
    sample.steps = [step for step in sample.steps if step.kind != DRIVER] + steps
    parts = {"plan": memory.plan, **memory.manifests, "a map of dealt files": memory.dealt}
    table(("the driver holds for each unit", "bytes"), [(name, f"{size:,.0f}") for name, size in parts.items()])
    for crawls in arguments.crawls:
        for unit_bytes in arguments.unit_bytes:
            fitted = settings(crawls, unit_bytes, config, sample, assumed)
            units = crawls * WARCS * ceil(WARC_BYTES / unit_bytes)
            weight = {"warc": crawls * WARCS * WARC_BYTES}
            plan = Plan(units, weight, arguments.cores, "ray", store=True, remote_input=True)
            show(crawls, fitted, estimate(sample, plan, fitted, assumed), units, memory, arguments.cores)


if __name__ == "__main__":
    main()
