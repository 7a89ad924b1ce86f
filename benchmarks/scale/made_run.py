"""A run without pages: what its units commit and its shuffles leave is made up, as many rows as are asked for.

Files that a driver opens have the rows that they would have; of the others it reads the footer, and they have few.
Three documents in ten are duplicates. Everything follows from the seed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from obelics_pipeline.core.commit import Attempt, Manifest
from obelics_pipeline.core.ledger import Ledger
from obelics_pipeline.core.reduce_output import ReduceOutput
from obelics_pipeline.core.shards.index import index_schema
from obelics_pipeline.core.storage import Location
from obelics_pipeline.core.unit import Unit
from obelics_pipeline.engines.groups import DATA, write_group
from obelics_pipeline.stages.dedup.candidates import PAGES
from obelics_pipeline.stages.dedup.keepers import DUPLICATES, PASSED
from obelics_pipeline.stages.dedup.shuffled_rows import CANDIDATES, EDGES, MEMBERS, USES
from obelics_pipeline.stages.fetch.requests import REQUESTS
from obelics_pipeline.stages.fetch.stage import ANSWERS
from obelics_pipeline.stages.read.inputs import Inputs, WarcSource
from obelics_pipeline.stages.shard.stage import SIZES

DUPLICATES_IN_TEN = 3
URLS_OF_A_DOCUMENT = 4
MESSAGES_OF_A_DOCUMENT = 23  # paragraphs and image URLs: the largest shuffle (docs/figures.md)
DOCUMENTS_OF_A_TAR = 826  # 1.9 G in 2.3 M tars
URLS_OF_A_BUCKET = 29_000  # 7.7 G in 262,144 buckets
MESSAGES_OF_A_BUCKET = 1_340_000  # 44 G in 32,768 buckets
DOCUMENTS_OF_A_PART = 2**12  # of index and look-ups: a run has 256 times as many, and even the least here has several
DOCUMENT_BYTES = 256 * 2**20 // DOCUMENTS_OF_A_TAR
UNIT_BYTES = 10**9  # of the input; a unit is one made-up file
FEW = 3  # rows of a file of which only the footer is read
TURNS = 4  # after which no edge is left to be brought to its group's first
REASONS = {f"reason_{i:02}": i + 1 for i in range(12)}  # a ledger's
UNIT = re.compile(r"CC-MAIN-\d{14}-\d{14}-(\d{5,})")


@dataclass(frozen=True)
class MadeRun:
    """So many documents in so many units of input."""

    documents: int
    units: int
    seed: int = 0

    @property
    def fetch_buckets(self) -> int:
        """As many as a crawl's config has for so many addresses."""
        return ceil(self.documents * URLS_OF_A_DOCUMENT / URLS_OF_A_BUCKET)

    @property
    def dedup_buckets(self) -> int:
        """As many as a crawl's config has for so many messages."""
        return ceil(self.documents * MESSAGES_OF_A_DOCUMENT / MESSAGES_OF_A_BUCKET)

    def inputs(self) -> Inputs:
        """The files of WARC that it pretends to read."""
        names = [f"CC-MAIN-20260101000000-20260101000000-{i:05}.warc.gz" for i in range(self.units)]
        return Inputs([WarcSource(f"s3://bucket/{name}", name, UNIT_BYTES, "e") for name in names], [])

    def documents_of(self, number: int) -> int:
        """Documents of one unit of input."""
        return self.documents // self.units + (number < self.documents % self.units)

    def commit(self, unit: Unit, folder: Location) -> Manifest | None:
        """Commit a unit as its worker would have; None for one of a step that is not made up."""
        make = COMMITS.get(unit.stage)
        return make(self, unit, folder) if make is not None else None

    def write_group(self, step: str, column: str, of: Value, output: Location) -> None:
        """Write what the shuffle of a step would leave for one value of its column."""
        rows = max(FEW, ceil(FEW * self.units / of.groups))
        tables = {role: _few(schema, rows) for role, schema in _schemas(step).items()}
        notes: dict[str, Any] = {"sites": FEW}
        if step == "requests":
            notes = {"asked": f"{of.number:064x}", "urls": rows}
        if step.startswith("groups-"):
            notes = {"unsettled": max(0, TURNS - 1 - int(step[-3:]))}
        entered = pa.table({column: [of.value] * of.rows})
        write_group(entered, column, partial(_made, tables, notes), output)

    def requests(self, bucket: int) -> pa.Table:
        """The addresses that are asked for in one bucket of hosts, each by a unit of documents."""
        chance = np.random.default_rng([self.seed, bucket])
        whole = self.documents * URLS_OF_A_DOCUMENT
        count = whole // self.fetch_buckets + (bucket < whole % self.fetch_buckets)
        numbers = pa.array(chance.integers(0, 2**62, count)).cast(pa.string())
        host = pa.array(chance.integers(0, 997, count)).cast(pa.string())
        urls = pc.binary_join_element_wise("https://images-", host, ".example/uploads/2026/", numbers, ".jpg", "")
        units = pa.array([f"CC-MAIN-20260101000000-20260101000000-{i:05}-{i:016x}" for i in range(self.units)])
        partitions = pa.DictionaryArray.from_arrays(chance.integers(0, len(units), count), units)
        return pa.table([partitions.cast(pa.string()), urls], names=REQUESTS.names[1:])


