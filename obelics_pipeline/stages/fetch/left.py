"""What is left of a damaged fetch unit, so that the unit is fetched again without asking twice for what is whole.

A unit is fetched again if one of its files, its manifest or one of its images is damaged. Its rounds are as the unit.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from obelics_pipeline.core.commit import Manifest, manifest_path, read_manifests
from obelics_pipeline.core.content_name import stated_hash, stem_of
from obelics_pipeline.core.errors import Damaged
from obelics_pipeline.core.storage import Location, names_in, read_table, remove
from obelics_pipeline.core.stored_revisions import take_home
from obelics_pipeline.core.unit import Unit
from obelics_pipeline.stages.fetch.image_pack import ENDING, Place
from obelics_pipeline.stages.fetch.named_images import units_naming
from obelics_pipeline.stages.fetch.result import FetchResult, results_from_table
from obelics_pipeline.stages.fetch.robots_observations import Observation
from obelics_pipeline.stages.fetch.run_images import RunImages, place_of

ROLES = {"data": "", "answers": "answers/", "robots": "robots/"}  # of files -> where they lie in the stage's folder


@dataclass
class Left:
    """What is left of a unit: results by URL, what origins said, and the files that say so."""

    results: dict[str, FetchResult] = field(default_factory=dict)
    observations: list[Observation] = field(default_factory=list)
    files: list[Location] = field(default_factory=list)
    lost: dict[str, Place] = field(default_factory=dict)  # where images should be in packs, by sha256

    def clear(self, manifest: Manifest, folder: Location) -> None:
        """Remove the files that the unit, committed again, does not consist of."""
        named = {folder / file["name"] for file in manifest.files.values()}
        remove(place for place in self.files if place not in named)


def left_of(folder: Location, units: Collection[Unit], images: RunImages) -> Left:
    """The results in the undamaged files of units of one bucket that are not committed.

    A result whose image is missing or damaged is left out.
    """
    left = Left()
    for role, below in ROLES.items():
        for place in _files(folder, below, units):
            left.files.append(place)
            try:
                table = read_table(place)
            except Damaged:
                continue
            if role == "robots":
                left.observations += table.to_pylist()
            else:
                left.results |= {r.url: r for r in results_from_table(table) if r.url not in left.results}
    lost = images.lost(list(left.results.values()))
    gone = (result for result in left.results.values() if result.sha256 in lost)
    left.lost = {str(result.sha256): at for result in gone if (at := place_of(result)) is not None}
    left.results = {url: r for url, r in left.results.items() if r.sha256 not in lost}
    return left


def _files(folder: Location, below: str, units: Collection[Unit]) -> Iterator[Location]:
    names = {unit.name for unit in units}
    for label in {unit.label for unit in units}:
        for name in names_in(folder / below if below else folder, f"{label}-"):
            if stated_hash(name) is not None and stem_of(name) in names:
                yield folder / f"{below}{name}"


def fetch_again(folder: Location, images: Location, name: str) -> None:
    """Let the units in `folder` be fetched again that have an image in a damaged file of `images`: a pack, or its own.

    A pack stays, for what is whole in it. Raises Damaged where it cannot be read which units these are.
    """
    naming = units_naming(folder, name)
    if not name.endswith(ENDING):
        remove([images / name])
    ask_again(folder, naming)


def ask_again(folder: Location, units: Sequence[str]) -> None:
    """Remove the manifests of units. Their files stay, or come here from another revision, for what is whole."""
    if not isinstance(folder, Path):
        take_home(folder, read_manifests(folder, units).values())
    remove(manifest_path(folder, unit) for unit in units)
