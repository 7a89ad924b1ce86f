"""The images of a fetch unit while it is at work: staged one by one on this machine, then put into packs."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import IO

from obelics_pipeline.core.errors import Damaged
from obelics_pipeline.core.storage import Location, remove_tree, scratch_of, size_of
from obelics_pipeline.stages.fetch.image_pack import PackWriter, Place, mend, pack_path
from obelics_pipeline.stages.fetch.image_store import ImageStore
from obelics_pipeline.stages.fetch.result import FetchResult
from obelics_pipeline.stages.fetch.run_images import RunImages, place_of


def staging_of(folder: Location) -> Path:
    """Where images are staged on this machine, by unit; `folder` is that of the stage."""
    return scratch_of(folder) / "staged"


class UnitImages(ImageStore):
    """An image store whose files are gone when the unit is done, over what earlier units, rounds and tries stored.

    A killed unit finds in it what was staged before, on the same machine.
    """

    def __init__(self, images: Location, staging: Path) -> None:
        """`images` is the folder of the run's images, `staging` that of this unit."""
        super().__init__(staging)
        self._images, self._staging = images, staging
        self._known: dict[str, FetchResult] = {}

    def know(self, results: Iterable[FetchResult]) -> None:
        """Take images of earlier units for there, where their packs are."""

        @cache
        def size(pack: str) -> int:
            return size_of(pack_path(self._images, pack)) or 0

        for result in results:
            if result.sha256 is not None:
                place = place_of(result)
                there = place.end <= size(place.pack) if place else ImageStore(self._images).has(result.sha256)
                if there:
                    self._known.setdefault(result.sha256, result)

    def put(self, content: bytes) -> str:
        """As in a store; what is in a pack already is not staged."""
        sha256 = hashlib.sha256(content).hexdigest()
        return sha256 if sha256 in self._known else super().put(content)

    def read(self, sha256: str) -> bytes:
        """As in a store; what is damaged in a pack is not there any more."""
        if sha256 not in self._known:
            return super().read(sha256)
        try:
            return RunImages(self._images).read(self._known[sha256])
        except Damaged as damaged:
            del self._known[sha256]
            raise ValueError(f"{damaged.locations[0]}: damaged: image {sha256} is not what it was") from None

    def has(self, sha256: str) -> bool:
        """As in a store."""
        return sha256 in self._known or super().has(sha256)

    def holds(self, sha256: str) -> bool:
        """As in a store; of a pack it is known that it is there, and its images are held to their hashes when read."""
        return sha256 in self._known or super().holds(sha256)

    def discard(self, sha256: str) -> None:
        """As in a store; in a pack it stays until no unit names it: see `named_images.drop_unnamed`."""
        known = self._known.pop(sha256, None)
        if known is not None and known.pack is None:
            ImageStore(self._images).discard(sha256)
        super().discard(sha256)

    def sync(self, hashes: Iterable[str]) -> None:
        """Nothing is left to do: packs are synced."""

    def pack(self, results: Sequence[FetchResult], label: str, lost: Mapping[str, Place]) -> list[FetchResult]:
        """Put what is staged of these results into packs, in their order; the results with the places of their images.

        Results are sorted by URL, so the images of a page, which are mostly of one host, lie near each other. An image
        that is `lost` goes back to where it was, so that nothing that names its place changes.
        """
        staged = dict.fromkeys(r.sha256 for r in results if r.sha256 is not None and r.sha256 not in self._known)
        back = {sha256: lost[sha256] for sha256 in staged if sha256 in lost}
        for pack in sorted({place.pack for place in back.values()}):
            of_it = [(place, sha256) for sha256, place in back.items() if place.pack == pack]
            mend(self._images, pack, ((place, self.read(sha256)) for place, sha256 in of_it))
        with PackWriter(self._images, label) as writer:
            for sha256 in staged:
                if sha256 not in back:
                    writer.add(sha256, self.read(sha256))
        return [self._placed(result, writer.places | back) for result in results]

    def _placed(self, result: FetchResult, places: Mapping[str, Place]) -> FetchResult:
        known = self._known.get(result.sha256 or "")
        place = places.get(result.sha256 or "") if known is None else place_of(known)
        return result if place is None else replace(result, pack=place.pack, offset=place.offset)

    def _settle(self, file: IO[bytes]) -> None:
        """Nothing is awaited: what a power cut damages here is noticed by its hash, and asked for again."""

    def clear(self) -> None:
        """Remove what was staged, once the unit is committed."""
        remove_tree(self._staging)