@dataclass(frozen=True)
class Value:
    """One value of a shuffle's column: the `number`th of so many groups, with so many rows."""

    value: str
    number: int
    groups: int
    rows: int


def _schemas(step: str) -> dict[str, pa.Schema]:
    """What a shuffle leaves, by role."""
    if step == "links" or step.startswith("groups-"):
        return {DATA: EDGES, "members": MEMBERS}
    return {DATA: EDGES if step.startswith("firsts-") else MEMBERS}


def number_of(*names: str) -> int:
    """The number of the unit of input that a name comes from. Raises ValueError for a name of none."""
    found = UNIT.search(" ".join(names))
    if found is None:
        raise ValueError(f"{names}: of no unit of input")
    return int(found[1])


def _made(tables: dict[str, pa.Table], notes: dict[str, Any], _rows: pa.Table, _value: str) -> ReduceOutput:
    return ReduceOutput(tables, notes)


def _of(unit: Unit) -> int:
    texts = (str(unit.payload.get(key, "")) for key in ("documents", "partition", "extracted"))
    return number_of(unit.label, *texts)


@cache
def _file_of_few(schema: pa.Schema, rows: int = FEW) -> bytes:
    """A file of such rows, made once: a worker would spend most of its time on making them."""
    sink = pa.BufferOutputStream()
    pq.write_table(_few(schema, rows), sink, compression="zstd")
    return sink.getvalue().to_pybytes()  # type: ignore[no-any-return]


def _few(schema: pa.Schema, rows: int) -> pa.Table:
    """Rows of a schema whose values nobody looks at."""
    values = {pa.string(): "0" * 16, pa.large_string(): "0" * 16, pa.binary(): bytes(16)}
    columns = [pa.array([values.get(field.type, 0)] * rows, pa.int64() if field.type not in values else field.type)
               for field in schema]  # fmt: skip
    return pa.table([c.cast(f.type) for c, f in zip(columns, schema, strict=True)], schema=schema)


def _kept(noun: str, rows: int, dropped: int = 0) -> Ledger:
    ledger = Ledger(noun)
    ledger.keep(rows - dropped)
    if dropped:
        ledger.drop("duplicate_text", dropped)
    return ledger


