"""What an earlier run left, tars and the like: whether it is still what was committed is known by reading it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from obelics_pipeline.core.commit import Manifest, manifest_path, named_manifests
from obelics_pipeline.core.counted import counted
from obelics_pipeline.core.packed import Packed
from obelics_pipeline.core.storage import Location, file_sha256, is_local, remove
from obelics_pipeline.core.unit import Unit
from obelics_pipeline.engines.runner import StageRunner


def disown_damaged(units: Sequence[Unit], folder: Location, runner: StageRunner, noun: str = "tars") -> None:
    """Remove the manifests of units whose files differ from what was committed; `noun` is what they are, for a person.

    So these units are done again. The workers read the files. In an object store only sizes are compared, because the
    store keeps checksums of its own.
    """
    if not is_local(folder):
        return
    found = manifests_of(folder, units)
    total = sum(m.files["data"]["bytes"] for m in found if m.files)
    made = sum(bool(m.files) for m in found)
    if not made:
        return
    runner.say(f"shard: verifying {counted(made, noun)} of an earlier run ({total / 1e9:,.2f} GB)")
    for manifest, damaged in zip(found, runner.engine.map(partial(_damaged, folder), found), strict=True):
        for name in damaged:
            runner.say(f"{folder / name}: damaged, its hash is wrong; it is written again")
            remove([manifest_path(folder, manifest.unit)])


def manifests_of(folder: Location, units: Sequence[Unit]) -> Packed[Manifest]:
    """The manifests of those units that are committed, in their order."""
    return Packed(manifest for _, manifest in named_manifests(folder, [unit.name for unit in units]))


def _damaged(folder: Location, manifest: Manifest) -> list[str]:
    """The names of the files of a unit that are not what was committed."""
    return [file["name"] for file in manifest.files.values() if not _is_whole(folder / file["name"], file["sha256"])]


def _is_whole(place: Location, sha256: str) -> bool:
    try:
        return file_sha256(place) == sha256
    except OSError:  # a bad block, or gone
        return False
