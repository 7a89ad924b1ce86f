"""The shard stage: documents meet their images, the kept ones are dealt out to tars by size, the tars are written."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from obelics_pipeline.core.code_identity import code_of
from obelics_pipeline.core.commit import Attempt, Manifest, committed
from obelics_pipeline.core.config import RunConfig
from obelics_pipeline.core.config.sharding import Format
from obelics_pipeline.core.document import Document
from obelics_pipeline.core.ledger import Ledger
from obelics_pipeline.core.packed import Packed
from obelics_pipeline.core.partitions import Partitions
from obelics_pipeline.core.shards.flamingo_record import shaped
from obelics_pipeline.core.shards.index import IndexWriter, index_row
from obelics_pipeline.core.shards.manifest import shard_name
from obelics_pipeline.core.shards.record import make_record
from obelics_pipeline.core.shards.shard_table import ShardEntry
from obelics_pipeline.core.shards.tar import ReadImage, ShardWriter
from obelics_pipeline.core.storage import Location, read_tables
from obelics_pipeline.core.tables import DocumentWriter, read_documents, read_kept, score_columns
from obelics_pipeline.core.unit import Unit, digest
from obelics_pipeline.policy.forgotten import Forgotten
from obelics_pipeline.policy.opt_outs.lists import NO_LISTS, OptOuts
from obelics_pipeline.stages.shard.assemble import Fetched, assemble
from obelics_pipeline.stages.shard.finish import ParagraphScore

SIZES = pa.schema([("row", pa.int64()), ("bytes", pa.int64())])

Rows = npt.NDArray[np.int64]  # of a file of documents, or a number for each row
NO_ROWS: Rows = np.empty(0, np.int64)

# Files of answers and of overused images -> what the fetch stage knows of each URL.
Answers = Callable[[Sequence[str], Sequence[str]], Mapping[str, Fetched]]

# Documents -> each with a function that gives the bytes of its images.
WithImages = Callable[[Iterable[Document]], Iterator[tuple[Document, ReadImage]]]


def assemble_units(
    documents: Sequence[Manifest],
    answers: Partitions,
    overused: Partitions,
    config: RunConfig,
    opt_outs: OptOuts = NO_LISTS,
    forgotten: str = "",
) -> list[Unit]:
    """One unit per unit of documents, with its answers of the fetch stage and what is known of overused images.

    `forgotten` is the digest of the tombstones of other corpora that are obeyed.
    """
    rules: list[Any] = [section.model_dump(mode="json") for section in (config.images, config.finish)]
    rules.append(config.fetch.enabled)
    if lists := opt_outs.identity("images"):
        rules.append(lists)
    units = []
    for m in documents:
        partition = m.notes.get("partition", m.unit)
        verdicts = [answers.digest(m.unit), overused.digest(partition)]
        known = [{"forgotten": forgotten}] if forgotten else []
        id_ = digest(code_of(__name__), partition, m.files["data"]["sha256"], verdicts, rules, *known)
        files = {"answers": answers.names(m.unit), "overused": overused.names(partition)}
        payload = {"documents": m.unit, "partition": partition, **files}
        units.append(Unit("assemble", id_, m.unit.rpartition("-")[0], payload))
    return units


def assemble_unit(
    unit: Unit,
    *,
    folder: Location,
    document_folder: Location,
    config: RunConfig,
    read_answers: Answers,
    score: ParagraphScore,
    opt_outs: OptOuts = NO_LISTS,
    forgotten: Forgotten | None = None,
) -> Manifest:
    """Bring the kept documents of one unit together with their images, and decide them."""
    answers = read_answers(unit.payload["answers"], unit.payload["overused"])
    source = committed(document_folder, unit.payload["documents"]).path(document_folder, "data")
    documents, images, sizes = Ledger("documents"), Ledger("images"), []
    scores, paragraph_scores = score_columns(source)
    paragraph_scores = list(dict.fromkeys([*paragraph_scores, *config.finish.paragraph, *config.images.measures]))
    with Attempt(folder, unit) as attempt:
        with DocumentWriter(attempt.file("data", ".parquet"), scores, paragraph_scores) as writer:
            for row, document in enumerate(read_kept(source)):
                images.add(assemble(document, answers, config, score, opt_outs, forgotten))
                if document.reason is None:
                    documents.keep()
                    sizes.append({"row": row, "bytes": make_record(document, scores).size})
                else:
                    documents.drop(document.reason)
                writer.write(document)
        pq.write_table(pa.Table.from_pylist(sizes, SIZES), attempt.file("sizes", ".parquet"))
        return attempt.commit([documents, images], {"partition": unit.payload["partition"]})


def plan_tars(
    assembled: Sequence[Manifest],
    folder: Location,
    config: RunConfig,
    score_names: Sequence[str],
    left_out: Iterable[Rows],
) -> Packed[Unit]:
    """Which rows of which assembled units make which tar: in order, a tar is closed once it has its target bytes.

    `left_out` are the rows of each assembled unit, in their order, of documents that are duplicates of others; those of
    one unit are held at a time. Nothing is done for each row: a tar's last one is looked up in the sums of the sizes.
    """
    units = Packed[Unit]()
    spans: list[dict[str, Any]] = []
    filled = 0
    form, scores = config.shard.format, list(score_names)

    def close() -> None:
        nonlocal spans, filled
        name = shard_name(len(units))
        id_ = digest(code_of(__name__), spans, scores, form)
        payload = {"name": name, "spans": spans, "scores": scores, "format": form}
        units.append(Unit("shard", id_, Path(name).stem, payload))
        spans, filled = [], 0

    tables = read_tables([manifest.path(folder, "sizes") for manifest in assembled])
    for manifest, table, out in zip(assembled, tables, left_out, strict=True):
        sha256, gone = manifest.files["data"]["sha256"], np.unique(out)
        kept = table.filter(np.isin(table["row"], gone, invert=True))
        rows, sums = kept["row"].to_numpy(), np.cumsum(planned_bytes(kept["bytes"].to_numpy(), form))
        first = 0  # of the rows, the first that is in no tar yet
        while first < len(rows):
            before = int(sums[first - 1]) if first else 0
            last = int(np.searchsorted(sums, config.shard.target_bytes - filled + before))
            full = last < len(rows)
            last = min(last, len(rows) - 1)
            start, stop = int(rows[first]), int(rows[last]) + 1
            without = packed(gone[np.searchsorted(gone, start) : np.searchsorted(gone, stop)] - start)
            spans.append({"unit": manifest.unit, "sha256": sha256, "start": start, "without": without, "stop": stop})
            filled += int(sums[last]) - before
            first = last + 1
            if full:
                close()
    if spans:
        close()
    return units


def packed(rows: Rows) -> str:
    """Row numbers, from 0 and ascending, as text: a bit for each row up to the last. A crawl leaves out 600 million."""
    bits = np.zeros(int(rows[-1]) + 1 if rows.size else 0, np.uint8)
    bits[rows] = 1
    return b64encode(np.packbits(bits).tobytes()).decode()


def unpacked(text: str) -> Rows:
    """The inverse of `packed`."""
    return np.flatnonzero(np.unpackbits(np.frombuffer(b64decode(text), np.uint8)))


def planned_bytes(sizes: Rows, form: Format) -> Rows:
    """About how many bytes plain records of these sizes take in this form: base64 makes four of three."""
    return sizes if form == "webdataset" else sizes * 4 // 3


def tar_unit(unit: Unit, *, folder: Location, assembled_folder: Location, with_images: WithImages) -> Manifest:
    """Write one tar and its part of the index; neither where all its documents were removed since."""
    name, scores = unit.payload["name"], unit.payload["scores"]
    sums = dict.fromkeys(("documents", "texts", "images", "files"), 0)
    with Attempt(folder, unit) as attempt:
        if next(_kept(unit, assembled_folder), None) is None:
            return attempt.commit([], sums)
        tar = ShardWriter(attempt.file("data", ".tar", name))
        with tar, IndexWriter(attempt.file("index", ".parquet"), scores) as index:
            for document, read_image in with_images(_kept(unit, assembled_folder)):
                record = shaped(make_record(document, scores), unit.payload["format"])
                row = index_row(name, tar.add(record, read_image), document, record, scores)
                index.write(row)
                sums["documents"] += 1
                for key in ("texts", "images", "files"):
                    sums[key] += row[f"n_{key}"]
        return attempt.commit([], sums)


def shard_entries(manifests: Sequence[Manifest]) -> tuple[ShardEntry, ...]:
    """The entry of each tar in the run's manifest."""
    files = [(m.files["data"], m.notes) for m in manifests if m.files]
    return tuple(ShardEntry(f["name"], f["sha256"], f["bytes"], **notes) for f, notes in files)


def _kept(unit: Unit, folder: Location) -> Iterator[Document]:
    for span in unit.payload["spans"]:
        path = committed(folder, span["unit"]).path(folder, "data")
        without = frozenset((unpacked(span["without"]) + span["start"]).tolist())
        for row, document in enumerate(read_documents(path, span["start"], span["stop"]), span["start"]):
            if document.reason is None and row not in without:
                yield document
