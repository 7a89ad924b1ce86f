"""A finished run as open_flamingo's `train.py` reads it: tars for `--mmc4_shards`, and pairs for `--laion_shards`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import groupby

from obelics_pipeline.core.document import DOCUMENT_DROPPED
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.index_name import INDEX
from obelics_pipeline.core.ledger import Ledger
from obelics_pipeline.core.shards.flamingo_record import shaped
from obelics_pipeline.core.shards.index import IndexWriter, fixed_columns
from obelics_pipeline.core.shards.loader import LoaderLedgers, loaded
from obelics_pipeline.core.shards.manifest import (
    FILE,
    SHARDS,
    RunManifest,
    index_part,
    read_manifest,
    shard_name,
    write_manifest,
)
from obelics_pipeline.core.shards.run_index import demand_index
from obelics_pipeline.core.shards.shard_table import ShardEntry
from obelics_pipeline.core.shards.source import StoredDocument, documents
from obelics_pipeline.core.shards.tar import ShardWriter
from obelics_pipeline.core.storage import Location, draft, file_sha256, names_in, remove, size_of
from obelics_pipeline.stages.shard.pair_writer import FOLDER, PairWriter, pair_tar_name

TARGET_BYTES = 256 * 2**20  # of a tar
NO_FILE = "no_image_file"  # a document whose images were not fetched: the loader refuses it
EXPORTED = "exported"  # key of the notes of an export's manifest


@dataclass(frozen=True)
class Deal:
    """Into how many tars how many documents of how many bytes go."""

    tars: int
    documents: int
    bytes: int

    def numbered(self, sizes: Iterator[int]) -> Iterator[int]:
        """The tar of each document, in order: equal parts of the bytes, and no tar without a document."""
        tar = done = at = 0
        for size in sizes:
            yield tar
            at, done = at + size, done + 1
            left, tars_left = self.documents - done, self.tars - tar - 1
            if tars_left and (at * self.tars >= (tar + 1) * self.bytes or left <= tars_left):
                tar += 1


@dataclass(frozen=True)
class Exported:
    """The result of an export. `pairs` and the tallies are ledgers. `manifest`: None if only pairs were written."""

    output: Location
    manifest: RunManifest | None
    pair_tars: int
    pairs: Ledger
    asked: int

    def lines(self) -> list[str]:
        """For a person: what there is, what the loader will leave out, and how to call the trainer."""
        out = []
        laion = f"--laion_shards '{self.output}/{FOLDER}/{_range('laion', self.pair_tars)}'" if self.pair_tars else ""
        if self.manifest is not None:
            counts, ledgers = self.manifest.counts(), self.manifest.ledgers
            wrote = f"{counts['documents']:,} documents with {counts['files']:,} images"
            out.append(f"wrote {wrote} in {counts['shards']} tars")
            out.append(f"not written: {_reasons(ledgers['documents'])}")
            read, images = ledgers["documents_read"], ledgers["images_read"]
            out.append(
                f"its loader will read about {read.kept:,} of these documents (not: {_reasons(read)}) and "
                f"{images.kept:,} of the images (not: {_reasons(images)})"
            )
            laion = f"--mmc4_shards '{self.output}/{SHARDS}/{_range('shard', counts['shards'])}' {laion}"
        out.append(f"wrote {self.pairs.kept:,} pairs in {self.pair_tars} tars; without: {_reasons(self.pairs)}")
        if self.pair_tars < self.asked:
            advice = "give fewer workers x processes" if self.pair_tars else "name another run's by --laion_shards"
            out.append(f"only {self.pair_tars} tars of pairs, {self.asked} were asked for: {advice}")
        return [*out, f"train.py {laion}"]


def export_flamingo(
    folder: Location, output: Location, shards: int = 1, target_bytes: int = TARGET_BYTES, pairs_only: bool = False
) -> Exported:
    """Write the documents of a run for open_flamingo's trainer, with the pairs it wants beside them.

    The tars hold about `target_bytes` each and are at least `shards` (its loader wants one for each worker of each
    process). `output` is then a folder that `obelics validate` checks, with an index and a manifest; of `pairs_only`,
    the pairs alone. Each shard is read once, one document at a time; each file appears whole or not at all, the
    manifest last, and equal runs give equal bytes. Raises UserError for a folder that is no finished run or is damaged,
    for one with too few documents, and for an output folder that holds something else.
    """
    manifest = read_manifest(folder)
    deal = _deal(folder, shards, target_bytes)
    _refuse_strangers(folder, output, deal.tars)
    if pairs_only:
        with PairWriter(output) as pairs:
            for _, part in _parts(folder, deal):
                for found in part:
                    pairs.add(found)
                pairs.cut()
        return Exported(output, None, pairs.tars, pairs.ledger, shards)
    remove([output / FILE])
    entries: list[ShardEntry] = []
    tally = LoaderLedgers()
    with ExitStack() as stack:
        pairs = stack.enter_context(PairWriter(output))
        index_path = stack.enter_context(draft(output / INDEX))
        columns = fixed_columns(demand_index(folder).schema())
        index = stack.enter_context(IndexWriter(index_path, manifest.promises.score_names, columns))
        for number, part in _parts(folder, deal):
            entries.append(_write_tar(output / SHARDS / shard_name(number), part, index, pairs, tally))
            pairs.cut()
    ledgers = _ledgers(folder) | {ledger.noun: ledger for ledger in (tally.documents, tally.images)}
    exported = RunManifest(
        shards=tuple(entries),
        index=(index_part(output / INDEX, len(entries)),),
        promises=replace(manifest.promises, format="open_flamingo"),
        ledgers=ledgers,
        notes={EXPORTED: "open_flamingo"},
    )
    write_manifest(output, exported)
    return Exported(output, exported, pairs.tars, pairs.ledger, shards)


def _write_tar(
    place: Location, part: Iterator[StoredDocument], index: IndexWriter, pairs: PairWriter, tally: LoaderLedgers
) -> ShardEntry:
    sums = dict.fromkeys(("documents", "texts", "images", "files"), 0)
    with draft(place) as path:
        with ShardWriter(path) as tar:
            for found in part:
                record = shaped(found.record, "open_flamingo")
                placed = tar.append(record.doc_id, record.members(found.read))
                row = {**found.row, "shard": place.name, "offset": placed.offset, "length": placed.length}
                index.write(row)
                pairs.add(found)
                tally.add(loaded(found.value["texts"], found.value["files"]))
                sums["documents"] += 1
                for key in ("texts", "images", "files"):
                    sums[key] += row[f"n_{key}"]
        sha256, size = file_sha256(path), path.stat().st_size
    return ShardEntry(place.name, sha256, size, **sums)


def _deal(folder: Location, shards: int, target_bytes: int) -> Deal:
    """How many tars there will be, from the index alone; base64 makes four bytes of three."""
    count = total = 0
    for size in _sizes(folder):
        count, total = count + 1, total + size
    if count < shards:
        raise UserError(f"--shards {shards}: {folder} has {count} documents with images, and no tar may be empty")
    return Deal(min(count, max(shards, -(-total * 4 // (3 * target_bytes)))), count, total)


def _sizes(folder: Location) -> Iterator[int]:
    """The bytes of each document that will be written."""
    for row in demand_index(folder).rows(["length", "n_files"]):
        if row["n_files"]:
            yield row["length"]


def _parts(folder: Location, deal: Deal) -> Iterator[tuple[int, Iterator[StoredDocument]]]:
    """The documents of each tar, with its number."""
    numbers = deal.numbered(_sizes(folder))
    for number, part in groupby(zip(numbers, documents(folder), strict=True), lambda pair: pair[0]):
        yield number, (found for _, found in part)


def _ledgers(folder: Location) -> dict[str, Ledger]:
    """Ledgers of what the export wrote. A document without an image file is not written."""
    written, images = Ledger("documents"), Ledger("images")
    for row in demand_index(folder).rows(["n_images", "n_files"]):
        if row["n_files"]:
            written.keep()
            images.keep(row["n_images"])
        else:
            written.drop(NO_FILE)
            images.drop(DOCUMENT_DROPPED, row["n_images"])
    return {"documents": written, "images": images}


def _refuse_strangers(folder: Location, output: Location, tars: int) -> None:
    """Raise UserError if the output folder is a run, or holds a tar that this export does not write again."""
    mine = {SHARDS: {shard_name(i) for i in range(tars)}, FOLDER: {pair_tar_name(i) for i in range(tars)}}
    advice = "give an empty or new folder"
    if output == folder:
        raise UserError(f"--output {output}: is the run itself; {advice}")
    if size_of(output / FILE) is not None and EXPORTED not in read_manifest(output).notes:
        raise UserError(f"--output {output}: is another run; {advice}")
    for name, own in mine.items():
        strangers = sorted(n for n in names_in(output / name) if n.endswith(".tar") and n not in own)
        if strangers:
            raise UserError(f"--output {output}: holds another tar, {name}/{strangers[0]}; {advice}")


def _range(stem: str, count: int) -> str:
    """Files 0 to `count` - 1 in braces, as the trainer's options take them."""
    return f"{stem}-{{000000..{count - 1:06d}}}.tar"


def _reasons(ledger: Ledger) -> str:
    return ", ".join(f"{n:,} {reason}" for reason, n in sorted(ledger.dropped.items())) or "none"
