"""What the keys of the stage `site` cost: bytes that are shuffled, memory of a worker, CPU of each document.

    python benchmarks/site_scale.py [--documents N …] [--texts TEXTS.jsonl.gz]

Keys are made up: of each document 40 sentences and 120 skeletons, as a text of 1,000 words has, a tenth of them shared
with others, and one key that every document has. They go through the local engine's shuffle and what a run does with a
bucket. With TEXTS, {"text"} a line, the CPU time that keys of their texts take is printed as well.
"""

from __future__ import annotations

import argparse
import gzip
import json
import resource
import tempfile
import time
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from obelics_pipeline.core.config.dedup import DedupConfig
from obelics_pipeline.core.reduce_output import ReduceOutput
from obelics_pipeline.engines.local import LocalEngine
from obelics_pipeline.stages.site.passages import passages_of
from obelics_pipeline.stages.site.sharing import SENTENCE, SITE, SKELETON, key_rows, share

OF_UNIT = 5_000  # documents
KEYS_OF = {SENTENCE: 40, SKELETON: 120}
SHARED = 0.1
OF_SITE = 30  # documents
EVERYWHERE = 7  # the key that all have
MB = 1_000_000


def main() -> None:
    """Print a row for each number of documents, then the cost of keys."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--documents", type=int, nargs="+", default=[10_000, 30_000, 100_000])
    parser.add_argument("--texts", type=Path)
    arguments = parser.parse_args()
    print("documents  shuffled MB  back MB  rows  worker MB  CPU ms a document")
    for documents in arguments.documents:
        with tempfile.TemporaryDirectory() as folder:
            print(measured(documents, Path(folder)))
    if arguments.texts is not None:
        print(cost_of_keys(arguments.texts))


def measured(documents: int, folder: Path) -> str:
    """Make the keys, shuffle them, reduce them."""
    dice, buckets, sources = np.random.default_rng(documents), DedupConfig().buckets, list[Path]()
    for number, first in enumerate(range(0, documents, OF_UNIT)):
        numbers = np.arange(first, min(first + OF_UNIT, documents))
        sites = (numbers // OF_SITE + 1).astype(np.uint64)
        tables = [key_rows(SITE, sites, sites, f"u{number}", buckets)]
        for kind, each in KEYS_OF.items():
            keys = dice.integers(0, 2**63, (len(numbers), each)).astype(np.uint64)
            some = dice.random(keys.shape) < SHARED
            keys[some] = dice.integers(0, documents, int(some.sum())).astype(np.uint64) << np.uint64(32)
            keys[:, 0] = EVERYWHERE
            tables.append(key_rows(kind, keys.ravel(), np.repeat(sites, each), f"u{number}", buckets))
        sources.append(folder / f"{number}.parquet")
        pq.write_table(pa.concat_tables(tables), sources[-1], compression="zstd")
    with LocalEngine(1, folder, 3600.0) as engine:
        groups = engine.shuffle(list(sources), "bucket", partial(reduced), folder / "out")
    notes = [group.notes for group in groups.values()]
    shuffled, back = (sum(path.stat().st_size for path in paths) for paths in (sources, folder.glob("out/*.parquet")))
    rows, cpu = sum(group.rows for group in groups.values()), sum(note["cpu"] for note in notes)
    worker = max(note["peak"] for note in notes)
    cpu_of_document = 1000 * cpu / documents
    return f"{documents:9,} {shuffled / MB:12,.1f} {back / MB:8,.1f} {rows:,} {worker:9,.0f} {cpu_of_document:.3f}"


def reduced(rows: pa.Table, bucket: str) -> ReduceOutput:
    """As a run does, with the time that it took and the memory of the worker so far."""
    start = time.process_time()
    output = share(rows, bucket)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / MB
    return ReduceOutput(output.tables, {"cpu": time.process_time() - start, "peak": peak})


def cost_of_keys(texts: Path) -> str:
    """CPU time of the keys of texts, per 1,000 words."""
    with gzip.open(texts, "rt", encoding="utf-8") as lines:
        of = [json.loads(line)["text"] for line in lines][:2000]
    passages_of(of[:1], "en")
    start = time.process_time()
    found = [passages_of(text.split("\n\n"), "en") for text in of]
    seconds, words = time.process_time() - start, sum(len(text.split()) for text in of)
    keys = sum(len(p.sentences) + (0 if p.skeletons is None else len(p.skeletons)) for p in found)
    return f"keys: {1e6 * seconds / words:.2f} ms and {1000 * keys / words:.0f} keys per 1,000 words, {len(of)} texts"


if __name__ == "__main__":
    main()
