"""Documents that are longer than the model reads, cut into windows that overlap. No image is cut."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from obelics_pipeline.models.language_model.layout import Layout, Span


@dataclass(frozen=True, slots=True, eq=False)
class Window:
    """A stretch of a layout, as it is scored: `ids`, `scored` and `images` are as there."""

    ids: npt.NDArray[np.int64]
    scored: npt.NDArray[np.bool_]
    images: tuple[Span, ...]


def largest_image(length: int, overlap: int) -> int:
    """The most tokens of an image that fits a window beside what stands around it."""
    return length - overlap - 2


def windows(layout: Layout, begin: int | None, length: int, overlap: int) -> list[Window]:
    """Windows of at most `length` tokens that score each scored token of the layout exactly once, in order.

    Each but the first begins with `begin` and `overlap` tokens of the one before it, given as context; with more,
    where an image would be cut, and with none, where an image follows that needs the room. A window with nothing to
    score is left out. No image has more tokens than `largest_image`; 1 <= overlap <= length - 4.
    """
    cut: list[Window] = []
    done = 0
    while done < len(layout.ids):
        start = outside_images(layout, max(0, done - overlap))
        stop = _stop(layout, start, length, begin)
        if stop <= done:
            start, stop = done, _stop(layout, done, length, begin)
        scored = layout.scored[start:stop].copy()
        scored[: done - start] = False
        if scored.any():
            prefix = np.array([] if begin is None or not start else [begin], np.int64)
            shift = len(prefix) - start
            cut.append(
                Window(
                    np.concatenate([prefix, layout.ids[start:stop]]),
                    np.concatenate([np.zeros(len(prefix), np.bool_), scored]),
                    tuple(
                        Span(image.start + shift, image.stop + shift, image.image)
                        for image in layout.images
                        if start <= image.start and image.stop <= stop
                    ),
                )
            )
        done = stop
    return cut


def _stop(layout: Layout, start: int, length: int, begin: int | None) -> int:
    room = length - (begin is not None and start > 0)
    return outside_images(layout, min(len(layout.ids), start + room))


def outside_images(layout: Layout, at: int) -> int:
    """This place; where it is inside an image, the image's first."""
    return next((image.start for image in layout.images if image.start < at < image.stop), at)
