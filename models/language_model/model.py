"""A model that reads rows of documents, and what is needed to feed it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from inspect import signature
from typing import Any

import numpy as np

from obelics_pipeline.models.language_model.attention import documents
from obelics_pipeline.models.language_model.head import Head
from obelics_pipeline.models.language_model.layout import Marks
from obelics_pipeline.models.language_model.vision import Prepared, Vision
from obelics_pipeline.models.language_model.windows import Window


@dataclass(frozen=True)
class LanguageModel:
    """`text` gives vectors behind its last norm; `embed` those of token ids; `head` makes logits of them.

    `packs`: whether it reads several documents as one row; if not, each is read by itself. `positions` is the longest
    sequence in tokens, None where there is no limit. `vision`: None where it reads no images.
    """

    text: Any
    embed: Any
    head: Head
    tokenizer: Any
    marks: Marks
    positions: int | None
    packs: bool
    vision: Vision | None = None

    @property
    def device(self) -> Any:
        """Where its parameters are."""
        return next(self.text.parameters()).device

    def encoder(self) -> Callable[[str], Sequence[int]]:
        """The tokens of a text, none added."""
        return partial(_encode, self.tokenizer)


@dataclass(frozen=True, slots=True, eq=False)
class Images:
    """Images by their number: as they were prepared, and the vectors at their places (`Vision.encode`)."""

    prepared: Sequence[Prepared] = ()
    vectors: Sequence[Any] = ()


NONE = Images()


def _encode(tokenizer: Any, text: str) -> Sequence[int]:
    ids: Sequence[int] = tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"]
    return ids


def hidden(model: LanguageModel, row: Sequence[Window], images: Images = NONE) -> Any:
    """Vectors (targets, width) that predict the scored tokens of windows which are read as one row, in order."""
    import torch

    ids = np.concatenate([window.ids for window in row])
    before = np.cumsum([0, *[len(window.ids) for window in row[:-1]]])
    places = [np.flatnonzero(window.scored) - 1 + start for window, start in zip(row, before, strict=True)]
    embedded = model.embed(torch.from_numpy(ids).to(model.device))
    shown = [images.vectors[span.image] for window in row for span in window.images]
    deeper: dict[str, Any] = {}
    if shown and model.vision is not None:
        stands = ids == model.vision.place
        vectors = torch.cat(shown, dim=1).to(embedded.dtype)
        embedded[torch.from_numpy(np.flatnonzero(stands)).to(model.device)] = vectors[0]
        if len(vectors) > 1:
            at = torch.from_numpy(stands)[None].to(model.device)
            deeper = {"visual_pos_masks": at, "deepstack_visual_embeds": list(vectors[1:])}
    position = torch.cat([_positions(model, window, images) for window in row], dim=1).to(model.device)
    with documents([len(window.ids) for window in row]):
        vectors = read(model.text, embedded[None], position, **deeper)[0]
    return vectors[torch.from_numpy(np.concatenate(places)).to(model.device)]


def _positions(model: LanguageModel, window: Window, images: Images) -> Any:
    """Of a window's tokens: int64 (axes, tokens)."""
    import torch

    if model.vision is None:
        return torch.arange(len(window.ids))[None]
    return model.vision.positions(window.ids, window.images, images.prepared)


def read(text: Any, embedded: Any, position: Any, **other: Any) -> Any:
    """Vectors (1, tokens, width) behind the last norm of one row of embedded tokens; `position` (axes, tokens)."""
    # a model without positions of its own (ALiBi) takes none; distances are all that it knows
    if "position_ids" in signature(text.forward).parameters:
        other["position_ids"] = position if len(position) == 1 else position[:, None]
    return text(inputs_embeds=embedded, use_cache=False, **other)[0]
