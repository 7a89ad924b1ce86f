"""A Flamingo over packed rows: a language model whose blocks are preceded by gated layers that look at images."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

import torch
from torch import nn

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.models.packed_flamingo.added_rows import AddedRows
from obelics_pipeline.models.packed_flamingo.batch import PackedBatch
from obelics_pipeline.models.packed_flamingo.document_tokens import Vocabulary
from obelics_pipeline.models.packed_flamingo.gated_layer import GatedLayer, Sight
from obelics_pipeline.models.packed_flamingo.head import Head
from obelics_pipeline.models.packed_flamingo.initial import draw
from obelics_pipeline.models.packed_flamingo.language_model import decoder_layers, logit_cap, logit_scale, run
from obelics_pipeline.models.packed_flamingo.resampler import Resampler
from obelics_pipeline.models.packed_flamingo.settings import FlamingoSettings
from obelics_pipeline.models.packed_flamingo.vision import Vision

NEW = ("resampler.", "cross.", "into.", "embedding.", "head.")  # how names of what a Flamingo adds begin


@dataclass(frozen=True)
class Losses:
    """Of the targets of a batch, row by row: float32, in nats.

    `el2n` is the squared distance of the softmax from what it should be (0 to 2), `top1` the likeliest token; neither
    has a gradient. `span` numbers the spans of the batch, `dataset` those of the plan.
    """

    nll: torch.Tensor
    log_z: torch.Tensor
    el2n: torch.Tensor
    span: torch.Tensor
    dataset: torch.Tensor
    top1: torch.Tensor


class _Before:
    """Runs a gated layer on what a block of the language model is about to read."""

    def __init__(self, layer: GatedLayer, view: _View) -> None:
        self.layer, self.view = layer, view

    def __call__(self, block: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        sight = self.view.sight
        if sight is None:  # the language model is run by itself
            return None
        x = args[0] if args else kwargs["hidden_states"]
        x = self.layer(x, sight.latents, sight.mask, sight.has_image)
        return ((x, *args[1:]), kwargs) if args else (args, {**kwargs, "hidden_states": x})


class _View:
    """What all gated layers see while a batch passes."""

    sight: Sight | None = None


class PackedFlamingo(nn.Module):
    """A Flamingo; `builder.build` makes one. `vocabulary` is the language model's with the added marks.

    The gated layers are hung before blocks of the language model (as hooks), whose names and code stay what they are.
    """

    def __init__(self, settings: FlamingoSettings, vocabulary: Vocabulary, language_model: Any, vision: Vision) -> None:
        super().__init__()
        self.settings, self.vocabulary = settings, vocabulary
        width = language_model.config.get_text_config().hidden_size
        self.layers_name, blocks = decoder_layers(language_model)
        self.language_model, self.vision = language_model, vision
        self.resampler = Resampler(settings, vision.width)
        gated = settings.fusion == "xattn"
        at = range(settings.cross_start, len(blocks), settings.cross_every) if gated else ()
        self.cross = nn.ModuleDict({str(i): GatedLayer(settings, width, vision.width) for i in at})
        self.into = None if gated else nn.Linear(vision.width, width, bias=settings.bias)
        embeddings, head = language_model.get_input_embeddings(), language_model.get_output_embeddings()
        self.words = vocabulary.words
        self.embedding = AddedRows(len(vocabulary.added), embeddings.weight)
        tied = head.weight is embeddings.weight
        rows = None if tied else nn.Parameter(AddedRows(len(vocabulary.added), head.weight).weight.detach())
        self.head = Head(rows, logit_scale(language_model.config), logit_cap(language_model.config))
        self.last = nn.Identity()  # where the monitor sees what the head reads
        draw(self, settings)
        self._freeze(settings.unfreeze)
        self._view = _View()
        for name, layer in self.cross.items():
            blocks[int(name)].register_forward_pre_hook(_Before(layer, self._view), with_kwargs=True)
        if settings.checkpointing:
            name = "activation_checkpointing_enable"  # of newer transformers; gradient_… before
            name = name if hasattr(language_model, name) else "gradient_checkpointing_enable"
            getattr(language_model, name)({"use_reentrant": False})

    def forward(self, batch: PackedBatch, measures: str | None = None) -> Any:
        """Vectors (rows, tokens, width) behind the last norm.

        With `measures` ("loss" or "loss, el2n") those of `Losses` for each target instead, as a tuple of tensors: a
        sharded model has its weights together only inside. Rows on any device; the model's is used.
        """
        ids = batch.ids
        embedded = self.language_model.get_input_embeddings()(ids.clamp(max=self.words - 1))
        embedded = self.embedding(ids, embedded, self.words) if len(self.embedding.weight) else embedded
        sight = self._sight(batch)
        if self.into is None:
            self._view.sight = sight
        else:
            embedded = self._in_sequence(self.into, batch, sight, embedded)
        try:
            hidden = self.last(run(self.language_model, embedded, batch.segment, batch.position))
        finally:
            self._view.sight = None
        if measures is None:
            return hidden
        places = batch.predicting()
        words, bias = self._head()
        return self.head(
            hidden[:, :-1].flatten(0, 1)[places],
            ids[:, 1:].flatten()[places],
            words,
            bias,
            self.embedding.weight,
            measures != "loss",
        )

    def _in_sequence(self, into: nn.Linear, batch: PackedBatch, sight: Sight, embedded: torch.Tensor) -> torch.Tensor:
        """The embedded tokens, the vector of each image in the place of its mark; without an image a mark stays."""
        looked = batch.image_of.long().clamp(min=0)[..., None].expand(-1, -1, sight.latents.shape[-1])
        vectors = into(sight.latents.gather(1, looked)).to(embedded.dtype)
        marks = (batch.ids == self.vocabulary.image)[..., None] & sight.has_image
        return torch.where(marks, vectors, embedded)

    def logits(self, batch: PackedBatch) -> torch.Tensor:
        """Logits (rows, tokens, words and added tokens): for looking at; training never makes them all."""
        hidden = self(batch)
        return self.head.logits(hidden, *self._head(), self.embedding.weight)

    def _head(self) -> tuple[torch.Tensor, torch.Tensor | None]:
        layer = self.language_model.get_output_embeddings()
        bias = getattr(layer, "bias", None)
        return layer.weight[: self.words], None if bias is None else bias[: self.words]

    def _sight(self, batch: PackedBatch) -> Sight:
        """Encode the pictures of a batch, and say which token looks at which."""
        latents = self.encode(batch.pictures)
        place, n = batch.picture_of.long(), latents.shape[1]
        rows, images = place.shape
        looked = batch.image_of.long().clamp(min=0)
        has_image = (batch.image_of >= 0) & (place.gather(1, looked) >= 0)
        number = torch.arange(images, device=place.device)
        if self.settings.attend == "last":
            sees = looked[:, :, None] == number
        else:
            document = torch.full_like(place, -2).scatter_reduce(
                1, looked, torch.where(batch.image_of >= 0, batch.segment.long(), -2), "amax"
            )
            sees = (looked[:, :, None] >= number) & (document[:, None, :] == batch.segment[:, :, None])
            sees &= (place >= 0)[:, None, :]
        mask = (sees | ~has_image[:, :, None])[:, None].repeat_interleave(n, dim=-1)
        chosen = latents[place.clamp(min=0)].reshape(rows, images * n, -1)
        return Sight(chosen, mask, has_image[..., None])

    def encode(self, pictures: torch.Tensor) -> torch.Tensor:
        """Latents (pictures, n, width). Where there is no picture a black one is encoded, which nothing looks at.

        Every rank of a sharded model must take the same way through it.
        """
        if not len(pictures):
            pictures = pictures.new_zeros(1, 3, self.vision.side, self.vision.side)
        latents: torch.Tensor = self.resampler(self.vision(pictures))
        return latents

    def trainable(self) -> dict[str, nn.Parameter]:
        """Parameters that train, by name, in the order of the model."""
        return {name: p for name, p in self.named_parameters() if p.requires_grad}

    def parameter_groups(self) -> tuple[list[str], list[str]]:
        """Names of the parameters that train: those with weight decay, which are matrices of layers, and the others."""
        decayed = [name for name, p in self.trainable().items() if p.ndim > 1 and not _is_rows(name)]
        return decayed, [name for name in self.trainable() if name not in set(decayed)]

    def blocks(self) -> list[nn.Module]:
        """What `fully_shard` is called for, one by one, before it is called for the whole."""
        _, layers = decoder_layers(self.language_model)
        return [self.vision, *self.resampler.layers, *self.cross.values(), *layers]

    def _freeze(self, patterns: tuple[str, ...]) -> None:
        """Let what is new train, and what the patterns name; the rest is frozen.

        Raises `UserError` for a pattern that names nothing.
        """
        names = [name for name, _ in self.named_parameters()]
        for pattern in patterns:
            if not any(fnmatchcase(name, pattern) for name in names):
                raise UserError(
                    f"unfreeze: {pattern} names no parameter; names look like {names[0]}, {names[-1]} (fnmatch)"
                )
        for name, parameter in self.named_parameters():
            trains = name.startswith(NEW) or any(fnmatchcase(name, pattern) for pattern in patterns)
            parameter.requires_grad_(trains)
            if trains:
                parameter.data = parameter.data.float()

    def train(self, mode: bool = True) -> PackedFlamingo:
        """As of any module; what is frozen has no dropout or statistics that it would change."""
        super().train(mode)
        self.vision.eval()
        return self


def _is_rows(name: str) -> bool:
    """Whether a parameter is rows of tokens, or latents: vectors of their own, that decay would only shorten."""
    return name.startswith(("embedding.", "head.")) or name == "resampler.latents"


def target_losses(model: Callable[..., Any], batch: PackedBatch, *, with_el2n: bool = True) -> Losses:
    """Losses of the targets of a batch, with their gradients to come: see `Losses`. EL2N is zeros if not wanted."""
    nll, log_z, el2n, top1 = model(batch, "loss, el2n" if with_el2n else "loss")
    places = batch.predicting()
    span = batch.span[:, 1:].flatten()[places].long()
    dataset = batch.dataset.long()[places // (batch.target.shape[1] - 1)]
    return Losses(nll, log_z, el2n, span, dataset, top1)
