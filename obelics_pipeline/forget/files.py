"""What units do in files that no later one asks for: tables and texts that lie loose, WARC files, images, strays."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath

from obelics_pipeline.core.commit import Attempt, Manifest, read_manifests, unit_names
from obelics_pipeline.core.storage import TEMPORARY, Location, files_below, remove, sync
from obelics_pipeline.core.unit import Unit
from obelics_pipeline.forget.gone import gone_at
from obelics_pipeline.forget.loose import is_text, names_something, strike_file
from obelics_pipeline.forget.place import Place
from obelics_pipeline.forget.units import Rewriter
from obelics_pipeline.forget.warcs import blank_records
from obelics_pipeline.stages.fetch.image_pack import ENDING as PACK
from obelics_pipeline.stages.fetch.named_images import blank_unnamed

PAGE = ".html"  # of obelics explain and others: it shows texts, by which nothing can be known again


def rewritten(unit: Unit, *, place: Place, folder: Location) -> Manifest:
    """Some units of a folder of the run, rewritten."""
    rewriter = Rewriter(place.run, gone_at(place))
    rewriter.units(unit.payload["kind"], unit.payload["folder"], unit.payload["names"])
    if rewriter.files:
        folders = [place.run.path / unit.payload["folder"], place.run.shuffled / "settled"]
        _bring_to_disk({*folders, *(where / "manifests" for where in folders)})
    with Attempt(folder, unit) as attempt:
        return attempt.commit([], {"files": rewriter.files, "freed": rewriter.freed, "images": len(rewriter.images)})


def loose(unit: Unit, *, place: Place, folder: Location) -> Manifest:
    """Files that no unit's manifest names, edited; pages that show something are removed.

    Pieces of shuffles have other names then (`pieces`, by their folder): see `units.follow`.
    """
    gone, removed, freed = gone_at(place), list[str](), 0
    rewriter = Rewriter(place.run, gone)
    pieces: Mapping[str, dict[str, str]] = defaultdict(dict)
    for name in unit.payload["names"]:
        where = place.run.path / name
        if name.endswith(".parquet"):
            other = rewriter.loose(where)
            if other is not None:
                pieces[str(PurePosixPath(name).parent)][where.name] = other
        elif name.endswith(PAGE) and names_something(where, gone.strike):
            remove([where])
            removed.append(name)
        elif is_text(name):
            freed += strike_file(where, gone.strike, lines_go="/journal/" in f"/{name}")
    _bring_to_disk({(place.run.path / name).parent for name in unit.payload["names"]})
    told = {"files": rewriter.files, "freed": freed + rewriter.freed, "removed": removed, "pieces": dict(pieces)}
    with Attempt(folder, unit) as attempt:
        return attempt.commit([], told)


def _bring_to_disk(folders: Iterable[Location]) -> None:
    """Bring new names to the disk before their files are noted as done: nobody looks again after a power cut."""
    for folder in folders:
        if isinstance(folder, Path) and folder.is_dir():
            sync(folder)


def swept(unit: Unit, *, place: Place, folder: Location) -> Manifest:
    """Folders of units without what these had before they were rewritten, where a kill left it."""
    for name in unit.payload["names"]:
        where = place.run.path / name
        named = {f["name"] for m in read_manifests(where, unit_names(where)).values() for f in m.files.values()}
        stray = [n for n in files_below(where) if n.endswith((".parquet", ".tar")) and n not in named]
        remove(where / n for n in stray if TEMPORARY not in n)
    with Attempt(folder, unit) as attempt:
        return attempt.commit([])


def blanked(unit: Unit, *, place: Place, folder: Location) -> Manifest:
    """WARC files that lie in the folder itself, as the demo's do; those elsewhere do not belong to the run."""
    gone, base, records = gone_at(place), place.run.path, 0
    for name in unit.payload["names"]:
        assert isinstance(base, Path), "in a store inputs belong to nobody"
        records += blank_records(base / name, gone.address)
    with Attempt(folder, unit) as attempt:
        return attempt.commit([], {"records": records})


def images(unit: Unit, *, place: Place, folder: Location) -> Manifest:
    """What goes in some folders of the images: files of one image, and in packs what no fetch unit names any more."""
    gone, stored, count, freed = gone_at(place), place.run.images, 0, 0
    for name in unit.payload["names"]:
        files = {f"{name}/{file}": size for file, size in files_below(stored / name).items()}
        for file, size in files.items():
            sha256 = file.rpartition("/")[2]
            if len(sha256) == 64 and gone.sha256(sha256):
                remove([stored / file])
                count, freed = count + 1, freed + size
        packs = [file for file in files if file.endswith(PACK)]
        freed += blank_unnamed(stored, packs, [place.run.fetch], lambda sha256: not gone.sha256(sha256))
    with Attempt(folder, unit) as attempt:
        return attempt.commit([], {"images": count, "freed": freed})
