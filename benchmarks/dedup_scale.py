"""Does deduplication hold for ten million documents? Planted duplicates through the real steps, on disk.

    python benchmarks/dedup_scale.py [--documents N] [--folder DIR]

Signatures are made up: a duplicate keeps each hash function's minimum with the probability of its similarity, as
MinHash does. Of each 1,000 documents 340 are in groups: pairs, fives, thirties, chains in which each resembles only its
neighbours, one group of a hundredth of all documents; and 40 are pairs that resemble each other too little. The
messages go through the local engine's shuffle, and what a run does with a bucket (`link`, then turns of
`contract_turn`) is done by one worker, a bucket at a time. Recall: of n members of a group, n - 1 should point at
another of their group. Precision: of all documents that point at one, those that should. Takes about 3 GB of disk for
each million documents.
"""

from __future__ import annotations

import argparse
import math
import resource
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import chain, islice
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from obelics_pipeline.core.config.dedup import TextConfig
from obelics_pipeline.core.reduce_output import ReduceOutput
from obelics_pipeline.engines.groups import Group, Reduce
from obelics_pipeline.engines.local import LocalEngine
from obelics_pipeline.stages.dedup.judge import contract_turn, link
from obelics_pipeline.stages.dedup.shuffled_rows import CANDIDATES

SETTINGS = TextConfig()
BLOCK = 1000  # documents that are planted alike
CHUNK = 20  # blocks that are made together
FILE = 10  # chunks of a file of messages
PARTITION = 10_000  # documents of a unit
BUCKET = 2_000_000  # messages of a bucket, at most about
ROUNDS = 100

# Kind: documents of a group, groups in a block, similarity to the first (of a chain: to the one before).
PLANTED = {
    "pairs at 0.85": (2, 20, 0.85),
    "pairs at 0.95": (2, 40, 0.95),
    "fives at 0.95": (5, 10, 0.95),
    "thirties at 0.97": (30, 1, 0.97),
    "chains of 25 at 0.92": (25, 4, 0.92),
    "unlike pairs at 0.6": (2, 20, 0.6),
    "one large group at 0.97": (10, 1, 0.97),  # of each block; over all blocks it is one
}
UNLIKE, LARGE = list(PLANTED).index("unlike pairs at 0.6"), list(PLANTED).index("one large group at 0.97")
CHAIN, SINGLE = list(PLANTED).index("chains of 25 at 0.92"), len(PLANTED)

Numbers = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]


class Block:
    """Which document of a block belongs to what: arrays by place in the block."""

    def __init__(self) -> None:
        self.kind = np.full(BLOCK, SINGLE)
        self.group = np.arange(BLOCK)  # the place of its group's first
        self.parent = np.arange(BLOCK)  # the place of what it is made from; itself, if of nothing or the large group's
        self.similarity = np.ones(BLOCK)
        self.depth = np.zeros(BLOCK, np.int64)  # how many are made before it
        place = 0
        for kind, (size, groups, similarity) in enumerate(PLANTED.values()):
            for first in range(place, place + size * groups, size):
                members = np.arange(first, first + size)
                self.kind[members] = kind
                self.group[members] = first
                if kind != LARGE:
                    self.parent[members[1:]] = members[:-1] if kind == CHAIN else first
                    self.depth[members] = np.arange(size)
                self.similarity[members] = similarity
            place += size * groups


