"""Small real models: a vision tower, a language model and a tokenizer, made from a seed, with gates that are open."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from obelics_pipeline.models.device.torchvision_import import import_torchvision
from obelics_pipeline.models.flamingo.assembly import FlamingoModel, assemble
from obelics_pipeline.models.flamingo.folder import write_folder
from tests.models.pictures.illustrated import noise

pytest.importorskip("torch")
pytest.importorskip("transformers")
if find_spec("torchvision") is None:  # importorskip would meet the error that import_torchvision mends
    pytest.skip("no module torchvision", allow_module_level=True)
import_torchvision()
pytest.importorskip("open_flamingo")

SENTENCES = (
    "The ferry returns to the harbour when the tide is high, and the market hall opens its doors.",
    "A loaf of rye is not a loaf of wheat; it wants a long rest and a hot stone.",
    "She wound the clock on the bench, listened for a while, and wrote down what she heard.",
)
SIDE = 16  # pixels
VISION = {
    "embed_dim": 16,
    "vision_cfg": {"image_size": SIDE, "patch_size": 8, "layers": 2, "width": 32, "head_width": 16},
    "text_cfg": {"context_length": 4, "vocab_size": 8, "width": 16, "heads": 2, "layers": 1},
}


def tokenizer(begin: str | None = "<s>") -> Any:
    """Byte-level BPE of 300 words, trained on a few sentences."""
    from tokenizers import ByteLevelBPETokenizer
    from transformers import PreTrainedTokenizerFast

    made = ByteLevelBPETokenizer()
    made.train_from_iterator(SENTENCES, vocab_size=300, special_tokens=["<s>", "</s>"], show_progress=False)
    return PreTrainedTokenizerFast(tokenizer_object=made._tokenizer, bos_token=begin, eos_token="</s>")


def language_model(kind: str, vocabulary: int, positions: int = 512) -> Any:
    """A language model of two blocks with random weights."""
    import transformers as t

    sizes = {"vocab_size": vocabulary, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2}
    made: Any
    if kind == "opt":
        config = t.OPTConfig(
            **sizes, ffn_dim=64, word_embed_proj_dim=32, max_position_embeddings=positions, dropout=0.0
        )
        made = t.OPTForCausalLM(config)
    elif kind == "mpt":
        made = t.MptForCausalLM(
            t.MptConfig(vocab_size=vocabulary, d_model=32, n_layers=2, n_heads=2, max_seq_len=positions)
        )
    else:
        config = t.GPTNeoXConfig(**sizes, intermediate_size=64, max_position_embeddings=positions)
        made = t.GPTNeoXForCausalLM(config)
    return made


def flamingo(kind: str = "gpt_neox", seed: int = 0, positions: int = 512, begin: str | None = "<s>") -> FlamingoModel:
    """A Flamingo whose gates are open: as they are initialised (0), images would change nothing."""
    import torch

    torch.manual_seed(seed)
    words = tokenizer(begin)
    model = assemble(VISION, language_model(kind, len(words), positions), words, cross_attention_every=1)
    with torch.no_grad():
        for parameter in model.flamingo.lang_encoder.parameters():
            parameter.mul_(3)  # the losses of two texts should differ by more than rounding
        for block in model.flamingo.lang_encoder.gated_cross_attn_layers:
            block.attn_gate.fill_(0.7)
            block.ff_gate.fill_(0.3)
    return model


def pictures(count: int, seed: int = 0) -> np.ndarray[Any, Any]:
    """Random pictures (count, side, side, 3), uint8."""
    return noise(SIDE, seed, count)


def saved(folder: Path) -> Path:
    """A folder of such a model, as a run's config names it."""
    import torch

    torch.manual_seed(0)
    words = tokenizer()
    model = language_model("gpt_neox", len(words))
    model.save_pretrained(folder / "language_model")
    words.save_pretrained(folder / "language_model")
    made = assemble(VISION, model, words, cross_attention_every=1)
    with torch.no_grad():
        for block in made.flamingo.lang_encoder.gated_cross_attn_layers:
            block.attn_gate.fill_(0.7)
    write_folder(folder, made.flamingo, VISION, cross_attention_every=1)
    return folder
