"""Packs that a run removed once its tars held the images (`shard.keep_packs: false`), and how they come back.

A note in the folder of each revision says that they were removed on purpose. Before a stage needs images, those in tars
are put back where they were in their packs; the places of all others are zeros there, which no reader takes for images.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from functools import partial

import pyarrow as pa
import pyarrow.parquet as pq

from obelics_pipeline.core.code_identity import code_of
from obelics_pipeline.core.commit import (
    NOW,
    Attempt,
    Manifest,
    committed,
    named_manifests,
    names_by_label,
    note,
    read_manifests,
    recall,
    unit_names,
)
from obelics_pipeline.core.config.run import load_config
from obelics_pipeline.core.counted import counted
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.folder import RunFolder
from obelics_pipeline.core.packed import Packed
from obelics_pipeline.core.shards.index import read_index
from obelics_pipeline.core.shards.source import DAMAGE, document_in, documents_of
from obelics_pipeline.core.storage import Location, local_copy, read_tables, remove_tree, size_of
from obelics_pipeline.core.unit import Unit, digest
from obelics_pipeline.engines.shuffle import map_all, partition_by, sources_of
from obelics_pipeline.stages.fetch.host import host_bucket
from obelics_pipeline.stages.fetch.image_pack import Place, mend, pack_path
from obelics_pipeline.stages.fetch.named_images import places_named
from obelics_pipeline.stages.fetch.stage import label_of
from obelics_pipeline.stages.job import Job

IN_TARS, DEALT, BACK = STEPS = "images-in-tars", "images-dealt", "images-back"  # below `shuffled`, until all are back
ROWS = pa.schema(
    [
        ("label", pa.string()),  # of the fetch unit that stored the image
        ("sha256", pa.string()),
        ("tar", pa.string()),  # the unit that wrote it
        ("offset", pa.int64()),  # bytes of the tar that its document takes
        ("length", pa.int64()),
    ]
)


@dataclass(frozen=True, slots=True)
class RemovedPacks:
    """What was removed: by which revision, and how much. `images` are the URLs whose image had been stored."""

    revision: int
    packs: int
    bytes: int
    images: int
    back: bool = False  # for a revision that is not finished: what its tars had is in packs again

    def line(self) -> str:
        """For a person."""
        size = f"{counted(self.packs, 'packs')} of images ({self.bytes / 1e9:,.2f} GB)"
        return f"{size} were removed once the tars of revision {self.revision} had been read back: shard.keep_packs"

    def plan(self, in_tars: int) -> str:
        """What it means for a new revision, where the tars have so many files of images."""
        others = f"of the others, at least {max(self.images - in_tars, 0):,} of {self.images:,} images,"
        return f"images in the tars are read from these; {others} those that documents need are asked for again"


def removed_packs(folder: RunFolder) -> RemovedPacks | None:
    """What was removed from a revision's images; None where nothing was. Raises UserError for a damaged note."""
    try:
        return RemovedPacks(**recall(folder.images_removed))
    except FileNotFoundError:
        return None
    except (ValueError, TypeError):
        how = "remove it, and all images are asked for again"
        raise UserError(f"{folder.images_removed}: is damaged; take it from another revision, or {how}") from None


def note_removed(folder: RunFolder, removed: RemovedPacks) -> None:
    """Write the note that `removed_packs` reads."""
    note(folder.images_removed, asdict(removed))


def bring_back(job: Job, stage: str, units: Sequence[Unit], folder: Location) -> None:
    """Put images that are in tars back into packs that were removed, if a stage has units to do that may need them.

    Raises Stopped where a step failed, and what `begin` does.
    """
    removed = removed_packs(job.folder)
    if removed is None or removed.back:
        return
    todo = len(units) - len(read_manifests(folder, [unit.name for unit in units]))
    if not todo:
        return
    job.runner.begin(stage, todo, len(units))
    in_tars, dealt, back = (job.folder.shuffled / step for step in STEPS)
    shards, fetched = job.folder.shards, job.folder.fetch
    buckets = _buckets(RunFolder(job.folder.base))
    tars = Packed(m for _, m in named_manifests(shards, unit_names(shards)) if m.files)
    rows = map_all(
        job.runner,
        IN_TARS,
        partial(images_in_tar, folder=in_tars, shards=shards, buckets=buckets),
        [_unit_of_tar(tar, buckets) for tar in tars],
        in_tars,
        stage,
    )
    by_label = partition_by(job.runner, dealt, sources_of(rows, in_tars), "label")
    labels = names_by_label(fetched)
    restored = map_all(
        job.runner,
        BACK,
        partial(
            images_back, folder=back, shards=shards, dealt=by_label.folder, fetched=fetched, images=job.folder.images
        ),
        [Unit(BACK, digest(names, by_label.digest(x)), x, {"rows": by_label.names(x)}) for x, names in labels.items()],
        back,
        stage,
    )
    named, found = (sum(m.notes[key] for m in restored) for key in ("named", "found"))
    note_removed(job.folder, replace(removed, back=True))
    for step in STEPS:
        remove_tree(job.folder.shuffled / step)
    lost = f"; {counted(unread, 'tars')} could not be read" if (unread := sum(m.notes["damaged"] for m in rows)) else ""
    job.runner.say(
        f"{stage}: {found:,} images came back from {counted(len(tars), 'tars')}{lost}; {named - found:,} are in no tar "
        "and are asked for again if a document needs one of them"
    )


