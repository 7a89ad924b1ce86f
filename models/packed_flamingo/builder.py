"""A Flamingo from its parts."""

from __future__ import annotations

from pathlib import Path

import torch

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.models.packed_flamingo.document_tokens import open_vocabulary
from obelics_pipeline.models.packed_flamingo.language_model import check, open_language_model
from obelics_pipeline.models.packed_flamingo.model import PackedFlamingo
from obelics_pipeline.models.packed_flamingo.settings import FlamingoSettings
from obelics_pipeline.models.packed_flamingo.vision import open_vision


def build(settings: FlamingoSettings) -> PackedFlamingo:
    """A Flamingo on the CPU, with its parts' own weights and new layers that change nothing yet.

    The language model is tried on a few tokens (`language_model.check`). Raises `UserError` for parts that are missing
    or do not go together.
    """
    vocabulary = open_vocabulary(Path(settings.language_model))
    language_model = open_language_model(settings)
    if settings.attention != "flex_attention" or torch.cuda.is_available():
        check(language_model, vocabulary.words)
    layers = language_model.config.get_text_config().num_hidden_layers
    if layers < 1:
        raise UserError(f"language model: {settings.language_model} has {layers} blocks; a Flamingo needs at least one")
    if settings.cross_start >= layers:
        raise UserError(
            f"cross_start is {settings.cross_start}; the language model has {layers} blocks, 0 to {layers - 1}"
        )
    return PackedFlamingo(settings, vocabulary, language_model, open_vision(settings))
