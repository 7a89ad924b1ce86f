"""Documents that are longer than the language model's context, cut into windows that overlap."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from obelics_pipeline.models.flamingo.layout import Layout, Marks


@dataclass(frozen=True, slots=True, eq=False)
class Window:
    """A stretch of a layout, as it is scored: `ids`, `scored` and `images` are as there."""

    ids: npt.NDArray[np.int64]
    scored: npt.NDArray[np.bool_]
    images: tuple[int, ...]


def windows(layout: Layout, marks: Marks, length: int, overlap: int) -> list[Window]:
    """Windows of at most `length` tokens that score each token of the layout exactly once, in order.

    Each but the first begins with `overlap` tokens that the one before it scored, given as context. In front of these
    stand the token to begin with and, where they stand under an image, this image: text is always read with the image
    it belongs to. A window with nothing to score is left out.
    Raises ValueError where `overlap` leaves a window no room: 1 <= overlap <= length - 3.
    """
    if not 1 <= overlap <= length - 3:
        raise ValueError(f"overlap {overlap}: 1 to {length - 3} tokens, with windows of {length}")
    cut: list[Window] = []
    before = np.concatenate([[0], np.cumsum(layout.ids == marks.image)])  # images in front of each place
    done = 0  # tokens that have been scored
    while done < len(layout.ids):
        start = max(0, done - overlap)
        prefix, images = _context(layout, marks, start, int(before[start])) if start else ([], ())
        stop = min(len(layout.ids), start + length - len(prefix))
        scored = layout.scored[start:stop].copy()
        scored[: done - start] = False
        if scored.any():
            ids = np.concatenate([np.array(prefix, np.int64), layout.ids[start:stop]])
            cut.append(
                Window(
                    ids,
                    np.concatenate([np.zeros(len(prefix), np.bool_), scored]),
                    images + layout.images[before[start] : before[stop]],
                )
            )
        done = stop
    return cut


def _context(layout: Layout, marks: Marks, start: int, before: int) -> tuple[list[int], tuple[int, ...]]:
    """What a window that begins at `start`, with so many images `before`, has in front: ids, and the image there."""
    prefix = [] if marks.begin is None else [marks.begin]
    if not before or layout.ids[start] == marks.image:
        return prefix, ()
    return [*prefix, marks.image], (layout.images[before - 1],)
