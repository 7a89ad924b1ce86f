"""Rows of packed documents with their pictures, as tensors: what the model takes in one step."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import torch


@dataclass(frozen=True)
class PackedBatch:
    """Tensors of a step; a span is what stands of one document in a row.

    `ids` int64 (rows, tokens), padded. `position` int64 (rows, tokens) begins at 0 in every span, and in the padding.
    `segment` int32 (rows, tokens): the span within the row, from 0; padding -1. `image_of` int32 (rows, tokens): which
    image of the row a token looks at, -1: none or unavailable. `target` bool (rows, tokens): the token at this place
    is predicted from those before it; never the first of a span. `span` int32 (rows, tokens): the span within the
    batch, from 0; padding -1. `dataset` int32 (rows). `pictures` uint8 (pictures, 3, side, side), RGB. `picture_of`
    int32 (rows, images): the place in `pictures` of each image of a row, -1: none; `images` is at least 1.

    `places` int64 (targets): see `predicting`; None until the batch is moved to a device.
    """

    ids: torch.Tensor
    position: torch.Tensor
    segment: torch.Tensor
    image_of: torch.Tensor
    target: torch.Tensor
    span: torch.Tensor
    dataset: torch.Tensor
    pictures: torch.Tensor
    picture_of: torch.Tensor
    n_spans: int
    places: torch.Tensor | None = None

    def predicting(self) -> torch.Tensor:
        """Where tokens stand that predict a target, counted through all rows but their last places; int64 (targets).

        Finding them on a GPU would make the host wait until it is there: a batch that was moved knows them already.
        """
        if self.places is not None:
            return self.places
        return self.target[:, 1:].flatten().nonzero().squeeze(-1)

    def to(self, device: Any) -> PackedBatch:
        """The same batch on a device; from pinned memory without waiting for it."""
        moved = {f.name: getattr(self, f.name) for f in fields(self)} | {"places": self.predicting()}
        return replace(
            self, **{name: v.to(device, non_blocking=True) for name, v in moved.items() if isinstance(v, torch.Tensor)}
        )

    def pin_memory(self) -> PackedBatch:
        """The same batch in memory that a GPU reads by itself; torch's loader calls this."""
        held = {f.name: getattr(self, f.name) for f in fields(self)} | {"places": self.predicting()}
        return replace(self, **{name: v.pin_memory() for name, v in held.items() if isinstance(v, torch.Tensor)})
