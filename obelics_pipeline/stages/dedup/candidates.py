"""Candidates for duplicates in one extracted unit: the keys of its pages and of its texts."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from obelics_pipeline.core.code_identity import code_of
from obelics_pipeline.core.commit import Attempt, Manifest, committed
from obelics_pipeline.core.config.dedup import DedupConfig, TextConfig
from obelics_pipeline.core.document import PARAGRAPH_SEPARATOR
from obelics_pipeline.core.minhash.signature import Signatures, Signer
from obelics_pipeline.core.storage import Location
from obelics_pipeline.core.tables import kept_rows
from obelics_pipeline.core.unit import Unit, digest
from obelics_pipeline.net.page_url import page_key
from obelics_pipeline.stages.dedup.shuffled_rows import CANDIDATES, bucket_of

AT_ONCE = 256  # documents whose signatures are made together
ROWS_PER_GROUP = 100_000  # few enough for Parquet to keep a dictionary of sketches
URL, TEXT = "url", "text"  # rules

# What a unit remembers of its kept documents, a row each.
PAGES = pa.schema(
    [
        pa.field("row", pa.int32()),  # of the extracted unit's documents
        pa.field("doc", pa.binary()),
        pa.field("page", pa.int32()),  # the row of the first kept document of the same page
        pa.field("twin", pa.int32()),  # the row of the first document of this unit with the same signature
        pa.field("recency", pa.int64()),
    ]
)


@dataclass(frozen=True, slots=True)
class PageFacts:
    """A kept document as the global steps see it. A smaller `recency` comes first (see shuffled_rows.ORDER)."""

    row: int
    doc: bytes
    url: str
    record: tuple[str, int]  # WARC file and offset: the parts of a split page share them
    recency: int
    text: str


def candidate_units(extracted: Sequence[Manifest], config: DedupConfig, generation: int) -> list[Unit]:
    """One unit per extracted unit. `generation` is 0, or one more than that of the runs it is added to."""
    rules = [config.page_url.model_dump(mode="json"), config.text.model_dump(mode="json"), config.keep, config.buckets]
    return [
        Unit(
            "candidates",
            digest(code_of(__name__), m.unit, m.files["data"]["sha256"], rules, generation),
            m.unit.rpartition("-")[0],
            {"extracted": m.unit, "generation": generation, "partition": partition_of(m.unit, generation)},
        )
        for m in extracted
    ]


def partition_of(extracted: str, generation: int) -> str:
    """The name of an extracted unit in shuffled rows. It differs by run, because two runs may hold the same records."""
    return f"{extracted}@{generation}" if generation else extracted


def candidate_unit(unit: Unit, *, folder: Location, extract_folder: Location, config: DedupConfig) -> Manifest:
    """Write the shuffled rows of one extracted unit, and the table of its pages that applies the verdicts."""
    extracted = committed(extract_folder, unit.payload["extracted"])
    pages, shuffled = PagesTable(), [CANDIDATES.empty_table()]
    place = {key: unit.payload[key] for key in ("generation", "partition")}
    signed = signer(config.text) if config.text.enabled else None
    first_of_signature: dict[bytes, int] = {}
    source = kept_pages(extracted.path(extract_folder, "data"), config)
    for facts in batches(source, AT_ONCE):
        new = [fact for fact in facts if pages.add(fact)]
        if config.page_url.enabled:
            keys = [page_key(fact.url, exact=not config.page_url.normalise) for fact in new]
            shuffled.append(shuffle_table(URL, new, keys, None, place, config.buckets))
        if signed is not None:
            shuffled.append(text_rows(facts, signed, first_of_signature, pages, place, config))
    table = pa.concat_tables(shuffled)
    with Attempt(folder, unit) as attempt:
        pq.write_table(table, attempt.file("data", ".parquet"), compression="zstd", row_group_size=ROWS_PER_GROUP)
        pq.write_table(pages.table(), attempt.file("pages", ".parquet"), compression="zstd")
        notes = {"rows": {"data": table.num_rows}, "extracted": extracted.unit, **place}
        return attempt.commit([], notes)


class PagesTable:
    """Collects the rows of PAGES."""

    def __init__(self) -> None:
        self._rows: list[dict[str, Any]] = []
        self._first: dict[tuple[str, int], int] = {}
        self._at: dict[int, int] = {}  # row -> place in the list

    def add(self, fact: PageFacts) -> bool:
        """Add a document; whether it is the first kept one of its page."""
        page = self._first.setdefault(fact.record, fact.row)
        self._at[fact.row] = len(self._rows)
        self._rows.append({"row": fact.row, "doc": fact.doc, "page": page, "twin": fact.row, "recency": fact.recency})
        return page == fact.row

    def set_twin(self, row: int, twin: int) -> None:
        """Note that a document has the text of an earlier one of the unit."""
        self._rows[self._at[row]]["twin"] = twin

    def table(self) -> pa.Table:
        """The rows, in the order of the documents."""
        return pa.Table.from_pylist(self._rows, PAGES)


def signer(config: TextConfig) -> Signer:
    """The signer of a config."""
    return Signer(config.shingle_words, config.permutations, config.bands, config.rows)


def text_rows(
    facts: Sequence[PageFacts],
    signed: Signer,
    first_of_signature: dict[bytes, int],
    pages: PagesTable,
    place: dict[str, Any],
    config: DedupConfig,
) -> pa.Table:
    """A shuffled row per band of each text that is long enough.

    Texts of one unit with the same signature are combined: the first speaks for all, so that a text that stands in a
    million pages is one row per unit and band.
    """
    long = [fact for fact in facts if len(fact.text) >= config.text.min_characters]
    if not long:
        return CANDIDATES.empty_table()
    signatures = signed.sign([fact.text for fact in long])
    speakers, chosen = [], []
    for i, fact in enumerate(long):
        whole = signatures.sketches[i].tobytes() + signatures.band_keys[i].tobytes()
        first = first_of_signature.setdefault(whole, fact.row)
        if first == fact.row:
            speakers.append(fact)
            chosen.append(i)
        else:
            pages.set_twin(fact.row, first)
    return band_rows(speakers, chosen, signatures, place, config.buckets)


def band_rows(
    facts: Sequence[PageFacts], rows: Sequence[int], signatures: Signatures, place: dict[str, Any], buckets: int
) -> pa.Table:
    """A shuffled row per band of each document, whose signatures are in these rows.

    A key is of its band: equal values of two bands say nothing. All rows of a document stand together, so that in
    a file its sketch is stored once.
    """
    bands = range(signatures.band_keys.shape[1])
    keys = [band.to_bytes(8, "big") + signatures.band_keys[i, band].tobytes() for i in rows for band in bands]
    sketches = [signatures.sketches[i].tobytes() for i in rows for _ in bands]
    return shuffle_table(TEXT, [fact for fact in facts for _ in bands], keys, sketches, place, buckets)


def shuffle_table(
    rule: str,
    facts: Sequence[PageFacts],
    keys: Sequence[bytes],
    sketches: Sequence[bytes] | None,
    place: dict[str, Any],
    buckets: int,
) -> pa.Table:
    """Rows of CANDIDATES."""
    n = len(facts)
    columns = {
        "bucket": [bucket_of(key, buckets) for key in keys],
        "rule": [rule] * n,
        "key": list(keys),
        "sketch": [None] * n if sketches is None else list(sketches),
        "generation": [place["generation"]] * n,
        "recency": [fact.recency for fact in facts],
        "partition": [place["partition"]] * n,
        "row": [fact.row for fact in facts],
        "doc": [fact.doc for fact in facts],
    }
    return pa.table(columns, schema=CANDIDATES)


def kept_pages(path: Location, config: DedupConfig) -> Iterator[PageFacts]:
    """The kept documents of an extracted unit, from the columns that matter here."""
    for rows, table in kept_rows(path, ["doc_id", "general_metadata", "texts"]):
        for row, value in zip(rows, table.to_pylist(), strict=True):
            general = json.loads(value["general_metadata"])
            yield PageFacts(
                row=row,
                doc=bytes.fromhex(value["doc_id"]),
                url=general["url"],
                record=(general["warc_filename"], general["warc_record_offset"]),
                recency=recency(general.get("warc_date"), config.keep),
                text=PARAGRAPH_SEPARATOR.join(text for text in value["texts"] if text is not None),
            )


def recency(warc_date: str | None, keep: str) -> int:
    """Seconds since 1970 of a capture, negative where the newest comes first; 0 where only the input's order counts."""
    if keep == "first" or not warc_date:
        return 0
    try:
        date = datetime.fromisoformat(warc_date)
        return -int((date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp())
    except (ValueError, OverflowError):
        return 0


def batches(items: Iterator[PageFacts], size: int) -> Iterator[list[PageFacts]]:
    """Lists of up to `size` items."""
    batch: list[PageFacts] = []
    for item in items:
        batch.append(item)
        if len(batch) == size:
            yield batch
            batch = []
    if batch:
        yield batch
