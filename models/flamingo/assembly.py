"""A Flamingo put together from its parts: a vision tower, a language model, its tokenizer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.models.flamingo.compat import require, tokens_before_final_norm
from obelics_pipeline.models.flamingo.layout import END_OF_CHUNK, IMAGE, Marks

# Mean and standard deviation of RGB in the training data of CLIP: open_clip.constants.OPENAI_DATASET_MEAN and _STD.
MEAN = (0.48145466, 0.4578275, 0.40821073)
STD = (0.26862954, 0.26130258, 0.27577711)


@dataclass(frozen=True)
class FlamingoModel:
    """open_flamingo's `Flamingo` with what is needed to feed it.

    `image_side` in pixels; `positions` is the longest sequence in tokens, None where the language model has no limit.
    """

    flamingo: Any
    tokenizer: Any
    image_side: int
    positions: int | None
    marks: Marks
    literals: tuple[str, ...]

    @property
    def device(self) -> Any:
        """Where its parameters are."""
        return next(self.flamingo.parameters()).device

    @property
    def dtype(self) -> Any:
        """Of its parameters."""
        return next(self.flamingo.parameters()).dtype

    def encoder(self) -> Callable[[str], Sequence[int]]:
        """The tokens of a text, none added."""
        return partial(_encode, self.tokenizer)


def _encode(tokenizer: Any, text: str) -> Sequence[int]:
    ids: Sequence[int] = tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"]
    return ids


def assemble(
    vision: Mapping[str, Any],
    language_model: Any,
    tokenizer: Any,
    cross_attention_every: int,
    decoder_layers: str | None = None,
    old_patch_tokens: bool = True,
) -> FlamingoModel:
    """What `open_flamingo.create_model_and_transforms` does, without its `trust_remote_code=True`, and offline.

    `vision` is a model config of open_clip (`embed_dim`, `vision_cfg`, `text_cfg`); the tower gets random weights.
    `language_model` and `tokenizer` are of transformers; both are changed: the marks are added, layers inserted.
    `decoder_layers` is the attribute path of the model's blocks, None where open_flamingo knows the architecture.
    `old_patch_tokens`: see `compat.tokens_before_final_norm`.
    Raises `UserError` where a package is missing or the architecture is one that open_flamingo does not know.
    """
    require()
    import open_clip
    from open_flamingo.src.factory import _infer_decoder_layers_attr_name
    from open_flamingo.src.flamingo import Flamingo
    from open_flamingo.src.flamingo_lm import FlamingoLMMixin
    from open_flamingo.src.utils import extend_instance

    clip = open_clip.CLIP(**vision)
    clip.visual.output_tokens = True
    if old_patch_tokens:
        tokens_before_final_norm(clip.visual)
    tokenizer.add_special_tokens({"additional_special_tokens": [END_OF_CHUNK, IMAGE]})
    if tokenizer.pad_token is None:
        tokenizer.add_special_tokens({"pad_token": "<PAD>"})  # open_flamingo's own; released embeddings count it
    name = type(language_model).__name__
    extend_instance(language_model, FlamingoLMMixin)
    try:
        language_model.set_decoder_layers_attr_name(decoder_layers or _infer_decoder_layers_attr_name(language_model))
    except ValueError:
        raise UserError(
            f"Flamingo: open_flamingo does not know where {name} keeps its blocks; use a GPT-NeoX, OPT, LLaMA, MPT or "
            "GPT-J model, or name the attribute in decoder_layers of flamingo.json"
        ) from None
    grow(language_model, len(tokenizer))
    image, end_of_chunk = tokenizer.convert_tokens_to_ids([IMAGE, END_OF_CHUNK])
    flamingo = Flamingo(
        clip,
        language_model,
        end_of_chunk,
        image,
        vis_dim=vision["vision_cfg"]["width"],
        cross_attn_every_n_layers=cross_attention_every,
    )
    flamingo.requires_grad_(False).eval()
    begin = tokenizer.bos_token_id if tokenizer.bos_token_id is not None else tokenizer.eos_token_id
    return FlamingoModel(
        flamingo,
        tokenizer,
        image_side=int(vision["vision_cfg"]["image_size"]),
        positions=positions(language_model.config),
        marks=Marks(begin, image, end_of_chunk),
        literals=tuple(sorted({*tokenizer.all_special_tokens, IMAGE, END_OF_CHUNK})),
    )


def grow(language_model: Any, words: int) -> None:
    """Resize the embeddings to as many words; each new row is the mean of the old ones.

    transformers draws new rows at random. Those of an untied output layer are in no released checkpoint, and have a
    share in every softmax: each worker would score with other ones.
    """
    import torch

    before = language_model.get_input_embeddings().weight.shape[0]
    language_model.resize_token_embeddings(words, mean_resizing=False)
    with torch.no_grad():
        for layer in (language_model.get_input_embeddings(), language_model.get_output_embeddings()):
            if layer is not None and words > before:
                layer.weight[before:] = layer.weight[:before].float().mean(0).to(layer.weight.dtype)


def positions(config: Any) -> int | None:
    """The longest sequence that a language model's config allows; the names are those of transformers."""
    for name in ("max_position_embeddings", "max_seq_len", "n_positions"):
        value = getattr(config, name, None)
        if isinstance(value, int):
            return value
    return None
