"""`WriteShards`: kept documents to tars, an index and a manifest, the same bytes in whatever order they arrive."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import islice
from typing import Any

import apache_beam as beam
from apache_beam.pvalue import PCollection

from obelics_pipeline.beam_jobs.elements import by_id, from_bytes, input_position, is_kept
from obelics_pipeline.core.config import RunConfig
from obelics_pipeline.core.config.sharding import Format
from obelics_pipeline.core.document import Document, has_failed
from obelics_pipeline.core.ledger import Ledger
from obelics_pipeline.core.shards.flamingo_record import shaped
from obelics_pipeline.core.shards.index import IndexWriter, index_row, merge_indexes
from obelics_pipeline.core.shards.manifest import (
    FILE,
    SHARDS,
    IndexPart,
    RunManifest,
    index_part,
    promises_of,
    shard_entry,
    shard_name,
    write_manifest,
)
from obelics_pipeline.core.shards.record import make_record
from obelics_pipeline.core.shards.run_index import index_files
from obelics_pipeline.core.shards.shard_table import ShardEntry
from obelics_pipeline.core.shards.tar import ShardWriter
from obelics_pipeline.core.storage import Location, draft, names_in, remove, remove_tree
from obelics_pipeline.stages.extract.measure import score_names
from obelics_pipeline.stages.fetch.image_store import ImageStore
from obelics_pipeline.stages.shard.assemble import image_ledger
from obelics_pipeline.stages.shard.index_parts import plan_parts

PARTS = "index-parts"  # folder of the tars' parts of the index, until they are one
ALL = ""  # key of what one worker must see as a whole: a row per WARC file, a row per tar


class WriteShards(beam.PTransform[Any, Any]):
    """PCollection[Document] -> PCollection[str], one element: the path of the manifest, once all is written.

    Kept documents go to `output/shards/*.tar` with their images from the store `images`; dropped ones are counted by
    reason in the manifest's ledgers. `obelics validate output` accepts what is written, if the documents passed
    `FetchImages`, which makes what the config promises. `scores` names scores beside those of the config's filters.

    Documents are sorted by WARC file name, offset and part; a tar holds those that begin within the same
    `shard.target_bytes` of the whole, so numbers may be missing where documents are larger. (The main job closes a tar
    where it is full: other cuts, the same documents.) Two shuffles carry whole documents, without images. A group that
    one worker holds is a tar's documents, or the sizes of one WARC file's documents.
    """

    def __init__(self, output: Location, config: RunConfig, images: Location, scores: Sequence[str] = ()) -> None:
        super().__init__()
        self._output, self._config, self._images = output, config, images
        self._scores = [*score_names(config), *scores]

    def expand(self, pcoll: PCollection[Any]) -> PCollection[Any]:
        """Count, place, write, publish."""
        counts = (
            pcoll
            | "Ledgers" >> beam.ParDo(_Ledgers()).with_output_types(tuple[str, int])
            | "Count" >> beam.CombinePerKey(sum)
            | "Counts" >> beam.MapTuple(lambda key, n: (ALL, f"{key}\t{n}".encode())).with_output_types(_KEYED)
        )
        write = _WriteTar(self._output, self._images, self._scores, self._config.shard.format)
        kept = pcoll | "Kept" >> beam.Filter(is_kept).with_output_types(Document)
        tars = (
            {"documents": kept | "ById" >> beam.Map(by_id).with_output_types(_KEYED), "tar": self._places(kept)}
            | "Meet" >> beam.CoGroupByKey()
            | "ByTar" >> beam.ParDo(_ByTar()).with_output_types(tuple[int, bytes])
            | "Tars" >> beam.GroupByKey()
            | "Write" >> beam.ParDo(write).with_output_types(_KEYED)
        )
        one = pcoll.pipeline | "Once" >> beam.Create([(ALL, b"")], reshuffle=False).with_output_types(_KEYED)
        parts = (
            {"once": one, "tars": tars}
            | "AllTars" >> beam.CoGroupByKey()
            | "Plan" >> beam.ParDo(_Plan(self._output, self._config.shard.index_rows)).with_output_types(_KEYED)
            | "Spread" >> beam.Reshuffle()
            | "Parts" >> beam.ParDo(_WritePart(self._output, self._scores)).with_output_types(_KEYED)
        )
        return (
            {"once": one, "counts": counts, "tars": tars, "parts": parts}
            | "All" >> beam.CoGroupByKey()
            | "Publish" >> beam.ParDo(_Publish(self._output, self._config, self._scores)).with_output_types(str)
        )

    def _places(self, kept: PCollection[Any]) -> PCollection[Any]:
        """(document, number of its tar): sizes are summed up per WARC file, files one after the other."""
        sizes = (
            kept
            | "Sizes" >> beam.ParDo(_Sizes(self._scores, self._config.shard.format)).with_output_types(_KEYED)
            | "ByWarc" >> beam.GroupByKey()
            | "Sort" >> beam.MapTuple(_sorted_sizes).with_output_types(_KEYED)
        )
        starts = (
            sizes
            | "Sums" >> beam.MapTuple(_sum).with_output_types(_KEYED)
            | "AllWarcs" >> beam.GroupByKey()
            | "Starts" >> beam.FlatMapTuple(_starts).with_output_types(_KEYED)
        )
        return (
            {"sizes": sizes, "start": starts}
            | "MeetStart" >> beam.CoGroupByKey()
            | "Number" >> beam.ParDo(_Number(self._config.shard.target_bytes)).with_output_types(_KEYED)
        )


_KEYED = tuple[str, bytes]


class _Ledgers(beam.DoFn):
    """(JSON of noun, how, reason; how many) of each document and its images."""

    def process(self, element: Document) -> Iterator[tuple[str, int]]:
        documents = Ledger("documents")
        documents.count(element.reason, has_failed(element))
        for ledger in (documents, image_ledger(element)):
            counts = {"kept": Counter({"": ledger.kept}), "dropped": ledger.dropped, "failed": ledger.failed}
            for how, reasons in counts.items():
                for reason, n in reasons.items():
                    yield json.dumps([ledger.noun, how, reason]), n


def read_ledgers(lines: Iterable[bytes]) -> dict[str, Ledger]:
    """The ledgers of documents and images from lines of JSON, a tab and a count."""
    ledgers = {noun: Ledger(noun) for noun in ("documents", "images")}
    for line in sorted(lines):
        key, _, n = line.decode().rpartition("\t")
        noun, how, reason = json.loads(key)
        if how == "kept":
            ledgers[noun].keep(int(n))
        elif how == "dropped":
            ledgers[noun].drop(reason, int(n))
        else:
            ledgers[noun].fail(reason, int(n))
    return ledgers


class _Sizes(beam.DoFn):
    """(WARC file, JSON of the position in it, document, bytes in a tar)."""

    def __init__(self, scores: Sequence[str], form: Format) -> None:
        self._scores, self._form = list(scores), form

    def process(self, element: Document) -> Iterator[tuple[str, bytes]]:
        name, *rest = input_position(element)
        yield name, json.dumps([*rest, shaped(make_record(element, self._scores), self._form).size]).encode()


def _sorted_sizes(name: str, sizes: Iterable[bytes]) -> tuple[str, bytes]:
    rows = sorted(json.loads(size) for size in sizes)
    return name, json.dumps([[doc_id, size] for *_, doc_id, size in rows]).encode()


def _sum(name: str, sizes: bytes) -> tuple[str, bytes]:
    return ALL, json.dumps([name, sum(size for _, size in json.loads(sizes))]).encode()


def _starts(_all: str, sums: Iterable[bytes]) -> Iterator[tuple[str, bytes]]:
    """(WARC file, where its documents begin in the bytes of all)."""
    start = 0
    for name, size in sorted(json.loads(value) for value in sums):
        yield name, str(start).encode()
        start += size


class _Number(beam.DoFn):
    def __init__(self, target_bytes: int) -> None:
        self._target = target_bytes

    def process(self, element: tuple[str, Mapping[str, Iterable[bytes]]]) -> Iterator[tuple[str, bytes]]:
        _, joined = element
        (start,), (sizes,) = joined["start"], joined["sizes"]
        at = int(start)
        for doc_id, size in json.loads(sizes):
            yield doc_id, str(at // self._target).encode()
            at += size


class _ByTar(beam.DoFn):
    def process(self, element: tuple[str, Mapping[str, Iterable[bytes]]]) -> Iterator[tuple[int, bytes]]:
        doc_id, joined = element
        documents, numbers = list(joined["documents"]), sorted(set(joined["tar"]))
        if len(documents) != 1 or len(numbers) != 1:
            raise ValueError(f"WriteShards: document {doc_id} came {len(documents)} times; each may come once")
        yield int(numbers[0]), documents[0]


class _WriteTar(beam.DoFn):
    """A tar and its part of the index, each whole or not at all; (ALL, JSON of its entry)."""

    def __init__(self, output: Location, images: Location, scores: Sequence[str], form: Format) -> None:
        self._output, self._images, self._scores, self._form = output, images, list(scores), form

    def process(self, element: tuple[int, Iterable[bytes]]) -> Iterator[tuple[str, bytes]]:
        number, encoded = element
        name = shard_name(number)
        documents = sorted(map(from_bytes, encoded), key=input_position)
        read_image = ImageStore(self._images).read
        with draft(self._output / SHARDS / name) as tar, draft(part_of_index(self._output, name)) as index:
            rows = []
            with ShardWriter(tar) as writer, IndexWriter(index, self._scores) as index_writer:
                for document in documents:
                    record = shaped(make_record(document, self._scores), self._form)
                    placed = writer.add(record, read_image)
                    rows.append(index_row(name, placed, document, record, self._scores))
                    index_writer.write(rows[-1])
            entry = asdict(shard_entry(tar, rows)) | {"name": name}
        yield ALL, json.dumps(entry).encode()


def part_of_index(output: Location, name: str) -> Location:
    """Where the rows of one tar wait for the others."""
    return output / PARTS / f"{name}.parquet"


class _Plan(beam.DoFn):
    """(Name of a file of the index, JSON of the tars that it has the rows of), once nothing of an earlier run stands.

    What an earlier, other run left here would be strange to the manifest, which goes first.
    """

    def __init__(self, output: Location, index_rows: int) -> None:
        self._output, self._index_rows = output, index_rows

    def process(self, element: tuple[str, Mapping[str, Iterable[bytes]]]) -> Iterator[tuple[str, bytes]]:
        entries = entries_of(element[1]["tars"])
        planned = plan_parts((entry.documents for entry in entries), self._index_rows)
        self._sweep({entry.name for entry in entries}, planned.keys())
        names = iter([entry.name for entry in entries])
        for name, size in planned.items():
            yield name, json.dumps(list(islice(names, size))).encode()

    def _sweep(self, tars: Collection[str], index: Collection[str]) -> None:
        remove([self._output / FILE])
        remove(self._output / name for name in index_files(self._output) if name not in index)
        shards = self._output / SHARDS
        remove(shards / name for name in names_in(shards) if name.endswith(".tar") and name not in tars)


def entries_of(tars: Iterable[bytes]) -> list[ShardEntry]:
    """The entries of all tars, in their order."""
    return sorted((ShardEntry(**json.loads(value)) for value in tars), key=lambda entry: entry.name)


class _WritePart(beam.DoFn):
    """A file of the index, whole or not at all; (ALL, JSON of its entry)."""

    def __init__(self, output: Location, scores: Sequence[str]) -> None:
        self._output, self._scores = output, list(scores)

    def process(self, element: tuple[str, bytes]) -> Iterator[tuple[str, bytes]]:
        name, tars = element[0], json.loads(element[1])
        with draft(self._output / name) as path:
            merge_indexes([part_of_index(self._output, tar) for tar in tars], path, self._scores)
        yield ALL, json.dumps(asdict(index_part(self._output / name, len(tars)))).encode()


class _Publish(beam.DoFn):
    """Last of all the manifest: a folder with a manifest is a finished run."""

    def __init__(self, output: Location, config: RunConfig, scores: Sequence[str]) -> None:
        self._output, self._config, self._scores = output, config, list(scores)

    def process(self, element: tuple[str, Mapping[str, Iterable[bytes]]]) -> Iterator[str]:
        _, joined = element
        output = self._output
        parts = [IndexPart(**json.loads(value)) for value in joined["parts"]]
        manifest = RunManifest(
            shards=tuple(entries_of(joined["tars"])),
            index=tuple(sorted(parts, key=lambda part: (len(part.name), part.name))),
            promises=promises_of(self._config, self._scores),
            ledgers=read_ledgers(joined["counts"]),
            notes={},
        )
        write_manifest(output, manifest)
        remove_tree(output / PARTS)
        yield str(output / "manifest.json")