def _lost(run: MadeRun, number: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    """The rows of a unit that are duplicates of others: three in ten, by chance."""
    rows = run.documents_of(number)
    return np.flatnonzero(np.random.default_rng([run.seed, 1, number]).integers(0, 10, rows) < DUPLICATES_IN_TEN)


def _extract(run: MadeRun, unit: Unit, folder: Location) -> Manifest:
    rows = run.documents_of(number_of(unit.label))
    records, documents = _kept("records", rows), _kept("documents", rows)
    for ledger in (records, documents):
        for reason, count in REASONS.items():
            ledger.drop(reason, count)
    with Attempt(folder, unit) as attempt:
        for role in ("data", "records"):
            attempt.file(role, ".parquet").write_bytes(_file_of_few(PASSED))
        personal = {kind: {"values": 9, "documents": 7} for kind in ("email", "phone", "ip", "iban", "card")}
        notes = {"measured": unit.payload["measured"], "personal_data": personal}
        return attempt.commit([records, documents], notes)


def _candidates(_run: MadeRun, unit: Unit, folder: Location) -> Manifest:
    with Attempt(folder, unit) as attempt:
        attempt.file("data", ".parquet").write_bytes(_file_of_few(CANDIDATES))
        attempt.file("pages", ".parquet").write_bytes(_file_of_few(PAGES))
        place = {key: unit.payload[key] for key in ("extracted", "generation", "partition")}
        return attempt.commit([], {"rows": {"data": FEW}, **place})


def _shuffled(schema: pa.Schema, roles: Sequence[str], _run: MadeRun, unit: Unit, folder: Location) -> Manifest:
    """Rows for a shuffle, which only counts them, and what else a unit keeps."""
    with Attempt(folder, unit) as attempt:
        for role in ("data", *roles):
            attempt.file(role, ".parquet").write_bytes(_file_of_few(schema))
        return attempt.commit([], {"rows": {"data": FEW}, "partition": unit.payload.get("partition", "")})


def _documents(run: MadeRun, unit: Unit, folder: Location) -> Manifest:
    with Attempt(folder, unit) as attempt:
        attempt.file("data", ".parquet").write_bytes(_file_of_few(PASSED))
        notes: dict[str, Any] = {name: unit.payload[name] for name in ("partition", "shared") if name in unit.payload}
        return attempt.commit([_kept("documents", run.documents_of(_of(unit)))], notes)


def _fetch(run: MadeRun, unit: Unit, folder: Location) -> Manifest:
    urls = Ledger("urls")
    urls.keep(run.documents * URLS_OF_A_DOCUMENT // run.fetch_buckets)
    for reason, count in REASONS.items():
        urls.fail(reason, count)
    rows = max(FEW, ceil(FEW * run.units / run.fetch_buckets))
    with Attempt(folder, unit) as attempt:
        attempt.file("data", ".parquet").write_bytes(_file_of_few(PASSED))
        attempt.file("answers", ".parquet").write_bytes(_file_of_few(ANSWERS, rows))
        attempt.file("robots", ".parquet").write_bytes(_file_of_few(PAGES))
        return attempt.commit([urls], {key: unit.payload[key] for key in ("bucket", "identity", "generation")})


def _assemble(run: MadeRun, unit: Unit, folder: Location) -> Manifest:
    rows = run.documents_of(_of(unit))
    sizes = np.random.default_rng([run.seed, 2, _of(unit)]).integers(DOCUMENT_BYTES // 2, DOCUMENT_BYTES * 3 // 2, rows)
    with Attempt(folder, unit) as attempt:
        attempt.file("data", ".parquet").write_bytes(_file_of_few(PASSED))
        pq.write_table(pa.table([np.arange(rows), sizes], schema=SIZES), attempt.file("sizes", ".parquet"))
        ledgers = [_kept("documents", rows), _kept("images", rows * URLS_OF_A_DOCUMENT)]
        return attempt.commit(ledgers, {"partition": unit.payload["partition"]})


def _passed(_run: MadeRun, unit: Unit, folder: Location) -> Manifest:
    with Attempt(folder, unit) as attempt:
        attempt.file("data", ".parquet").write_bytes(_file_of_few(PASSED))
        return attempt.commit([], {key: unit.payload[key] for key in ("partition", "documents", "generation")})


def _settled(run: MadeRun, unit: Unit, folder: Location) -> Manifest:
    number, lost = _of(unit), _lost(run, _of(unit))
    ids = ids_of(number, lost)
    reasons = pa.array(np.full(len(lost), "duplicate_text"))
    rows = run.documents_of(number)
    with Attempt(folder, unit) as attempt:
        table = pa.table([lost, ids, reasons, ids], schema=DUPLICATES)
        pq.write_table(table, attempt.file("data", ".parquet"), compression="zstd")
        documents = _kept("documents", rows, len(lost))
        images = _kept("images", rows * URLS_OF_A_DOCUMENT, len(lost) * URLS_OF_A_DOCUMENT)
        return attempt.commit(
            [documents, images], {"documents": unit.payload["documents"], "rows": {"data": len(lost)}}
        )


def _tar(run: MadeRun, unit: Unit, folder: Location) -> Manifest:
    rows = list(_rows_of_tar(run, unit))
    name = unit.payload["name"]
    with Attempt(folder, unit) as attempt:
        Path(attempt.file("data", ".tar", name)).write_bytes(unit.id.encode())
        index = pa.concat_tables([index_rows(name, number, of, unit.payload["scores"]) for number, of in rows])
        pq.write_table(index, attempt.file("index", ".parquet"), compression="zstd")
        n = index.num_rows
        sums = {"documents": n, "texts": 3 * n, "images": URLS_OF_A_DOCUMENT * n, "files": URLS_OF_A_DOCUMENT * n}
        return attempt.commit([], sums)


def _rows_of_tar(run: MadeRun, unit: Unit) -> Iterator[tuple[int, np.ndarray[Any, np.dtype[np.int64]]]]:
    """The number of each unit that a tar has documents of, and their rows."""
    for span in unit.payload["spans"]:
        number = number_of(span["unit"])
        rows = np.arange(span["start"], span["stop"])
        yield number, rows[~np.isin(rows, _lost(run, number))]


def ids_of(number: int, rows: np.ndarray[Any, np.dtype[np.int64]]) -> pa.Array:
    """The ids of documents of a unit: 32 hexadecimal digits, in no order."""
    mixed = (rows.astype(np.uint64) + np.uint64(number << 32)) * np.uint64(0x9E3779B97F4A7C15)
    return pa.array([value.tobytes().hex() for value in np.stack([mixed, mixed], axis=1)], pa.string())


def index_rows(tar: str, number: int, rows: np.ndarray[Any, np.dtype[np.int64]], scores: Sequence[str]) -> pa.Table:
    """The rows of an index for documents of one unit."""
    schema, n = index_schema(scores), len(rows)
    ids = ids_of(number, rows)
    texts: dict[str, Any] = {
        "shard": pa.array([tar]).take(pa.array(np.zeros(n, np.int64))),
        "doc_id": ids,
        "url": pc.binary_join_element_wise("https://site.example/a/page/", ids, ".html", ""),
        "warc_filename": pa.array([f"crawl-{number:05}.warc.gz"]).take(pa.array(np.zeros(n, np.int64))),
        "content_sha256": pc.binary_join_element_wise(ids, ids, ""),
    }
    columns = []
    for place, field in enumerate(schema):
        if field.name in texts:
            columns.append(texts[field.name])
        elif pa.types.is_string(field.type):
            columns.append(pa.array(["en"]).take(pa.array(np.zeros(n, np.int64))))
        elif pa.types.is_floating(field.type):
            columns.append(pa.array(np.random.default_rng([number, place]).random(n)))
        else:
            columns.append(pa.array(rows % 2**20).cast(field.type))
    return pa.table(columns, schema=schema)


COMMITS: Mapping[str, Callable[[MadeRun, Unit, Location], Manifest]] = {
    "extract": _extract,
    "candidates": _candidates,
    "uses": partial(_shuffled, USES, ()),
    "dedup": _documents,
    "site-keys": partial(_shuffled, USES, ("own",)),
    "site-groups": partial(_shuffled, USES, ()),
    "site-evidence": partial(_shuffled, USES, ("own",)),
    "site": _documents,
    "requests": partial(_shuffled, REQUESTS, ()),
    "fetch": _fetch,
    "phashes": partial(_shuffled, USES, ()),
    "assemble": _assemble,
    "passed": _passed,
    "alive": partial(_shuffled, CANDIDATES, ()),
    "settled": _settled,
    "shard": _tar,
}
