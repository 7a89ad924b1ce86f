"""Small real models of transformers with random weights from a seed, and their tokenizers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from obelics_pipeline.models.device.torchvision_import import mend_torchvision

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")
mend_torchvision()

SENTENCES = (
    "The ferry returns to the harbour when the tide is high, and the market hall opens its doors.",
    "A loaf of rye is not a loaf of wheat; it wants a long rest and a hot stone.",
    "She wound the clock on the bench, listened for a while, and wrote down what she heard.",
)


def tokenizer(begin: str | None = "<s>", special: tuple[str, ...] = ()) -> Any:
    """Byte-level BPE of 300 words, trained on a few sentences, and special tokens behind them."""
    from tokenizers import ByteLevelBPETokenizer
    from transformers import PreTrainedTokenizerFast

    made = ByteLevelBPETokenizer()
    made.train_from_iterator(SENTENCES, vocab_size=300, special_tokens=["<s>", "</s>"], show_progress=False)
    words = PreTrainedTokenizerFast(tokenizer_object=made._tokenizer, bos_token=begin, eos_token="</s>")
    words.add_special_tokens({"additional_special_tokens": list(special)})
    return words


def causal(kind: str, vocabulary: int, positions: int = 512, **other: Any) -> Any:
    """A causal language model of two blocks: "llama", "gpt_neox", "opt", "gemma2", "mpt", or another of AutoConfig."""
    import transformers as t

    sizes = {"vocab_size": vocabulary, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4}
    if kind == "mpt":
        config: Any = t.MptConfig(vocab_size=vocabulary, d_model=32, n_layers=2, n_heads=4, max_seq_len=positions)
    elif kind == "opt":
        config = t.OPTConfig(
            **sizes, ffn_dim=64, word_embed_proj_dim=32, max_position_embeddings=positions, dropout=0.0
        )
    else:
        more = {} if kind == "gpt_neox" else {"num_key_value_heads": 2, "head_dim": 8}
        config = t.AutoConfig.for_model(
            kind, **sizes, **more, intermediate_size=64, max_position_embeddings=positions, **other
        )
    return t.AutoModelForCausalLM.from_config(config)


def loud(model: Any, seed: int) -> Any:
    """The same model with larger weights: the losses of two texts should differ by more than rounding."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() > 1:
                parameter.copy_(0.2 * torch.randn(parameter.shape, generator=generator))
    return model.eval()


def saved(folder: Path, kind: str = "llama", seed: int = 0, positions: int = 512, **other: Any) -> Path:
    """A folder of a tiny causal language model, as a run's config names it."""
    words = tokenizer()
    loud(causal(kind, len(words), positions, **other), seed).save_pretrained(folder)
    words.save_pretrained(folder)
    return folder
