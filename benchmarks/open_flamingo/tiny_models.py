"""A language model, a tokenizer and a vision tower for a CPU, from nothing: tiny_models.py FOLDER [TEXT ...]"""

from __future__ import annotations

import sys
from pathlib import Path

import trainer as _torchvision  # noqa: F401  # first: it makes torchvision load, which the others import

# isort: split
import open_clip
import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import GPTNeoXConfig, GPTNeoXForCausalLM, PreTrainedTokenizerFast

VISION = "ViT-S-32-alt"  # the smallest tower that open_clip knows by name
EOS = "<|endoftext|>"


def make(folder: Path, texts: list[str]) -> None:
    """Write `folder/lm` (model and tokenizer) and `folder/vision.pt`; the tokenizer learns its words from `texts`."""
    torch.manual_seed(1)
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=4000, special_tokens=[EOS], initial_alphabet=alphabet)
    tokenizer.train_from_iterator(texts, trainer)
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token=EOS, bos_token=EOS)
    config = GPTNeoXConfig(
        vocab_size=len(fast), hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=128
    )
    fast.save_pretrained(folder / "lm")
    GPTNeoXForCausalLM(config).save_pretrained(folder / "lm")
    tower, _, _ = open_clip.create_model_and_transforms(VISION, pretrained=None)
    torch.save(tower.state_dict(), folder / "vision.pt")


if __name__ == "__main__":
    target = Path(sys.argv[1])
    target.mkdir(parents=True, exist_ok=True)
    make(target, [Path(name).read_text() for name in sys.argv[2:]] or ["a small text of a few words"] * 10)
