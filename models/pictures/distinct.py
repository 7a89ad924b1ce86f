"""The pictures of many images: each file is asked for once, and two with the same bytes are one picture."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Generic, TypeVar

from obelics_pipeline.core.document import ImageNode
from obelics_pipeline.models.pictures.sources import ImageSource

Shown = TypeVar("Shown")  # what an image is decoded to: most often a `Picture`


@dataclass(frozen=True, slots=True)
class Seen(Generic[Shown]):
    """`pictures`, all different, and which of them an image shows."""

    pictures: list[Shown]
    _numbers: dict[tuple[str, str | None], int]

    def number(self, image: ImageNode) -> int | None:
        """The place of its picture in `pictures`; None if it was unavailable or cannot be decoded."""
        return self._numbers.get(_place(image))


def see(
    images: Iterable[ImageNode], source: ImageSource, decode: Callable[[bytes], Shown | None], threads: Executor
) -> Seen[Shown]:
    """Look at images, several at a time. Files are not kept: a block of documents may have gigabytes of them.

    The order of `pictures` is that of the images, whatever the order in which threads finish.
    """
    wanted = {_place(image): image for image in images}

    def look(image: ImageNode) -> tuple[bytes, Shown | None]:
        content = source(image)
        return (b"", None) if content is None else (hashlib.sha256(content).digest(), decode(content))

    pictures: dict[bytes, Shown] = {}
    names: dict[tuple[str, str | None], bytes] = {}
    for place, (name, picture) in zip(wanted, threads.map(look, wanted.values()), strict=True):
        if picture is not None:
            names[place] = name
            pictures.setdefault(name, picture)
    numbers = {name: number for number, name in enumerate(pictures)}
    return Seen(list(pictures.values()), {place: numbers[name] for place, name in names.items()})


def _place(image: ImageNode) -> tuple[str, str | None]:
    return image.src, image.sha256
