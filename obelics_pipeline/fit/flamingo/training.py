"""Learning to predict the text of documents, given their images."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
import torch
from torch import Tensor

from obelics_pipeline.fit.say import Say
from obelics_pipeline.models.flamingo.assembly import FlamingoModel
from obelics_pipeline.models.flamingo.batches import batches
from obelics_pipeline.models.flamingo.token_loss import target_losses, vision_input
from obelics_pipeline.models.flamingo.windows import Window
from obelics_pipeline.models.pictures.pixels import Picture

BATCH_TOKENS = 2048  # of a step, padding counted
_RATE, _WARM_UP, _LAST = 2e-3, 0.05, 0.02  # of learning; share of the steps until it is reached; share of it at the end
_SORTED = 64  # windows that are sorted by length before they are dealt into batches
_TOLD = 20  # times that a training tells its loss


def train(
    model: FlamingoModel, windows: Sequence[Window], pictures: Sequence[Picture], steps: int, threads: int, say: Say
) -> None:
    """Train every parameter for so many steps. The same on one machine and number of threads."""
    torch.set_num_threads(threads)
    model.flamingo.train()
    optimizer = torch.optim.AdamW(model.flamingo.parameters(), lr=_RATE, betas=(0.9, 0.95), weight_decay=0.05)
    every = max(1, steps // _TOLD)
    total, tokens = 0.0, 0
    for step, chosen in zip(range(steps), _dealt([(len(w.ids), len(w.images)) for w in windows]), strict=False):
        for group in optimizer.param_groups:
            group["lr"] = _RATE * _share_of_rate(step, steps)
        losses = _losses(model, [windows[i] for i in chosen], pictures)
        optimizer.zero_grad()
        losses.mean().backward()
        torch.nn.utils.clip_grad_norm_(model.flamingo.parameters(), 1.0)
        optimizer.step()
        total, tokens = total + float(losses.detach().sum()), tokens + len(losses)
        if (step + 1) % every == 0 or step + 1 == steps:
            gates = ", ".join(f"{gate:.2f}" for gate in gates_of(model))
            say(f"step {step + 1:,} of {steps:,}: loss {total / tokens:.3f} nats a token, gates {gates}")
            total, tokens = 0.0, 0
    model.flamingo.requires_grad_(False).eval()


def gates_of(model: FlamingoModel) -> list[float]:
    """How far each gated layer lets images in: the hyperbolic tangent of its gate of attention."""
    layers = filter(None, model.flamingo.lang_encoder.gated_cross_attn_layers)
    return [math.tanh(float(layer.attn_gate.detach())) for layer in layers]


def _share_of_rate(step: int, steps: int) -> float:
    """Up in a line, down in half a cosine."""
    warm_up = max(1, round(_WARM_UP * steps))
    if step < warm_up:
        return (step + 1) / warm_up
    return _LAST + (1 - _LAST) * (1 + math.cos(math.pi * (step - warm_up) / max(1, steps - warm_up))) / 2


def _losses(model: FlamingoModel, chosen: Sequence[Window], pictures: Sequence[Picture]) -> Tensor:
    """Of the targets of windows. open_flamingo's forward keeps gradients from its vision tower: it is called here."""
    numbers = sorted({number for window in chosen for number in window.images})
    if not numbers:
        return target_losses(model, chosen, None)
    patches = model.flamingo.vision_encoder(vision_input(model, [pictures[number] for number in numbers]))[1]
    latents = model.flamingo.perceiver(patches[:, None, None])[:, 0]
    places = {number: place for place, number in enumerate(numbers)}
    moved = [Window(w.ids, w.scored, tuple(places[number] for number in w.images)) for w in chosen]
    return target_losses(model, moved, latents)


def _dealt(sizes: Sequence[tuple[int, int]]) -> Iterator[list[int]]:
    """Batches for ever: all windows in a new order, then again. Those of like length go together."""
    rng = np.random.default_rng(1)
    while True:
        order = rng.permutation(len(sizes))
        dealt: list[list[int]] = []
        for begin in range(0, len(order), _SORTED):
            some = order[begin : begin + _SORTED].tolist()
            dealt += [[some[i] for i in batch] for batch in batches([sizes[i] for i in some], BATCH_TOKENS)]
        for place in rng.permutation(len(dealt)):
            yield dealt[place]
