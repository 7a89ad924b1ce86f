"""Checkpoints of open_flamingo 2.0.1, read and written; see `settings.of_open_flamingo` for models that can have them.

Its trainer saves by whichever of several names a parameter has: a gated layer is in `gated_cross_attn_layers` and in
the language model's own list of blocks.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import torch

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.models.packed_flamingo.model import PackedFlamingo

# Their names of what a gated layer and a layer of the resampler have, and ours. Keys and values are one matrix there.
_GATED = {
    "attn.norm.weight": "attention_norm.weight",
    "attn.norm.bias": "attention_norm.bias",
    "attn.to_q.weight": "attention.q.weight",
    "attn.to_out.weight": "attention.o.weight",
    "attn_gate": "attention_gate.weight",
    "ff.0.weight": "ffn_norm.weight",
    "ff.0.bias": "ffn_norm.bias",
    "ff.1.weight": "ffn.fc1.weight",
    "ff.3.weight": "ffn.fc2.weight",
    "ff_gate": "ffn_gate.weight",
}
_RESAMPLER = {
    "0.norm_media.weight": "features_norm.weight",
    "0.norm_media.bias": "features_norm.bias",
    "0.norm_latents.weight": "attention_norm.weight",
    "0.norm_latents.bias": "attention_norm.bias",
    "0.to_q.weight": "attention.q.weight",
    "0.to_out.weight": "attention.o.weight",
    "1.0.weight": "ffn_norm.weight",
    "1.0.bias": "ffn_norm.bias",
    "1.1.weight": "ffn.fc1.weight",
    "1.3.weight": "ffn.fc2.weight",
}
_WANTED = {
    "norm": "layer",
    "qk_norm": "none",
    "fusion": "xattn",
    "bias": False,
    "gate": "scalar",
    "post_norm": False,
    "attend": "last",
    "text_only_mlp": True,
    "activation": "gelu",
    "ffn_multiple": 4,
    "heads": 8,
    "head_dim": 64,
    "latents": 64,
    "resampler_depth": 6,
}


def load_open_flamingo(model: PackedFlamingo, weights: Mapping[str, torch.Tensor], origin: str) -> None:
    """Give a model the weights of an open_flamingo checkpoint.

    What it holds of the language model and the vision tower is taken too; of an untied head that it lacks, the rows of
    added tokens stay as they are. Raises `UserError` where the model cannot be its, or it lacks or has too much.
    """
    _check(model, origin)
    given = {_usual(model, name): weight for name, weight in weights.items()}
    wanted = _names(model)
    lacking = sorted(wanted.keys() - given.keys())
    if lacking:
        raise UserError(f"Flamingo: {origin} is of another model: it lacks {lacking[0]}; see cross_every, vision")
    own = dict(model.named_parameters(remove_duplicate=False))
    new: dict[str, torch.Tensor] = {}
    for name, weight in given.items():
        if name in wanted:
            halves = weight.chunk(len(wanted[name])) if len(wanted[name]) > 1 else (weight,)
            new |= dict(zip(wanted[name], halves, strict=True))
        elif name in _tables(model):
            new |= _split(model, name, weight, origin)
        elif name in own:
            new[name] = weight
        elif name not in dict(model.named_buffers()) and not _is_buffer(name):
            raise UserError(f"Flamingo: {origin} is of another model: it holds {name}, which the model does not have")
    for name, weight in new.items():
        if own[name].shape != weight.shape:
            shapes = f"{tuple(weight.shape)} instead of {tuple(own[name].shape)}"
            raise UserError(f"Flamingo: {origin} is of another model: {name} is {shapes}")
    with torch.no_grad():
        for name, weight in new.items():
            own[name].copy_(weight)


def open_flamingo_state(model: PackedFlamingo, tokens: int | None = None) -> dict[str, torch.Tensor]:
    """What a model has learned as open_flamingo's own checkpoints have it: theirs loads with `strict=False`.

    `tokens`: how many the tokenizer has without the marks, where the language model has room for more: open_flamingo
    cuts that off. Raises `UserError` where the model's settings are not open_flamingo's.
    """
    _check(model, "open_flamingo")
    own = {name: p.detach().cpu() for name, p in model.named_parameters(remove_duplicate=False)}
    state = {}
    for theirs, ours in _names(model).items():
        state[_theirs(model, theirs)] = torch.cat([own[name] for name in ours]) if len(ours) > 1 else own[ours[0]]
    for name, rows in _tables(model).items():
        state["lang_encoder." + name.removeprefix("language_model.")] = torch.cat(
            [own[name][: tokens or model.words], own[rows].to(own[name].dtype)]
        )
    kept = set(_tables(model))
    for name, p in model.trainable().items():  # what was unfrozen
        if name.startswith("language_model.") and name not in kept:
            state[_theirs(model, name)] = p.detach().cpu()
    return {name: weight.clone().contiguous() for name, weight in state.items()}


def _check(model: PackedFlamingo, origin: str) -> None:
    for name, value in _WANTED.items():
        found = getattr(model.settings, name)
        if found != value:
            raise UserError(f"Flamingo: {origin} has {name} {value}, the model {found}; see settings.of_open_flamingo")


def _names(model: PackedFlamingo) -> dict[str, tuple[str, ...]]:
    """Our names for each of their usual ones; two names if their matrix holds two of ours, one below the other."""
    found: dict[str, tuple[str, ...]] = {
        "perceiver.latents": ("resampler.latents",),
        "perceiver.norm.weight": ("resampler.norm.weight",),
        "perceiver.norm.bias": ("resampler.norm.bias",),
    }
    places = [
        (f"perceiver.layers.{i}", f"resampler.layers.{i}", _RESAMPLER) for i in range(len(model.resampler.layers))
    ]
    places += [(f"gated.{i}", f"cross.{i}", _GATED) for i in model.cross]
    for theirs, ours, names in places:
        found |= {f"{theirs}.{a}": (f"{ours}.{b}",) for a, b in names.items()}
        kv = "attn.to_kv.weight" if theirs.startswith("gated.") else "0.to_kv.weight"
        found[f"{theirs}.{kv}"] = (f"{ours}.attention.k.weight", f"{ours}.attention.v.weight")
    return found


def _tables(model: PackedFlamingo) -> dict[str, str]:
    """Our names of the language model's embeddings and untied head, and of the rows of added tokens of each."""
    own = list(model.named_parameters(remove_duplicate=False))
    embeddings = model.language_model.get_input_embeddings().weight
    head = model.language_model.get_output_embeddings().weight
    found = {name: "embedding.weight" for name, p in own if p is embeddings}
    return found | ({name: "head.weight" for name, p in own if p is head} if head is not embeddings else {})


