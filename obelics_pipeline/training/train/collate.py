"""Rows side by side, as the model takes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch

from obelics_pipeline.models.packed_flamingo.batch import PackedBatch
from obelics_pipeline.models.pictures.pixels import Picture
from obelics_pipeline.training.train.stored_rows import ReadRow


@dataclass(frozen=True, eq=False)
class MicroBatch:
    """Rows of one forward pass. `numbers`, `spans` (of the plan), `documents`, `repeats`: one entry per span."""

    packed: PackedBatch
    rows: tuple[int, ...]
    datasets: tuple[int, ...]  # of the rows
    row_of_span: tuple[int, ...]
    spans: tuple[int, ...]
    documents: tuple[int, ...]
    repeats: tuple[int, ...]
    images_failed: int

    def pin_memory(self) -> MicroBatch:
        """The same in memory that a GPU reads by itself; torch's loader calls this."""
        return replace(self, packed=self.packed.pin_memory())


def collate(rows: Sequence[ReadRow], tokens: int, side: int, pad: int) -> MicroBatch:
    """A batch of `tokens` places per row; empty rows are padding alone. `side` in pixels, `pad` a token id."""
    shape = (len(rows), tokens)
    ids, position = np.full(shape, pad, np.int64), np.zeros(shape, np.int64)
    segment, image_of, numbers = (np.full(shape, -1, np.int32) for _ in range(3))
    target = np.zeros(shape, np.bool_)
    most = max(1, *(len(row.pictures) for row in rows))
    picture_of = np.full((len(rows), most), -1, np.int32)
    pictures: list[Picture] = []
    about: list[tuple[int, int, int, int]] = []
    for r, row in enumerate(rows):
        at = 0
        for s, span in enumerate(row.spans):
            here = slice(at, at + len(span.ids))
            ids[r, here], position[r, here] = span.ids, np.arange(len(span.ids))
            segment[r, here], numbers[r, here] = s, len(about)
            image_of[r, here], target[r, here] = span.image_of, span.targets
            about.append((row.number, row.first_span + s, span.document, span.repeat))
            at = here.stop
        position[r, at:] = np.arange(tokens - at)
        for i, picture in enumerate(row.pictures):
            if picture is not None:
                picture_of[r, i] = len(pictures)
                pictures.append(picture)
    stacked = np.stack(pictures) if pictures else np.zeros((0, side, side, 3), np.uint8)
    packed = PackedBatch(
        ids=torch.from_numpy(ids),
        position=torch.from_numpy(position),
        segment=torch.from_numpy(segment),
        image_of=torch.from_numpy(image_of),
        target=torch.from_numpy(target),
        span=torch.from_numpy(numbers),
        dataset=torch.tensor([row.dataset for row in rows], dtype=torch.int32),
        pictures=torch.from_numpy(np.ascontiguousarray(stacked.transpose(0, 3, 1, 2))),
        picture_of=torch.from_numpy(picture_of),
        n_spans=len(about),
    )
    return MicroBatch(
        packed,
        rows=tuple(row.number for row in rows),
        datasets=tuple(row.dataset for row in rows),
        row_of_span=tuple(row for row, *_ in about),
        spans=tuple(span for _, span, *_ in about),
        documents=tuple(document for *_, document, _ in about),
        repeats=tuple(repeat for *_, repeat in about),
        images_failed=sum(row.failed_images for row in rows),
    )
