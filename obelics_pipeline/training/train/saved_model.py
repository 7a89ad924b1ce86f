"""The model of a checkpoint, without the training that wrote it."""

from __future__ import annotations

from pathlib import Path

import torch
import torch.distributed.checkpoint as dcp
from torch.distributed.checkpoint.hf_storage import HuggingFaceStorageReader

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.models.packed_flamingo.builder import build
from obelics_pipeline.models.packed_flamingo.model import NEW, PackedFlamingo
from obelics_pipeline.models.packed_flamingo.saved import put_trained
from obelics_pipeline.models.packed_flamingo.settings import FlamingoSettings
from obelics_pipeline.training.train.state.checkpoint import TENSORS
from obelics_pipeline.training.train.state.manifest import verify
from obelics_pipeline.training.train.state.saved import read_state


def load_checkpoint(path: Path) -> PackedFlamingo:
    """The model of a checkpoint, from the parts that its config names, whatever number of processes wrote it.

    What trains is what the checkpoint holds, also where it was unfrozen on the way; numbers of any type become float32.
    """
    verify(path)
    saved = read_state(path)
    settings = FlamingoSettings.model_validate(saved.config["model"])
    named = tuple(_exactly(name) for name in saved.tensors if not name.startswith(NEW))
    model = build(settings.model_copy(update={"unfreeze": named}))
    weights = {name: torch.empty_like(p) for name, p in model.trainable().items()}
    try:
        dcp.load(weights, storage_reader=HuggingFaceStorageReader(str(path / TENSORS)), no_dist=True)
    except (OSError, RuntimeError, ValueError, KeyError) as error:
        reason = " ".join(str(error).split())[:200]
        raise UserError(f"{path}: holds another model than its config names: {reason}") from None
    put_trained(model, weights, path)
    return model


def _exactly(name: str) -> str:
    """A pattern of fnmatch that a name alone matches."""
    return "".join(f"[{c}]" if c in "*?[" else c for c in name)