def _split(model: PackedFlamingo, name: str, weight: torch.Tensor, origin: str) -> dict[str, torch.Tensor]:
    """A table of theirs: the words' rows, then those of added tokens. They cut off rows that no token has."""
    count = len(model.vocabulary.added)
    own = dict(model.named_parameters(remove_duplicate=False))[name]
    words = len(weight) - count
    if not 0 < words <= model.words:
        raise UserError(
            f"Flamingo: {origin} has {len(weight)} rows in {name}; the language model has {model.words} words and "
            f"{count} are added"
        )
    whole = own.detach().clone()
    whole[:words] = weight[:words]
    return {name: whole, _tables(model)[name]: weight[words:]}


def _usual(model: PackedFlamingo, name: str) -> str:
    """One name for each of theirs: `gated.3.…`, `perceiver.…`, or as we call what is no layer of Flamingo's."""
    blocks = re.escape(model.layers_name)
    name = re.sub(r"^lang_encoder\.gated_cross_attn_layers\.(\d+)\.", r"gated.\1.", name)
    name = re.sub(rf"^lang_encoder\.{blocks}\.(\d+)\.gated_cross_attn_layer\.", r"gated.\1.", name)
    name = re.sub(rf"^lang_encoder\.{blocks}\.(\d+)\.decoder_layer\.", rf"lang_encoder.{model.layers_name}.\1.", name)
    name = re.sub(r"^lang_encoder\.old_decoder_blocks\.", f"lang_encoder.{model.layers_name}.", name)
    name = re.sub(r"^vision_encoder\.", "vision.tower.", name)
    return re.sub(r"^lang_encoder\.", "language_model.", name)


def _theirs(model: PackedFlamingo, name: str) -> str:
    """The name by which their released checkpoints have what `_usual` calls so."""
    blocks = model.layers_name
    name = re.sub(r"^gated\.(\d+)\.", rf"lang_encoder.{blocks}.\1.gated_cross_attn_layer.", name)
    name = re.sub(rf"^language_model\.{re.escape(blocks)}\.(\d+)\.", rf"lang_encoder.{blocks}.\1.decoder_layer.", name)
    return re.sub(r"^language_model\.", "lang_encoder.", name)


def _is_buffer(name: str) -> bool:
    """Tables that older versions of transformers saved with the weights, and now compute."""
    return name.endswith((".rotary_emb.inv_freq", ".attention.bias", ".masked_bias", ".position_ids"))
