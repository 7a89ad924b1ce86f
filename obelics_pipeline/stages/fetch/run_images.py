"""The images of a run, read: each from its pack, or from a file of its own, as earlier versions and Beam store them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Protocol

from obelics_pipeline.core.document import Document, ImageNode
from obelics_pipeline.core.errors import Damaged
from obelics_pipeline.core.shards.tar import ReadImage
from obelics_pipeline.core.storage import AT_ONCE, Location
from obelics_pipeline.stages.fetch.image_pack import Place, Span, is_at, pack_path, spans_of
from obelics_pipeline.stages.fetch.image_store import ImageStore

WINDOW = 32 * 2**20  # bytes of images that are asked for while those before are used: two windows are held at a time
DOCUMENTS = 256  # of a window at most, where their images are small or none
BLOCK, FEW = 1024, 8  # spans that are looked at together, and of these so many at the same time

Window = list[tuple[Document, Sequence[ImageNode]]]  # documents, each with the images that it shows


class Stored(Protocol):
    """What says where an image is: a node of a document, or a result of the fetch."""

    @property
    def sha256(self) -> str | None:
        """Of its bytes; None where it was not fetched."""

    @property
    def n_bytes(self) -> int | None:
        """How many."""

    @property
    def pack(self) -> str | None:
        """See `Place`; None where it is in a file of its own."""

    @property
    def offset(self) -> int | None:
        """See `Place`."""


def place_of(image: Stored) -> Place | None:
    """Where an image is; None where it has a file of its own, or was not fetched."""
    if image.pack is None or image.offset is None or image.n_bytes is None:
        return None
    return Place(image.pack, image.offset, image.n_bytes)


@dataclass(frozen=True)
class RunImages:
    """The bytes of images of a run. Two of the same folder are equal, also on an object store."""

    folder: Location

    def __call__(self, image: ImageNode, /) -> bytes | None:
        """None where the image was not fetched. Raises Damaged for one that was, and is not there any more as it was:
        a score without it would be wrong.
        """
        return None if image.sha256 is None else self.read(image)

    def read(self, image: Stored) -> bytes:
        """The bytes of an image that a fetch unit committed. Raises Damaged where they are gone or others."""
        place, sha256 = place_of(image), str(image.sha256)
        if place is None:
            return ImageStore(self.folder).read_whole(sha256)
        for _, content in self._of_span(Span((place,))):
            if is_at(place, content, sha256):
                return content
        raise self._damaged(place)

    def along(self, documents: Iterable[Document]) -> Iterator[tuple[Document, ReadImage]]:
        """Documents, each with a function that gives the bytes of its images by their sha256.

        The images of the next documents are asked for, many at a time, while those of one are used. Raises Damaged.
        """
        with ThreadPoolExecutor(AT_ONCE) as threads:
            asked: list[tuple[Window, Iterable[dict[str, bytes]]]] = []
            for window in _windows(documents):
                asked.append((window, self._ask(window, threads)))
                if len(asked) > 1:
                    yield from _answered(*asked.pop(0))
            for last in asked:
                yield from _answered(*last)

    def _ask(self, window: Window, threads: ThreadPoolExecutor) -> Iterable[dict[str, bytes]]:
        """Begin to read the images of a window; what comes is their bytes by sha256."""
        images = {image.sha256: image for _, shown in window for image in shown if image.sha256 is not None}
        placed = {place: sha256 for sha256, image in images.items() if (place := place_of(image)) is not None}
        alone = images.keys() - set(placed.values())
        packed = threads.map(partial(self._verified, names=placed), spans_of(placed))
        return chain(packed, threads.map(self._alone, sorted(alone)))

    def _verified(self, span: Span, names: Mapping[Place, str]) -> dict[str, bytes]:
        found = {}
        for place, content in self._of_span(span):
            if not is_at(place, content, names[place]):
                raise self._damaged(place)
            found[names[place]] = content
        return found

    def _alone(self, sha256: str) -> dict[str, bytes]:
        return {sha256: ImageStore(self.folder).read_whole(sha256)}

    def _of_span(self, span: Span) -> Iterator[tuple[Place, bytes]]:
        try:
            yield from span.read(self.folder)
        except FileNotFoundError:
            raise self._damaged(span.places[0]) from None

    def _damaged(self, place: Place) -> Damaged:
        return Damaged(str(pack_path(self.folder, place.pack)))

    def lost(self, images: Collection[Stored]) -> set[str]:
        """The sha256 of those of the images that are not there any more as they were; all are read."""
        named = {place: str(image.sha256) for image in images if (place := place_of(image)) is not None}
        alone = {i.sha256 for i in images if i.sha256 is not None} - set(named.values())
        gone = {sha256 for sha256 in alone if not ImageStore(self.folder).holds(sha256)}
        return gone | {named[place] for place in named.keys() - self.whole(named)}

    def whole(self, named: Mapping[Place, str]) -> set[Place]:
        """Those of the places where the image of this sha256 is; all are read, and a few are held."""
        found: set[Place] = set()
        spans = spans_of(named)
        with ThreadPoolExecutor(FEW) as threads:
            for start in range(0, len(spans), BLOCK):
                for places in threads.map(partial(self._whole, named=named), spans[start : start + BLOCK]):
                    found |= places
        return found

    def _whole(self, span: Span, named: Mapping[Place, str]) -> set[Place]:
        try:
            return {place for place, content in span.read(self.folder) if is_at(place, content, named[place])}
        except FileNotFoundError:
            return set()


def _windows(documents: Iterable[Document]) -> Iterator[Window]:
    """Documents in their order, so many that their images take `WINDOW` bytes, or one; at most `DOCUMENTS`."""
    window: Window = []
    size = 0
    for document in documents:
        shown = [image for image in document.images() if image.sha256 is not None and image.n_bytes is not None]
        of_it = sum(image.n_bytes or 0 for image in shown)
        if window and (size + of_it > WINDOW or len(window) == DOCUMENTS):
            yield window
            window, size = [], 0
        window.append((document, shown))
        size += of_it
    if window:
        yield window


def _answered(window: Window, asked: Iterable[dict[str, bytes]]) -> Iterator[tuple[Document, ReadImage]]:
    found: dict[str, bytes] = {}
    for some in asked:
        found |= some
    for document, _ in window:
        yield document, found.__getitem__
