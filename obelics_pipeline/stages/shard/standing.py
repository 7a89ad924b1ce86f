"""What an earlier run left, tars and the like: whether it is still what was committed is known by reading it."""

from __future__ import annotations

from collections.abc import Sequence

from obelics_pipeline.core.commit import manifest_path, read_manifests
from obelics_pipeline.core.counted import counted
from obelics_pipeline.core.storage import Location, file_sha256, is_local, remove
from obelics_pipeline.core.unit import Unit
from obelics_pipeline.engines.runner import StageRunner


def disown_damaged(units: Sequence[Unit], folder: Location, runner: StageRunner, noun: str = "tars") -> None:
    """Remove the manifests of units whose files differ from what was committed; `noun` is what they are, for a person.

    So these units are done again. The workers read the files. In an object store only sizes are compared, because the
    store keeps checksums of its own.
    """
    found = read_manifests(folder, [unit.name for unit in units]).values()
    files = [(folder / file["name"], file["sha256"], m.unit) for m in found for file in m.files.values()]
    if not is_local(folder) or not files:
        return
    total = sum(m.files["data"]["bytes"] for m in found if m.files)
    made = counted(sum(bool(m.files) for m in found), noun)
    runner.say(f"shard: verifying {made} of an earlier run ({total / 1e9:,.2f} GB)")
    whole = runner.engine.map(_is_whole, [(place, sha256) for place, sha256, _ in files])
    damaged = [(place, unit) for (place, _, unit), is_whole in zip(files, whole, strict=True) if not is_whole]
    for place, unit in damaged:
        runner.say(f"{place}: damaged, its hash is wrong; it is written again")
        remove([manifest_path(folder, unit)])


def _is_whole(stated: tuple[Location, str]) -> bool:
    place, sha256 = stated
    try:
        return file_sha256(place) == sha256
    except OSError:  # a bad block, or gone
        return False
