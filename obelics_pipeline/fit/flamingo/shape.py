"""The small Flamingo that is trained: a GPT-NeoX that sees through a vision transformer, all of it from scratch."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.models.flamingo.assembly import FlamingoModel, assemble
from obelics_pipeline.models.flamingo.folder import LANGUAGE_MODEL, write_folder
from obelics_pipeline.models.flamingo.layout import END_OF_CHUNK, IMAGE

BEGIN, END, PAD = "<s>", "</s>", "<PAD>"
HEAD = 32  # dimensions of an attention head of the language model
POSITIONS = 512  # tokens that are read at once: with `Scoring`'s overlap of 256, half of a window is new
EVERY = 2  # blocks of the language model to a gated layer, which costs as much as a block
SIDE = 64  # pixels
VISION: dict[str, Any] = {
    "embed_dim": 64,
    "vision_cfg": {"image_size": SIDE, "patch_size": 16, "layers": 2, "width": 64, "head_width": 32},
    "text_cfg": {"context_length": 4, "vocab_size": 8, "width": 16, "heads": 2, "layers": 1},  # built, never used
}
FEWEST_WORDS = 300  # 256 bytes, the marks, and some merges
OPEN = 0.5  # of the gates at the start: there is no trained language model here that images must not disturb at first


@dataclass(frozen=True)
class Shape:
    """`layers` and `width` of the language model, `words` of its vocabulary at most."""

    layers: int = 4
    width: int = 128
    words: int = 2000

    def check(self) -> None:
        """Raises UserError for a value that no model can be made with."""
        if self.layers < EVERY:
            raise UserError(f"--layers {self.layers}: valid are {EVERY} and more, or there is no place for images")
        if self.width < HEAD or self.width % HEAD:
            raise UserError(f"--width {self.width}: valid are multiples of {HEAD}, such as 128")
        if self.words < FEWEST_WORDS:
            raise UserError(f"--words {self.words}: valid are {FEWEST_WORDS} and more")


@dataclass(frozen=True)
class Untrained:
    """A Flamingo that is trained in place, and the parameters that its language model had before it could see."""

    model: FlamingoModel
    config: Any
    own: dict[str, Any]

    def write(self, folder: Path) -> None:
        """Write the folder that `models.flamingo.loading.load` takes.

        transformers cannot save a language model with gated layers in it: its own parameters go into one without.
        """
        from transformers import GPTNeoXForCausalLM
        from transformers.utils import logging

        logging.disable_progress_bar()  # of one file
        plain: Any = GPTNeoXForCausalLM(self.config)
        plain.load_state_dict({name: parameter.detach() for name, parameter in self.own.items()})
        plain.save_pretrained(folder / LANGUAGE_MODEL)
        self.model.tokenizer.save_pretrained(folder / LANGUAGE_MODEL)
        write_folder(folder, self.model.flamingo, VISION, EVERY)


def tokenizer_of(texts: Iterable[str], words: int) -> Any:
    """Byte-level BPE, with all the marks that a Flamingo needs, so that no embedding is added later."""
    from tokenizers import ByteLevelBPETokenizer
    from transformers import PreTrainedTokenizerFast

    made = ByteLevelBPETokenizer()
    marks = [BEGIN, END, PAD, IMAGE, END_OF_CHUNK]
    made.train_from_iterator(texts, vocab_size=words, special_tokens=marks, show_progress=False)
    return PreTrainedTokenizerFast(
        tokenizer_object=made._tokenizer,
        bos_token=BEGIN,
        eos_token=END,
        pad_token=PAD,
        additional_special_tokens=[END_OF_CHUNK, IMAGE],
    )


def untrained(shape: Shape, tokenizer: Any) -> Untrained:
    """A Flamingo with random weights of one seed, its gates open, every parameter of it to be trained."""
    import torch
    from transformers import GPTNeoXConfig, GPTNeoXForCausalLM

    torch.manual_seed(1)
    config = GPTNeoXConfig(
        vocab_size=len(tokenizer),
        hidden_size=shape.width,
        num_hidden_layers=shape.layers,
        num_attention_heads=shape.width // HEAD,
        intermediate_size=4 * shape.width,
        max_position_embeddings=POSITIONS,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
    )
    language_model: Any = GPTNeoXForCausalLM(config)
    own = dict(language_model.named_parameters())
    model = assemble(VISION, language_model, tokenizer, EVERY)
    for block in filter(None, model.flamingo.lang_encoder.gated_cross_attn_layers):
        block.attn_gate.data.fill_(OPEN)
        block.ff_gate.data.fill_(OPEN)
    model.flamingo.requires_grad_(True)
    return Untrained(model, config, own)