class Corpus:
    """Documents by place, in which groups lie together, and by number, in which they are spread over all units."""

    def __init__(self, documents: int) -> None:
        self.documents = documents
        self.block = Block()
        self._factor = next(f for f in range(documents * 618 // 1000, documents) if math.gcd(f, documents) == 1)
        self._inverse = pow(self._factor, -1, documents)
        self._large = np.random.default_rng([7, 0]).integers(0, 2**64, (2, 16 + 64), np.uint64)

    def numbers(self, places: Numbers) -> Numbers:
        """Where documents stand in the order of the corpus."""
        return places * self._factor % self.documents

    def group_of(self, numbers: Numbers) -> tuple[Numbers, Numbers]:
        """The kind and the group of documents by number."""
        places = numbers * self._inverse % self.documents
        within = places % BLOCK
        kind = self.block.kind[within]
        group = places - within + self.block.group[within]
        group[kind == LARGE] = -1
        return kind, group

    def planted(self) -> dict[str, int]:
        """How many documents of each kind should point at another."""
        blocks = self.documents // BLOCK
        counts = {name: (size - 1) * groups * blocks for name, (size, groups, _) in PLANTED.items()}
        return counts | {list(PLANTED)[LARGE]: 10 * blocks - 1, list(PLANTED)[UNLIKE]: 0}

    def messages(self, buckets: int) -> Iterator[pa.Table]:
        """The messages of all documents, some thousand documents at a time."""
        blocks = self.documents // BLOCK
        for first in range(0, blocks, CHUNK):
            count = min(CHUNK, blocks - first)
            keys, sketches = self._signatures(first, count)
            numbers = self.numbers(np.arange(first * BLOCK, (first + count) * BLOCK))
            yield shuffle_table(numbers, keys.reshape(-1, SETTINGS.bands), sketches.reshape(numbers.size, -1), buckets)

    def _signatures(self, first: int, count: int) -> tuple[Words, Words]:
        draw = np.random.default_rng([1, first])
        keys = draw.integers(0, 2**64, (count, BLOCK, SETTINGS.bands), np.uint64)
        sketches = draw.integers(0, 2**64, (count, BLOCK, SETTINGS.permutations // 64), np.uint64)
        block = self.block
        large = np.flatnonzero(block.kind == LARGE)
        keys[:, large], sketches[:, large] = self._large[0, : keys.shape[2]], self._large[1, : sketches.shape[2]]
        made = (block.parent != np.arange(BLOCK)) | (block.kind == LARGE)
        for depth in range(int(block.depth.max()) + 1):
            places = np.flatnonzero(made & (block.depth == depth))
            of, similarity = block.parent[places], block.similarity[places]
            keep = draw.random((count, places.size, SETTINGS.bands)) < similarity[:, None] ** SETTINGS.rows
            own = draw.integers(0, 2**64, keep.shape, np.uint64)
            keys[:, places] = np.where(keep, keys[:, of], own)
            limit = np.round(256 * (1 - similarity) / 2)[:, None]
            bits = draw.integers(0, 256, (count, places.size, SETTINGS.permutations), np.uint8) < limit
            sketches[:, places] = sketches[:, of] ^ np.packbits(bits, axis=2).view(np.uint64)
        return keys, sketches


def shuffle_table(numbers: Numbers, keys: Words, sketches: Words, buckets: int) -> pa.Table:
    """Rows of CANDIDATES, document by document."""
    bands = keys.shape[1]
    raw = np.empty((numbers.size, bands, 2), np.uint64)
    raw[:, :, 0] = np.arange(bands, dtype=np.uint64).byteswap()
    raw[:, :, 1] = keys
    each = np.repeat(np.arange(numbers.size), bands)
    names = pa.array([f"extract-{i:06d}" for i in range(int(numbers.max()) // PARTITION + 1)])
    columns = {
        "bucket": pa.array((keys % np.uint64(buckets)).astype(np.int32).ravel()),
        "rule": pa.DictionaryArray.from_arrays(pa.array(np.zeros(each.size, np.int8)), ["text"]).cast(pa.string()),
        "key": binary(raw.reshape(-1, 2)),
        "sketch": binary(sketches[each]),
        "generation": pa.array(np.zeros(each.size, np.int16)),
        "recency": pa.array(np.zeros(each.size, np.int64)),
        "partition": names.take(pa.array(numbers[each] // PARTITION)),
        "row": pa.array((numbers[each] % PARTITION).astype(np.int32)),
        "doc": binary(docs(numbers)[each]),
    }
    return pa.table(columns, schema=CANDIDATES)


def docs(numbers: Numbers) -> Words:
    """Evenly spread doc_ids."""
    value = numbers.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    return np.stack([value, value ^ (value >> np.uint64(27))], axis=1)


def binary(rows: Words) -> pa.Array:
    """Rows of numbers as byte strings."""
    buffers = [None, pa.py_buffer(np.ascontiguousarray(rows))]
    return pa.FixedSizeBinaryArray.from_buffers(pa.binary(rows.shape[1] * 8), len(rows), buffers).cast(pa.binary())


def numbers_of(table: pa.Table, prefix: str) -> Numbers:
    """The numbers of documents of EDGES."""
    partition = pa.compute.utf8_slice_codeunits(table[f"{prefix}partition"], 8).cast(pa.int64()).to_numpy()
    return np.asarray(partition * PARTITION + table[f"{prefix}row"].to_numpy())


class Report:
    """Prints what each step took: CPU and the peak of this process, and of the workers as they tell it."""

    def __init__(self) -> None:
        self._start = time.perf_counter(), time.process_time()
        self._workers, self._peak = 0.0, 0.0

    @contextmanager
    def step(self, name: str) -> Iterator[list[Group]]:
        """Measure what is done within; groups that are put into the list say what their worker took."""
        wall, cpu, groups = time.perf_counter(), time.process_time(), list[Group]()
        yield groups
        workers = sum(group.notes["cpu"] for group in groups)
        peak = max((group.notes["peak"] for group in groups), default=0.0)
        self._workers, self._peak = self._workers + workers, max(self._peak, peak)
        self._print(name, wall, cpu, workers, peak)

    def total(self) -> None:
        """All of it."""
        self._print("in all", *self._start, self._workers, self._peak)

    def _print(self, name: str, wall: float, cpu: float, workers: float, peak: float) -> None:
        took = f"{time.perf_counter() - wall:8.1f} s wall {time.process_time() - cpu + workers:8.1f} s CPU"
        print(f"{name:28} {took}   peak {peak_of_this():.2f} GB here, {peak:.2f} GB in a worker", flush=True)


def peak_of_this() -> float:
    """GB that this process has had at most."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def measured(rows: pa.Table, bucket: str, *, reduce: Reduce) -> ReduceOutput:
    """A reducer that notes its CPU, and its process's peak so far: what was read for it is in it."""
    before = time.process_time()
    reduced = reduce(rows, bucket)
    return ReduceOutput(reduced.tables, {**reduced.notes, "cpu": time.process_time() - before, "peak": peak_of_this()})


def write_messages(corpus: Corpus, buckets: int, folder: Path) -> list[Path]:
    """The messages, some hundred thousand documents a file."""
    folder.mkdir()
    paths: list[Path] = []
    messages = corpus.messages(buckets)
    for first in messages:
        paths.append(folder / f"{len(paths):05d}.parquet")
        with pq.ParquetWriter(paths[-1], CANDIDATES, compression="zstd") as writer:
            for table in chain([first], islice(messages, FILE - 1)):
                writer.write_table(table, row_group_size=100_000)  # so few that a sketch's copies share a dictionary
    return paths


def size_of(folder: Path) -> str:
    """What lies in a folder."""
    return f"{sum(path.stat().st_size for path in folder.rglob('*.parquet')) / 1e9:.2f} GB"


def run(documents: int, folder: Path) -> None:
    """All steps."""
    corpus, report = Corpus(documents), Report()
    buckets = -(-documents * SETTINGS.bands // BUCKET)
    print(f"{documents} documents, {documents * SETTINGS.bands} messages, {buckets} buckets")
    with report.step("make messages"):
        sources = write_messages(corpus, buckets, folder / "messages")
    print(f"messages on disk: {size_of(folder / 'messages')}")
    reduce: Reduce = partial(link, threshold=SETTINGS.threshold, buckets=buckets)
    with report.step("deal out and link") as groups:
        found = shuffled(sources, reduce, folder / "links", folder, groups)
    for turn in range(ROUNDS):
        with report.step(f"contract, turn {turn}") as groups:
            reduce = partial(contract_turn, buckets=buckets, turn=turn)
            found = shuffled(found, reduce, folder / f"turn-{turn}", folder, groups)
        unsettled = sum(group.notes["unsettled"] for group in groups)
        rows = sum(group.pieces["data"].rows for group in groups)
        print(f"edges, each for both of its ends: {rows}, not settled before: {unsettled}")
        if not unsettled:
            break
    report.total()
    judge(corpus, found)


def shuffled(sources: Sequence[Path], reduce: Reduce, output: Path, folder: Path, groups: list[Group]) -> list[Path]:
    """One step by the local engine, on one worker that ends with it; fills `groups`, removes the sources."""
    with LocalEngine(1, folder, 36000) as engine:
        groups += engine.shuffle(sources, "bucket", partial(measured, reduce=reduce), output).values()
    for source in sources:
        source.unlink()
    return [output / group.pieces["data"].name for group in groups]


def judge(corpus: Corpus, paths: Sequence[Path]) -> None:
    """Print recall and precision."""
    right: Counter[int] = Counter()
    wrong = 0
    for path in paths:
        table = pq.read_table(path, partitioning=None)
        children = numbers_of(table, "")
        _, first = np.unique(children, return_index=True)  # an edge lies there once for each of its ends
        table, children = table.take(pa.array(first)), children[first]
        kind, group = corpus.group_of(children)
        _, other = corpus.group_of(numbers_of(table, "of_"))
        good = (group == other) & (kind != UNLIKE) & (kind != SINGLE)
        right.update(kind[good].tolist())
        wrong += int((~good).sum())
    planted = corpus.planted()
    for name, found, count in zip(planted, map(right.__getitem__, range(SINGLE)), planted.values(), strict=True):
        if count:
            print(f"{name:28} {found:9} of {count:9} found: recall {found / count:.4f}")
    total, wanted = sum(right.values()), sum(planted.values())
    print(f"recall {total / wanted:.5f}, precision {total / max(total + wrong, 1):.6f} ({wrong} wrong)")


def main() -> None:
    """Run in a folder that is removed afterwards."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("unused", nargs="*", help="`make bench` gives every benchmark its input files")
    parser.add_argument("--documents", type=int, default=100_000, help=f"a multiple of {BLOCK}")
    parser.add_argument("--folder", type=Path, default=None, help="where to work; default: the system's")
    arguments = parser.parse_args()
    if arguments.documents < BLOCK or arguments.documents % BLOCK:
        parser.error(f"--documents {arguments.documents}: must be a multiple of {BLOCK}")
    with tempfile.TemporaryDirectory(prefix="dedup-scale-", dir=arguments.folder) as folder:
        run(arguments.documents, Path(folder))


if __name__ == "__main__":
    main()
