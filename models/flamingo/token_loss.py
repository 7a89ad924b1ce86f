"""The loss of each text token under a Flamingo, by open_flamingo's own forward and its own caching hooks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from obelics_pipeline.models.device.memory import in_halves
from obelics_pipeline.models.flamingo.assembly import MEAN, STD, FlamingoModel
from obelics_pipeline.models.flamingo.batches import batches
from obelics_pipeline.models.pictures.pixels import Picture

SLICE = 2048  # targets whose logits are turned into float32 at a time: 0.4 GB of 50,000 words

Losses = npt.NDArray[np.float32]


class Row(Protocol):
    """What is scored in one pass: `Layout` and `Window` are such."""

    @property
    def ids(self) -> npt.NDArray[np.int64]:
        """Token ids (n)."""

    @property
    def scored(self) -> npt.NDArray[np.bool_]:
        """Which of them are targets (n); never the first."""

    @property
    def images(self) -> tuple[int, ...]:
        """The row of `latents` behind each `<image>` mark, in order."""


def encode_images(model: FlamingoModel, batches_of_pictures: Iterable[Sequence[Picture]]) -> Any:
    """Latents (images, 64, width) on the model's device, in the order of the pictures; None where there are none.

    Pictures are independent of each other in Flamingo's vision tower and resampler, so they need no padding.
    """
    import torch

    with torch.inference_mode():
        encoded = [in_halves(lambda b: _encoded(model, b), batch) for batch in batches_of_pictures if len(batch)]
        return torch.stack(list(chain(*encoded))) if encoded else None


def _encoded(model: FlamingoModel, pictures: Sequence[Picture]) -> Sequence[Any]:
    """Flamingo hands its latents to the decoder layers; they are read from the first."""
    flamingo = model.flamingo
    try:
        flamingo._encode_vision_x(vision_x=vision_input(model, pictures)[:, None, None])
        latents = flamingo.lang_encoder._get_decoder_layers()[0].vis_x[:, 0]
    finally:
        flamingo.uncache_media()
    return list(latents.unbind())


def vision_input(model: FlamingoModel, pictures: Sequence[Picture]) -> Any:
    """Pictures as the vision tower takes them: (pictures, 3, side, side) on the model's device."""
    import torch

    mean, std = (torch.tensor(values, device=model.device).view(3, 1, 1) for values in (MEAN, STD))
    raw = torch.from_numpy(np.stack(pictures)).to(model.device)
    return ((raw.permute(0, 3, 1, 2).float() / 255 - mean) / std).to(model.dtype)


def token_losses(model: FlamingoModel, rows: Sequence[Row], latents: Any, max_tokens: int) -> list[Losses]:
    """Negative log-likelihood in nats of the scored tokens of each row, float32, in order.

    Batches hold at most `max_tokens` tokens, padding counted; one that does not fit the device's memory is halved.
    `latents` are of `encode_images`, None where no row has an image.
    """
    import torch

    found: list[Any] = [None] * len(rows)
    with torch.inference_mode():
        for batch in batches([(len(row.ids), len(row.images)) for row in rows], max_tokens):
            for i, losses in zip(batch, in_halves(lambda b: _scored(model, rows, b, latents), batch), strict=True):
                found[i] = losses
        # one copy for all: each would make the host wait for the device
        counts = [int(row.scored.sum()) for row in rows]
        flat = torch.cat(found).cpu().numpy() if found else np.empty(0, np.float32)
    return np.split(flat, np.cumsum(counts)[:-1]) if rows else []


def _scored(model: FlamingoModel, rows: Sequence[Row], batch: Sequence[int], latents: Any) -> Sequence[Any]:
    """Losses of the rows of one batch, on the device."""
    chosen = [rows[i] for i in batch]
    return list(target_losses(model, chosen, latents).split([int(row.scored.sum()) for row in chosen]))


def target_losses(model: FlamingoModel, chosen: Sequence[Row], latents: Any) -> Any:
    """Negative log-likelihood of the targets of rows that are read in one pass, one row after the other, on the device.

    Gradients go through it, and on into `latents`, where they are wanted.
    """
    import torch
    from torch.nn.functional import cross_entropy

    longest = max(len(row.ids) for row in chosen)
    ids = np.full((len(chosen), longest), model.marks.end_of_chunk, np.int64)  # padding: anything but an image
    mask = np.zeros_like(ids)
    for i, row in enumerate(chosen):
        ids[i, : len(row.ids)], mask[i, : len(row.ids)] = row.ids, 1
    at = [np.flatnonzero(row.scored) for row in chosen]
    device = model.device
    logits = _logits(
        model, torch.from_numpy(ids).to(device), torch.from_numpy(mask).to(device), _media(model, chosen, latents)
    )
    where = torch.from_numpy(np.concatenate([i * longest + places - 1 for i, places in enumerate(at)])).to(device)
    target = torch.from_numpy(np.concatenate([row.ids[row.scored] for row in chosen])).to(device)
    flat = logits.reshape(-1, logits.shape[-1])
    losses = [
        cross_entropy(flat[where[s : s + SLICE]].float(), target[s : s + SLICE], reduction="none")
        for s in range(0, len(where), SLICE)
    ]
    return torch.cat(losses) if losses else torch.empty(0, device=device)


def _logits(model: FlamingoModel, ids: Any, mask: Any, media: Any) -> Any:
    """Logits (rows, tokens, words) of open_flamingo's forward, with images that are encoded already."""
    flamingo = model.flamingo
    try:
        for layer in flamingo.lang_encoder._get_decoder_layers():
            layer.condition_vis_x(media)
        flamingo._condition_media_locations(input_ids=ids)
        flamingo.lang_encoder._use_cached_vision_x = True
        return flamingo(vision_x=None, lang_x=ids, attention_mask=mask).logits
    finally:
        flamingo.uncache_media()


def _media(model: FlamingoModel, rows: Sequence[Row], latents: Any) -> Any:
    """The images of each row (rows, images, 64, width), zeros behind its last: no token attends to those.

    Rows without any get one of zeros, because Flamingo wants one; it zeroes the attention of text before an image.
    """
    import torch

    perceiver = model.flamingo.perceiver.latents
    most = max(1, *(len(row.images) for row in rows))
    media = torch.zeros((len(rows), most, *perceiver.shape), dtype=model.dtype, device=model.device)
    for i, row in enumerate(rows):
        if row.images:
            media[i, : len(row.images)] = latents[list(row.images)]
    return media
