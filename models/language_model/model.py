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
from obelics_pipeline.models.language_model.windows import Window


@dataclass(frozen=True)
class LanguageModel:
    """`text` gives vectors behind its last norm; `embed` those of token ids; `head` makes logits of them.

    `packs`: whether it reads several documents as one row; if not, each is read by itself. `positions` is the longest
    sequence in tokens, None where there is no limit.
    """

    text: Any
    embed: Any
    head: Head
    tokenizer: Any
    marks: Marks
    positions: int | None
    packs: bool

    @property
    def device(self) -> Any:
        """Where its parameters are."""
        return next(self.text.parameters()).device

    def encoder(self) -> Callable[[str], Sequence[int]]:
        """The tokens of a text, none added."""
        return partial(_encode, self.tokenizer)


def _encode(tokenizer: Any, text: str) -> Sequence[int]:
    ids: Sequence[int] = tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"]
    return ids


def hidden(model: LanguageModel, row: Sequence[Window]) -> Any:
    """Vectors (targets, width) that predict the scored tokens of windows which are read as one row, in order."""
    import torch

    lengths = [len(window.ids) for window in row]
    ids = torch.from_numpy(np.concatenate([window.ids for window in row])).to(model.device)
    position = torch.from_numpy(np.concatenate([np.arange(n) for n in lengths])).to(model.device)
    before = np.cumsum([0, *lengths[:-1]])
    places = [np.flatnonzero(window.scored) - 1 + start for window, start in zip(row, before, strict=True)]
    with documents(lengths):
        vectors = read(model.text, model.embed(ids[None]), position[None])[0]
    return vectors[torch.from_numpy(np.concatenate(places)).to(model.device)]


def read(text: Any, embedded: Any, position: Any) -> Any:
    """Vectors (rows, tokens, width) behind the last norm of embedded tokens; `position` (rows, tokens)."""
    # a model without positions of its own (ALiBi) takes none; distances are all that it knows
    given = {"position_ids": position} if "position_ids" in signature(text.forward).parameters else {}
    return text(inputs_embeds=embedded, use_cache=False, **given)[0]
