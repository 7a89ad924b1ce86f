"""The packs of a run's images, removed once the tars of its current revision have been read back."""

from __future__ import annotations

from collections.abc import Callable

from obelics_pipeline.core.counted import counted
from obelics_pipeline.core.folder import RunFolder
from obelics_pipeline.core.revisions import revisions_of
from obelics_pipeline.core.shards.manifest import read_manifest
from obelics_pipeline.core.storage import Location, files_below, remove
from obelics_pipeline.stages.fetch.image_pack import ENDING
from obelics_pipeline.stages.fetch.removed_packs import RemovedPacks, note_removed, removed_packs


def remove_packs(base: Location, say: Callable[[str], None]) -> None:
    """Remove the packs of all revisions, which share them; the tars of the current one must have been read back.

    The notes come first: a reader that misses a pack, also after a kill, finds there that it was removed on purpose.
    """
    known = revisions_of(base)
    number, folders = known.current_number(), [RunFolder(base, n) for n in known.numbers()]
    packs = {str(folder.images): _packs(folder) for folder in folders}
    sizes = {name: size for found in packs.values() for name, size in found.items()}
    if not sizes:
        return
    images = read_manifest(RunFolder(base).path).ledgers["urls"].kept
    for folder in folders:
        before = removed_packs(folder)
        if before is None or before.back or before.revision != number:  # else a kill came between
            note_removed(folder, RemovedPacks(number, len(sizes), sum(sizes.values()), images))
    remove(folder.images / name for folder in folders for name in packs[str(folder.images)])
    freed = f"{counted(len(sizes), 'packs')} of {images:,} images, {sum(sizes.values()) / 1e9:,.2f} GB"
    say(f"removed {freed}: shard.keep_packs is false, and the tars of revision {number} have been read back")


def _packs(folder: RunFolder) -> dict[str, int]:
    return {name: size for name, size in files_below(folder.images).items() if name.endswith(ENDING)}
