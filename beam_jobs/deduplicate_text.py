"""`DeduplicateText`: of documents with nearly the same text, the first is kept. Only keys are shuffled."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import apache_beam as beam
import pyarrow as pa
import pyarrow.compute as pc
from apache_beam.pvalue import PCollection

from obelics_pipeline.beam_jobs.counters import count
from obelics_pipeline.beam_jobs.elements import by_id, from_bytes, is_kept
from obelics_pipeline.beam_jobs.graphs import from_ipc, to_ipc
from obelics_pipeline.core.config import RunConfig
from obelics_pipeline.core.config.dedup import DedupConfig
from obelics_pipeline.core.document import Document
from obelics_pipeline.stages.dedup.candidates import PageFacts, band_rows, recency, signer
from obelics_pipeline.stages.dedup.components import contract, edges_by_bucket
from obelics_pipeline.stages.dedup.leaders import edges
from obelics_pipeline.stages.dedup.shuffled_rows import CANDIDATES, EDGES, whole, without_bucket

REASON = "duplicate_text"
# Turns of contraction that are laid out in the graph, which cannot grow while it runs. Groups of near-duplicates are
# nearly stars, settled in three or four; a chain of 2**6 documents needs 12 (about 2 log2 of its length).
TURNS = 12


class DeduplicateText(beam.PTransform[Any, Any]):
    """PCollection[Document] -> PCollection[Document].

    Every document comes out once. Of each group with nearly the same text (`config.dedup.text`) the first is kept, by
    `config.dedup.keep`: the newest capture, or the first by WARC file name, offset and part. The others have the reason
    `duplicate_text`, and `general["duplicate_of"]` names the one that is kept. What was dropped before takes no part.

    MinHash signatures go as small keyed rows to Beam's own GroupByKey; verdicts come back by document id. Put it
    where documents have passed everything else, or a group may lose its first to a later filter. Raises where groups
    did not settle in `turns`. Counters: `text_messages`, `documents_dropped.duplicate_text`.
    """

    def __init__(self, config: RunConfig, turns: int = TURNS) -> None:
        super().__init__()
        self._config, self._turns = config.dedup, turns

    def expand(self, pcoll: PCollection[Any]) -> PCollection[Any]:
        """Shuffled rows, edges, groups, verdicts."""
        buckets, keyed = self._config.buckets, tuple[int, bytes]
        found = (
            pcoll
            | "Kept" >> beam.Filter(is_kept).with_output_types(Document)
            | "Batch" >> beam.BatchElements(min_batch_size=16, max_batch_size=256)
            | "Sign" >> beam.ParDo(_Sign(self._config)).with_output_types(keyed)
            | "ByKey" >> beam.GroupByKey()
            | "Link" >> beam.ParDo(_Link(self._config.text.threshold, buckets)).with_output_types(keyed)
        )
        for turn in range(self._turns):
            last = turn == self._turns - 1
            found = (
                found
                | f"ByDocument{turn}" >> beam.GroupByKey()
                | f"Contract{turn}" >> beam.ParDo(_Contract(buckets, turn, last)).with_output_types(keyed)
            )
        verdicts = found | "Verdicts" >> beam.ParDo(_Verdicts(buckets)).with_output_types(tuple[str, bytes])
        documents = pcoll | "ById" >> beam.Map(by_id).with_output_types(tuple[str, bytes])
        return (
            {"documents": documents, "verdicts": verdicts}
            | "BringBack" >> beam.CoGroupByKey()
            | "Apply" >> beam.ParDo(_Apply()).with_output_types(Document)
        )


class _Sign(beam.DoFn):
    """A batch of documents to (bucket, rows of CANDIDATES). No verdict depends on how Beam forms batches."""

    def __init__(self, config: DedupConfig) -> None:
        self._config = config

    def setup(self) -> None:
        self._signer = signer(self._config.text)

    def process(self, element: list[Document]) -> Iterator[tuple[int, bytes]]:
        config = self._config
        long = [d for d in element if len(d.text()) >= config.text.min_characters]
        if not long:
            return
        signatures = self._signer.sign([d.text() for d in long])
        table = pa.concat_tables(
            band_rows([facts(document, config.keep)], [i], signatures, where(document), config.buckets)
            for i, document in enumerate(long)
        )
        count("text_messages", table.num_rows)
        yield from by_bucket(table)


def facts(document: Document, keep: str) -> PageFacts:
    """A document as the shuffled rows describe it. `where` gives its partition and row."""
    record = (document.warc_filename, document.warc_record_offset)
    when = recency(document.general.get("warc_date"), keep)
    return PageFacts(document.general.get("part", 0), bytes.fromhex(document.doc_id), document.url, record, when, "")


def where(document: Document) -> dict[str, object]:
    """The position in the input: partitions sort as WARC files and offsets do."""
    return {"generation": 0, "partition": f"{document.warc_filename}\n{document.warc_record_offset:020d}"}


class _Link(beam.DoFn):
    def __init__(self, threshold: float, buckets: int) -> None:
        self._threshold, self._buckets = threshold, buckets

    def process(self, element: tuple[int, Iterable[bytes]]) -> Iterator[tuple[int, bytes]]:
        rows = whole(map(from_ipc, element[1]), without_bucket(CANDIDATES))
        yield from by_bucket(edges_by_bucket(edges(rows, self._threshold), self._buckets))


class _Contract(beam.DoFn):
    """One turn; after the last nothing may be unsettled."""

    def __init__(self, buckets: int, turn: int, last: bool) -> None:
        self._buckets, self._turn, self._last = buckets, turn, last

    def process(self, element: tuple[int, Iterable[bytes]]) -> Iterator[tuple[int, bytes]]:
        bucket, streams = element
        found, unsettled = contract(whole(map(from_ipc, streams), EDGES), bucket, self._buckets, self._turn)
        if self._last and unsettled:
            raise RuntimeError(f"DeduplicateText: groups did not settle in {self._turn + 1} turns; give more `turns`")
        yield from by_bucket(edges_by_bucket(found, self._buckets))


class _Verdicts(beam.DoFn):
    """(document, the one that is kept), once per edge; an edge is in the buckets of both its ends."""

    def __init__(self, buckets: int) -> None:
        self._buckets = buckets

    def process(self, element: tuple[int, bytes]) -> Iterator[tuple[str, bytes]]:
        table = from_ipc(element[1])
        for doc, of in zip(table["doc"].to_pylist(), table["of_doc"].to_pylist(), strict=True):
            yield doc.hex(), of.hex().encode()


class _Apply(beam.DoFn):
    def process(self, element: tuple[str, Mapping[str, Iterable[bytes]]]) -> Iterator[Document]:
        _, joined = element
        firsts = sorted(set(joined["verdicts"]))
        for document in map(from_bytes, joined["documents"]):
            if firsts and is_kept(document):
                document.reason = REASON
                document.general["duplicate_of"] = firsts[0].decode()
                count(f"documents_dropped.{REASON}")
            yield document


def by_bucket(table: pa.Table) -> Iterator[tuple[int, bytes]]:
    """Rows dealt out by their column `bucket`, without it: one Arrow stream per bucket."""
    column = table["bucket"].combine_chunks()
    rest = table.drop_columns(["bucket"])
    for bucket in column.unique().sort():
        yield bucket.as_py(), to_ipc(rest.filter(pc.equal(column, bucket)))
