"""The families of models that read images: which tokens an image is, and how its bytes become them.

Each image has one view: no family's tiles, which would make thousands of tokens of it. That is what LLaVA-OneVision
does by itself where a document has several images, and what Idefics was trained with on such documents.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

FAKE = "<fake_token_around_image>"


@dataclass(frozen=True, slots=True)
class Family:
    """`before` and `after` are the tokens around an image, `count(config, inputs)` the number of places between them.

    `inputs` are what the family's image processor makes of one image. `shared`: the token that stands once between two
    images that adjoin. `tiles`: whether the processor cuts the one image of a document into tiles, and spares several.
    """

    before: tuple[str, ...]
    after: tuple[str, ...]
    count: Callable[[Any, Any], int]
    shared: str | None = None
    tiles: bool = False


def _resampled(config: Any, _: Any) -> int:
    return int(config.perceiver_config.resampler_n_latents)


def _shuffled(config: Any, _: Any) -> int:
    vision = config.vision_config
    return int((vision.image_size // vision.patch_size) ** 2 / config.scale_factor**2)


def _merged(config: Any, inputs: Any) -> int:
    return int(inputs["image_grid_thw"].prod()) // int(config.vision_config.spatial_merge_size) ** 2


def _with_newline(config: Any, _: Any) -> int:
    vision = config.vision_config
    return int((vision.image_size // vision.patch_size) ** 2) + 1


_IDEFICS3 = Family((FAKE, "<global-img>"), (FAKE,), _shuffled)
_QWEN = Family(("<|vision_start|>",), ("<|vision_end|>",), _merged)

FAMILIES = {  # by `model_type` of transformers; the tokens are those of its processors
    "idefics2": Family((FAKE,), (FAKE,), _resampled, shared=FAKE),
    "idefics3": _IDEFICS3,
    "smolvlm": _IDEFICS3,
    "qwen2_vl": _QWEN,
    "qwen2_5_vl": _QWEN,
    "qwen3_vl": _QWEN,
    "qwen3_5": _QWEN,
    "llava_onevision": Family((), (), _with_newline, tiles=True),
}
