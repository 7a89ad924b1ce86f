"""How documents are cut, packed and read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from obelics_pipeline.core.errors import UserError


@dataclass(frozen=True, slots=True)
class Scoring:
    """How documents are cut and packed.

    `window_tokens` at most stand in one sequence (fewer where the model has fewer positions), those of images counted;
    `overlap` of them are context from the window before. A row of packed windows has at most `batch_tokens`, and a
    batch `batch_images` images. Rows form within `block_documents`, whose images are decoded while the block before is
    being scored, each distinct image once. The first `max_images` of a document are read, and the others are treated
    as unavailable. An image of more than `image_pixels` is made smaller first. `image_gain`: score documents with
    images a second time, with these left out.

    Scores depend on `window_tokens`, `overlap`, `max_images` and `image_pixels`; the others change them by rounding
    only.
    """

    window_tokens: int = 4096
    overlap: int = 256
    batch_tokens: int = 16384
    batch_images: int = 32
    block_documents: int = 64  # of 4 images each: 0.2 GB of pixels in bfloat16, and another block waits
    max_images: int = 32
    image_pixels: int = 384 * 384
    decoding_threads: int = 8
    image_gain: bool = True

    def within(self, positions: Sequence[int | None]) -> Scoring:
        """The same with windows that models of so many positions can read, None being any number.

        Raises `UserError` where they leave no room for the overlap.
        """
        limits = [limit for limit in positions if limit is not None]
        length, overlap = min([self.window_tokens, *limits]), self.overlap
        if not 1 <= overlap <= length - 4:
            raise UserError(
                f"language model: overlap is {overlap}; 1 to {length - 4} tokens are valid with windows of {length}"
                + (f", which is all the positions that the model has ({length})" if length in limits else "")
            )
        return replace(self, window_tokens=length)
