"""How a Flamingo is put together: every choice that its weights or its arithmetic depend on."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from obelics_pipeline.core.config.section import Section

Count = Annotated[int, Field(ge=1)]
Norm = Literal["rms", "layer"]
QkNorm = Literal["rms", "layer", "l2", "none"]
Activation = Literal["gelu", "gelu_tanh", "relu", "silu"]


class FlamingoSettings(Section):
    """The parts of a Flamingo, and the layers that join them.

    `language_model`: a folder of any causal language model, as transformers saves it with its tokenizer. `vision`: a
    folder of a vision tower as transformers saves it; or a model of open_clip, by name or by the JSON file of its
    config, with a file of `vision_weights` (without one: random). `vision_side`: pixels of a picture; by itself what
    the tower was made for. `old_patch_tokens`: of an open_clip tower, as OpenFlamingo saw them (before the last norm).

    A gated layer stands before each `cross_every`-th block of the language model, the first before block `cross_start`.
    `attend`: a token looks at the last image before it in its document, or at all of them. `text_only_mlp`: the second
    half of a gated layer works on tokens without an image too, as in OpenFlamingo; otherwise the layer adds exactly 0
    there. Weights of new layers are normal with `init_std`; those that write to the residual are smaller by the root of
    twice the number of layers where `depth_scaled_init`.

    `fusion`: images are seen through the gated layers (xattn); or there are none, and the vector of an image stands in
    the sequence, in the place of its mark: one for each, as `latents` must then be (prefix; as GIT and BLIP-2 do it).

    New layers always train. `unfreeze`: patterns (fnmatch) of names of other parameters that train too. `dtype`: of
    weights that do not train; those that do are float32. `checkpointing`: keep no activations inside blocks, compute
    them again. `attention`: how the language model's blocks compute it; flex_attention needs a GPU,
    and gives its blocks a mask of blocks of 128 x 128 tokens (`language_model.packed_mask`).
    """

    language_model: str
    vision: str
    vision_weights: str | None = None
    vision_side: Count | None = None
    old_patch_tokens: bool = False

    latents: Count = 64
    resampler_depth: Count = 6
    cross_every: Count = 1
    cross_start: Annotated[int, Field(ge=0)] = 0
    heads: Count = 8
    head_dim: Count = 64
    ffn_multiple: Count = 4
    activation: Activation = "gelu"
    norm: Norm = "rms"
    qk_norm: QkNorm = "rms"
    fusion: Literal["xattn", "prefix"] = "xattn"
    bias: bool = False
    gate: Literal["scalar", "vector"] = "scalar"
    post_norm: bool = False
    attend: Literal["last", "all"] = "last"
    text_only_mlp: bool = False
    init_std: Annotated[float, Field(gt=0)] = 0.02
    depth_scaled_init: bool = True
    seed: int = 0

    unfreeze: tuple[str, ...] = ()
    dtype: Literal["float32", "bfloat16", "float16"] = "float32"
    checkpointing: bool = False
    attention: Literal["sdpa", "eager", "flex_attention"] = "sdpa"

    @model_validator(mode="after")
    def one_token_an_image(self) -> FlamingoSettings:
        """A plan has counted one token for each image."""
        if self.fusion == "prefix" and self.latents != 1:
            raise ValueError(f"fusion prefix: a plan has one token for each image; latents is {self.latents}, set 1")
        return self


def of_open_flamingo(language_model: str, vision: str, cross_every: int = 1, **others: object) -> FlamingoSettings:
    """The settings with which a Flamingo computes what open_flamingo 2.0.1 does, and can be exchanged with it.

    Its gated layers stand before the last of every `cross_every` blocks (open_flamingo.src.flamingo_lm).
    """
    theirs: dict[str, object] = {
        "norm": "layer",
        "qk_norm": "none",
        "text_only_mlp": True,
        "old_patch_tokens": True,
        "cross_every": cross_every,
        "cross_start": cross_every - 1,
    }
    return FlamingoSettings.model_validate({"language_model": language_model, "vision": vision, **theirs, **others})
