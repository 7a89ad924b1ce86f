"""Small parts with random weights, drawn from a seed: for tests, for the demo, and to see a loop work before a GPU is
paid for."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal

from obelics_pipeline.models.device.torchvision_import import mend_torchvision

Kind = Literal["llama", "opt", "gpt_neox", "mpt", "gpt2", "mistral"]
LANGUAGE_MODEL, VISION = "language_model", "vision"
BEGIN, END = "<s>", "</s>"

# Mean and standard deviation of RGB that CLIP was trained with: transformers.image_utils.OPENAI_CLIP_MEAN and _STD.
MEAN = [0.48145466, 0.4578275, 0.40821073]
STD = [0.26862954, 0.26130258, 0.27577711]


def tiny(
    folder: Path, texts: Iterable[str], *, side: int = 32, seed: int = 0, **language_model: Any
) -> tuple[Path, Path]:
    """Write a language model with a tokenizer trained on `texts`, and a vision tower; give both folders.

    `side` is the pictures', in pixels; `language_model` as `tiny_language_model` takes it. The same arguments write
    the same bytes.
    """
    written = tiny_language_model(folder / LANGUAGE_MODEL, texts, seed=seed, **language_model)
    return written, tiny_vision(folder / VISION, side=side, seed=seed)


def tiny_language_model(
    folder: Path,
    texts: Iterable[str],
    *,
    kind: Kind = "llama",
    words: int = 512,
    width: int = 64,
    layers: int = 2,
    heads: int = 4,
    positions: int = 2048,
    seed: int = 0,
) -> Path:
    """Write a language model and a byte-level tokenizer of at most `words` (260 or more) tokens."""
    mend_torchvision()
    import torch
    from tokenizers import ByteLevelBPETokenizer
    from transformers import PreTrainedTokenizerFast

    trained = ByteLevelBPETokenizer()
    trained.train_from_iterator(list(texts), vocab_size=words, special_tokens=[BEGIN, END], show_progress=False)
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=trained._tokenizer, bos_token=BEGIN, eos_token=END)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = _language_model(kind, words, width, layers, heads, positions)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def _language_model(kind: Kind, words: int, width: int, layers: int, heads: int, positions: int) -> Any:
    import transformers as t

    ends = {"bos_token_id": 0, "eos_token_id": 1, "pad_token_id": None}
    sizes = {"vocab_size": words, "hidden_size": width, "num_hidden_layers": layers, "num_attention_heads": heads}
    made: Any
    if kind == "llama" or kind == "mistral":
        config = {"llama": t.LlamaConfig, "mistral": t.MistralConfig}[kind](
            **sizes, **ends, intermediate_size=3 * width, num_key_value_heads=heads, max_position_embeddings=positions
        )
        made = {"llama": t.LlamaForCausalLM, "mistral": t.MistralForCausalLM}[kind](config)
    elif kind == "opt":
        made = t.OPTForCausalLM(
            t.OPTConfig(
                **sizes,
                **(ends | {"pad_token_id": 1}),
                ffn_dim=4 * width,
                word_embed_proj_dim=width,
                max_position_embeddings=positions,
            )
        )
    elif kind == "gpt_neox":
        made = t.GPTNeoXForCausalLM(
            t.GPTNeoXConfig(**sizes, **ends, intermediate_size=4 * width, max_position_embeddings=positions)
        )
    elif kind == "mpt":
        made = t.MptForCausalLM(
            t.MptConfig(vocab_size=words, d_model=width, n_layers=layers, n_heads=heads, max_seq_len=positions, **ends)
        )
    else:
        made = t.GPT2LMHeadModel(
            t.GPT2Config(vocab_size=words, n_embd=width, n_layer=layers, n_head=heads, n_positions=positions, **ends)
        )
    return made


def tiny_vision(
    folder: Path, *, side: int = 32, patch: int = 8, width: int = 32, layers: int = 2, seed: int = 0
) -> Path:
    """Write a CLIP vision tower for pictures of `side` pixels, cut into squares of `patch`."""
    mend_torchvision()
    import torch
    from transformers import CLIPVisionConfig, CLIPVisionModel

    config = CLIPVisionConfig(
        hidden_size=width,
        intermediate_size=2 * width,
        num_hidden_layers=layers,
        num_attention_heads=2,
        image_size=side,
        patch_size=patch,
        projection_dim=width,
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        CLIPVisionModel(config).save_pretrained(folder)
    about = {"image_mean": MEAN, "image_std": STD, "size": {"height": side, "width": side}}
    (folder / "preprocessor_config.json").write_text(json.dumps(about, indent=2) + "\n", "utf-8")
    return folder
