"""Which modules a monitor looks at, and what they are."""

from __future__ import annotations

from torch import nn

from obelics_pipeline.models.packed_flamingo.language_model import decoder_layers
from obelics_pipeline.models.packed_flamingo.model import PackedFlamingo

# Names that transformers' architectures give to the matrices of a block. Of one matrix for queries, keys and values
# (GPT-NeoX, MPT, GPT-2) the kind is "q".
KINDS = {
    "q": ("q_proj", "query_key_value", "Wqkv", "c_attn", "qkv_proj"),
    "k": ("k_proj",),
    "v": ("v_proj",),
    "o": ("o_proj", "out_proj", "attention.dense", "attn.c_proj"),
    "fc1": ("fc1", "gate_proj", "up_proj", "gate_up_proj", "dense_h_to_4h", "mlp.c_fc", "fc_in"),
    "fc2": ("fc2", "down_proj", "dense_4h_to_h", "mlp.c_proj", "fc_out"),
}
OF_LANGUAGE_MODEL = "lm_"  # before the kind of a module of the language model's own blocks


def groups(model: PackedFlamingo) -> dict[str, tuple[int, str]]:
    """Layer and kind of modules, by name.

    Kinds of gated layers are q, k, v, o, fc1, fc2 and gate, their layer that of the block behind them; those of the
    block's own matrices begin with `lm_`. The others: embedding, resampler (by its layers), vision, and head.
    """
    found: dict[str, tuple[int, str]] = {"vision": (0, "vision"), "head": (len(_blocks(model)), "head")}
    for i in range(len(model.resampler.layers)):
        found[f"resampler.layers.{i}"] = (i, "resampler")
    for name, part in model.cross.named_modules():
        number, _, inside = name.partition(".")
        last = inside.rpartition(".")[2]
        if inside.endswith("_gate"):
            found[f"cross.{name}"] = (int(number), "gate")
        elif isinstance(part, nn.Linear) and last in ("q", "k", "v", "o", "fc1", "fc2"):
            found[f"cross.{name}"] = (int(number), last)
    for i, block in enumerate(_blocks(model)):
        for name, _ in block.named_modules():
            kind = _kind(name)
            if kind is not None:
                found[f"language_model.{model.layers_name}.{i}.{name}"] = (i, OF_LANGUAGE_MODEL + kind)
    embeddings = model.language_model.get_input_embeddings()
    found |= {name: (0, "embedding") for name, part in model.named_modules() if part is embeddings}
    return found


def _blocks(model: PackedFlamingo) -> nn.ModuleList:
    return decoder_layers(model.language_model)[1]


def _kind(name: str) -> str | None:
    for kind, names in KINDS.items():
        if any(name == known or name.endswith(f".{known}") for known in names):
            return kind
    return None
