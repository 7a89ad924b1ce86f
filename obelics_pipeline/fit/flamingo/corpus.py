"""Documents as they are learned from: texts, and their images as pictures, each distinct one once."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field

from obelics_pipeline.core.document import Document
from obelics_pipeline.fit.flamingo.documents import WithImages
from obelics_pipeline.models.flamingo.layout import Piece, pieces
from obelics_pipeline.models.flamingo.scorer import Scoring
from obelics_pipeline.models.pictures.pixels import Picture, picture
from obelics_pipeline.models.pictures.sources import ImageSource

HELD_OUT = 21  # one document in so many is only scored; odd, since a corpus may alternate


@dataclass
class Corpus:
    """`learned`, texts and numbers of `pictures` in page order; `held_out`, documents that are only scored."""

    side: int
    learned: list[list[Piece]] = field(default_factory=list)
    pictures: list[Picture] = field(default_factory=list)
    held_out: list[Document] = field(default_factory=list)
    held_out_files: dict[str, bytes] = field(default_factory=dict)
    _numbers: dict[bytes, int | None] = field(default_factory=dict)

    def add(self, found: Iterable[WithImages]) -> None:
        """Take in documents; pictures are decoded to squares of `side` pixels."""
        for one in found:
            if (len(self.learned) + len(self.held_out)) % HELD_OUT == HELD_OUT // 2:
                self.held_out.append(one.document)
                self.held_out_files.update(one.files)
            else:
                images = one.document.images()[: Scoring().max_images]
                numbers = [self._number(one.files.get(image.src)) for image in images]
                self.learned.append(pieces(one.document.nodes, numbers))

    def texts(self) -> list[str]:
        """The texts that are learned from."""
        return [part for parts in self.learned for part in parts if isinstance(part, str)]

    def source(self) -> ImageSource:
        """Gives the images of the documents that are held out."""
        return lambda image: self.held_out_files.get(image.src)

    def _number(self, content: bytes | None) -> int | None:
        """The place in `pictures` of an image file; None if it is missing or cannot be decoded."""
        if content is None:
            return None
        name = hashlib.sha256(content).digest()
        if name not in self._numbers:
            made = picture(content, self.side)
            self._numbers[name] = None if made is None else len(self.pictures)
            if made is not None:
                self.pictures.append(made)
        return self._numbers[name]
