"""Where the bytes of images come from. The scorer asks for each kept image of a document; no is an answer."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from obelics_pipeline.core.document import ImageNode


class ImageSource(Protocol):
    """A callable from an image of a document to its bytes, or None if they are unavailable.

    It is called from several threads. What it answers must depend on the image alone.
    """

    def __call__(self, image: ImageNode, /) -> bytes | None:
        """The file as it was fetched."""
        ...


def no_images(_image: ImageNode) -> bytes | None:
    """Score the text alone: the documents read as if they had no images."""
    return None


@dataclass(frozen=True)
class StoredImages:
    """Images of a run's store, by the hash that fetching left in the document: `read` is `ImageStore.read`."""

    read: Callable[[str], bytes]

    def __call__(self, image: ImageNode, /) -> bytes | None:
        """None where the image was not fetched, or is not in the store any more, or is damaged there."""
        if image.sha256 is None:
            return None
        try:
            return self.read(image.sha256)
        except (FileNotFoundError, ValueError):
            return None


@dataclass(frozen=True)
class FolderImages:
    """Images of a folder, each in a file named by the sha256 of its URL in hexadecimal, without an ending."""

    folder: Path

    def __call__(self, image: ImageNode, /) -> bytes | None:
        """None where the folder has no such file."""
        try:
            return (self.folder / hashlib.sha256(image.src.encode("utf-8", "surrogatepass")).hexdigest()).read_bytes()
        except FileNotFoundError:
            return None