def _buckets(current: RunFolder) -> int:
    """How many there were for the images in the tars: a new revision begins with those of the current one."""
    with local_copy(current.config) as path:
        return load_config(str(path)).fetch.buckets


def _unit_of_tar(tar: Manifest, buckets: int) -> Unit:
    now = tar.files["data"].get(NOW, tar.files["data"]["sha256"])
    return Unit(IN_TARS, digest(code_of(__name__), tar.unit, now, buckets), "", {"tar": tar.unit})


def images_in_tar(unit: Unit, *, folder: Location, shards: Location, buckets: int) -> Manifest:
    """Write a row for each image file of a tar; of a damaged tar those before what cannot be read."""
    tar, rows, damaged = committed(shards, unit.payload["tar"]), list[dict[str, object]](), 0
    try:
        for found in documents_of(tar.path(shards, "data").parent.parent, read_index(tar.path(shards, "index"))):
            sha256 = {file.name: file.sha256 for file in found.record.files}
            here = {"tar": tar.unit, "offset": found.row["offset"], "length": found.row["length"]}
            for url, name in zip(found.value["images"], found.value["files"], strict=True):
                if name is not None:
                    rows.append({"label": label_of(host_bucket(url, buckets)), "sha256": sha256[name], **here})
    except (UserError, OSError, pa.ArrowException):
        damaged = 1
    with Attempt(folder, unit) as attempt:
        pq.write_table(pa.Table.from_pylist(rows, ROWS), attempt.file("data", ".parquet"))
        return attempt.commit([], {"rows": {"data": len(rows)}, "damaged": damaged})


def images_back(
    unit: Unit, *, folder: Location, shards: Location, dealt: Location, fetched: Location, images: Location
) -> Manifest:
    """Write the packs of a label again, each as long as it was, with the images that are in tars."""
    at: dict[str, tuple[str, int, int]] = {}
    for table in read_tables([dealt / name for name in unit.payload["rows"]]):
        at |= {row["sha256"]: (row["tar"], row["offset"], row["length"]) for row in table.to_pylist()}
    packs: dict[str, dict[Place, str]] = defaultdict(dict)
    for place, sha256 in places_named([fetched], unit.label):
        packs[place.pack][place] = sha256
    found = 0

    def restored(pack: str) -> Iterator[tuple[Place, bytes]]:
        nonlocal found
        end = max(place.end for place in packs[pack])
        if (size_of(pack_path(images, pack)) or 0) < end:
            yield Place(pack, end - 1, 1), b"\0"
        for place, content in _of_tars(packs[pack], at, shards):
            found += 1
            yield place, content

    for pack in sorted(packs):
        mend(images, pack, restored(pack))
    with Attempt(folder, unit) as attempt:
        return attempt.commit([], {"named": sum(map(len, packs.values())), "found": found})


def _of_tars(
    named: Mapping[Place, str], at: Mapping[str, tuple[str, int, int]], shards: Location
) -> Iterator[tuple[Place, bytes]]:
    """The images of some places that are in tars; each document is read once, and one is held."""
    by_document: dict[tuple[str, int, int], dict[str, Place]] = defaultdict(dict)
    for place, sha256 in named.items():
        if sha256 in at:
            by_document[at[sha256]][sha256] = place
    tars = {tar: committed(shards, tar).path(shards, "data") for tar, _, _ in by_document}
    for (tar, offset, length), places in sorted(by_document.items()):
        with suppress(*DAMAGE):
            document = document_in(tars[tar].parent.parent, tars[tar].name, offset, length)
            for file in document.record.files:
                if (wanted := places.pop(file.sha256, None)) is not None:
                    yield wanted, document.read(file)
