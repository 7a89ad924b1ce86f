"""A Flamingo of random weights and rows of made documents, of any size, with nothing read: for measuring speed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from obelics_pipeline.models.device.torchvision_import import mend_torchvision
from obelics_pipeline.models.packed_flamingo.document_tokens import Vocabulary
from obelics_pipeline.models.packed_flamingo.model import PackedFlamingo
from obelics_pipeline.models.packed_flamingo.settings import FlamingoSettings
from obelics_pipeline.models.packed_flamingo.vision import MEAN, STD, TransformersVision
from obelics_pipeline.training.train.collate import MicroBatch, collate
from obelics_pipeline.training.train.stored_rows import ReadRow, ReadSpan

ADDED = ("<|endofchunk|>", "<image>", "<PAD>")
MEDIAN, SPREAD = 600, 0.8  # tokens of made documents: log-normal
TOKENS_PER_IMAGE = 250


@dataclass(frozen=True)
class Shape:
    """Of a language model as Llama's, a vision tower as SigLIP's, and what joins them."""

    words: int
    width: int
    layers: int
    heads: int
    inner: int
    vision_width: int
    vision_layers: int
    vision_heads: int
    vision_inner: int
    side: int
    patch: int
    cross_every: int
    resampler_depth: int = 6
    latents: int = 64
    cross_heads: int = 8
    cross_head_dim: int = 64


# SmolLM2-1.7B (config.json of HuggingFaceTB/SmolLM2-1.7B) and SigLIP-so400m of 384 pixels (google/siglip-so400m-
# patch14-384): the sizes alone, the weights are random.
SMOL = Shape(49152, 2048, 24, 32, 8192, 1152, 27, 16, 4304, 384, 14, 4, cross_heads=16, cross_head_dim=128)
MIDDLE = Shape(32000, 768, 12, 12, 2048, 256, 4, 4, 1024, 96, 16, 3, resampler_depth=2)
SMALL = Shape(512, 64, 4, 4, 192, 32, 2, 2, 64, 32, 8, 2, resampler_depth=2, latents=8, cross_heads=4)


def language_model(shape: Shape, attention: str, dtype: torch.dtype) -> Any:
    """A Llama of the shape, its embeddings tied to its head."""
    mend_torchvision()
    from transformers import AutoModelForCausalLM, LlamaConfig

    config = LlamaConfig(
        vocab_size=shape.words,
        hidden_size=shape.width,
        intermediate_size=shape.inner,
        num_hidden_layers=shape.layers,
        num_attention_heads=shape.heads,
        num_key_value_heads=shape.heads,
        max_position_embeddings=8192,
        tie_word_embeddings=True,
    )
    return AutoModelForCausalLM.from_config(config, dtype=dtype, attn_implementation=attention)


def tower(shape: Shape, dtype: torch.dtype) -> Any:
    """A SigLIP vision tower of the shape, without its head."""
    mend_torchvision()
    from transformers import SiglipVisionConfig, SiglipVisionModel

    config = SiglipVisionConfig(
        hidden_size=shape.vision_width,
        intermediate_size=shape.vision_inner,
        num_hidden_layers=shape.vision_layers,
        num_attention_heads=shape.vision_heads,
        image_size=shape.side,
        patch_size=shape.patch,
        vision_use_head=False,
    )
    whole: Any = SiglipVisionModel(config)
    made = getattr(whole, "vision_model", whole)
    return made if dtype == torch.float32 else made.to(dtype)  # shapes without numbers cannot be moved


def flamingo(shape: Shape, device: str, dtype: str, attention: str = "sdpa", checkpointing: bool = False) -> Any:
    """A `PackedFlamingo` of random weights on a device, its backbones frozen, in `dtype`; nothing is read."""
    settings = FlamingoSettings.model_validate(
        {
            "language_model": "random",
            "vision": "random",
            "latents": shape.latents,
            "resampler_depth": shape.resampler_depth,
            "cross_every": shape.cross_every,
            "heads": shape.cross_heads,
            "head_dim": shape.cross_head_dim,
            "dtype": dtype,
            "attention": attention,
            "checkpointing": checkpointing,
        }
    )
    with torch.device(device):
        patches = (shape.side // shape.patch) ** 2
        kind = getattr(torch, dtype)
        vision = TransformersVision(tower(shape, kind), shape.side, shape.vision_width, patches, MEAN, STD)
        lm = language_model(shape, attention, kind)
    with torch.device("cpu"):  # first values are drawn there
        model = PackedFlamingo(settings, vocabulary(shape), lm, vision)
    return model if device == "cpu" else model.to(device)


def vocabulary(shape: Shape) -> Vocabulary:
    """Ids of the marks behind the words; nothing is ever encoded."""
    words = shape.words
    return Vocabulary(lambda _: (), 0, words + 1, words, 1, words + 2, ADDED, words, ADDED)


def rows(shape: Shape, tokens: int, seed: int) -> Iterator[ReadRow]:
    """Rows full of documents of log-normal lengths, with an image every `TOKENS_PER_IMAGE` tokens, without end."""
    draw = np.random.default_rng(seed)
    number = document = 0
    while True:
        spans: list[ReadSpan] = []
        pictures: list[Any] = []
        room = tokens
        while room > 1:
            length = min(room, max(16, int(draw.lognormal(np.log(MEDIAN), SPREAD))))
            ids = draw.integers(2, shape.words, length)
            ids[0] = 0
            images = np.arange(1, length, TOKENS_PER_IMAGE)
            ids[images] = shape.words + 1
            targets = np.ones(length, np.bool_)
            targets[0] = targets[images] = False
            image_of = np.where(ids == shape.words + 1, 1, 0).cumsum() - 1
            image_of = np.where(image_of >= 0, image_of + len(pictures), -1).astype(np.int32)
            pictures += [draw.integers(0, 256, (shape.side, shape.side, 3), np.uint8) for _ in images]
            spans.append(ReadSpan(document, 0, ids, targets, image_of))
            document, room = document + 1, room - length
        yield ReadRow(number, 0, document - len(spans), tuple(spans), tuple(pictures))
        number += 1


def batches(shape: Shape, tokens: int, per_batch: int, seed: int = 0) -> Iterator[MicroBatch]:
    """Micro-batches of such rows, without end."""
    coming = rows(shape, tokens, seed)
    while True:
        yield collate([next(coming) for _ in range(per_batch)], tokens, shape.side, shape.words + 2)
