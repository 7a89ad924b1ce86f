"""A folder with a tiny real Flamingo."""

from pathlib import Path

from obelics_pipeline.models.flamingo.assembly import FlamingoModel, assemble
from obelics_pipeline.models.flamingo.folder import write_folder
from tests.models.flamingo import tiny


def save(folder: Path) -> FlamingoModel:
    """Write one, and return it: random weights from a seed, with gates that are open."""
    import torch

    torch.manual_seed(7)
    words = tiny.tokenizer()
    language_model = tiny.language_model("gpt_neox", len(words))
    language_model.save_pretrained(folder / "language_model")
    words.save_pretrained(folder / "language_model")
    model = assemble(tiny.VISION, language_model, words, cross_attention_every=2)
    for block in filter(None, model.flamingo.lang_encoder.gated_cross_attn_layers):
        block.attn_gate.data.fill_(0.7)
    write_folder(folder, model.flamingo, tiny.VISION, cross_attention_every=2)
    return model
