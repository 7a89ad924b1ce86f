"""What a Flamingo has learned, in a folder: `flamingo.json` beside `trained.safetensors`.

Frozen weights are not copied: the settings name the folders that they come from, and the description has their sha256.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import torch
from pydantic import BaseModel, ConfigDict, ValidationError

from models.device.weight_files import SUFFIXES, check, read
from models.packed_flamingo.builder import build
from models.packed_flamingo.exchange import load_open_flamingo
from models.packed_flamingo.model import PackedFlamingo
from models.packed_flamingo.settings import FlamingoSettings
from obelics_pipeline.config.section import Sha256
from obelics_pipeline.errors import UserError
from obelics_pipeline.storage import file_sha256

DESCRIPTION, WEIGHTS = "flamingo.json", "trained.safetensors"
FORMAT: Literal["packed-flamingo-1"] = "packed-flamingo-1"


class Description(BaseModel):
    """What `flamingo.json` says. `source_dtype` is that of the language model's files; `parts` their sha256."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    format: Literal["packed-flamingo-1"] = FORMAT
    settings: FlamingoSettings
    words: int
    added: tuple[str, ...]
    source_dtype: str
    parts: dict[str, Sha256]
    sha256: Sha256


def trained_state(model: PackedFlamingo) -> dict[str, torch.Tensor]:
    """The parameters that train, whole, on the CPU. Of a sharded model every rank must call it."""
    return {name: _whole(p.detach()) for name, p in model.trainable().items()}


def _whole(p: Any) -> torch.Tensor:
    made: torch.Tensor = p.full_tensor() if hasattr(p, "full_tensor") else p
    return made.cpu().contiguous().clone()


def put_trained(model: PackedFlamingo, weights: Mapping[str, torch.Tensor], origin: Path | str) -> None:
    """Give the parameters that train these values.

    Raises `UserError` where one is missing, is too many, or has another shape.
    """
    own = model.trainable()
    missing, stray = own.keys() - weights.keys(), weights.keys() - own.keys()
    if missing or stray:
        what = f"lacks {min(missing)}" if missing else f"holds {min(stray)}, which does not train in the model"
        raise UserError(f"Flamingo: {origin} is of another model: it {what}; see unfreeze and the layers' settings")
    for name, p in own.items():
        if p.shape != weights[name].shape:
            shapes = f"{tuple(weights[name].shape)} instead of {tuple(p.shape)}"
            raise UserError(f"Flamingo: {origin} is of another model: {name} is {shapes}")
    with torch.no_grad():
        for name, p in own.items():
            p.copy_(_shared_out(weights[name], p))


def _shared_out(weight: torch.Tensor, p: Any) -> torch.Tensor:
    """A whole weight as a sharded parameter holds it; of another parameter, itself."""
    if not hasattr(p, "device_mesh"):
        return weight
    from torch.distributed.tensor import distribute_tensor

    made: torch.Tensor = distribute_tensor(weight.to(p.device), p.device_mesh, p.placements)
    return made


def save_trained(model: PackedFlamingo, folder: Path, writes: bool = True) -> None:
    """Write what trains, and the description, to a folder that is made.

    Of a sharded model every rank must call it, and one of them `writes`.
    """
    from safetensors.torch import save_file

    state = trained_state(model)
    if not writes:
        return
    folder.mkdir(parents=True, exist_ok=True)
    save_file(state, folder / WEIGHTS)
    about = Description(
        settings=model.settings,
        words=model.vocabulary.words,
        added=model.vocabulary.added,
        source_dtype=source_dtype(model.settings),
        parts=part_hashes(model.settings),
        sha256=file_sha256(folder / WEIGHTS),
    )
    (folder / DESCRIPTION).write_text(about.model_dump_json(indent=2) + "\n", "utf-8")


def load(folder: Path) -> PackedFlamingo:
    """The Flamingo that `save_trained` wrote, from the parts where they were.

    Raises `UserError` where a file is missing, damaged, not described, or of another model.
    """
    from safetensors.torch import load_file

    about = _description(folder)
    for path in sorted(folder.iterdir()):
        if path.name not in (DESCRIPTION, WEIGHTS):
            raise UserError(f"Flamingo: {path} is no part of a saved Flamingo; move it elsewhere")
    check(folder / WEIGHTS, about.sha256)
    for name, found in part_hashes(about.settings).items():
        if about.parts.get(name) != found:
            raise UserError(f"Flamingo: {name} is another file than {folder} was trained with; put that one back")
    model = build(about.settings)
    if (model.vocabulary.words, model.vocabulary.added) != (about.words, about.added):
        raise UserError(f"Flamingo: {about.settings.language_model} has another vocabulary than {folder} tells of")
    put_trained(model, load_file(folder / WEIGHTS), folder / WEIGHTS)
    return model


def begin_with(model: PackedFlamingo, folder: Path) -> None:
    """Give a model the trained parameters that a folder holds, whatever its frozen parts are; or a file, which is taken
    for a checkpoint of open_flamingo.

    Raises `UserError` where a file is missing, damaged, or of another model.
    """
    from safetensors.torch import load_file

    if folder.is_file():
        load_open_flamingo(model, read(folder), str(folder))
        return
    check(folder / WEIGHTS, _description(folder).sha256)
    put_trained(model, load_file(folder / WEIGHTS), folder / WEIGHTS)


def _description(folder: Path) -> Description:
    path = folder / DESCRIPTION
    try:
        return Description.model_validate_json(path.read_bytes())
    except OSError as error:
        raise UserError(f"Flamingo: {path} cannot be read: {error.strerror}") from None
    except ValidationError as error:
        first = error.errors()[0]
        raise UserError(f"Flamingo: {path}: {'.'.join(map(str, first['loc'])) or 'JSON'}: {first['msg']}") from None


def part_hashes(settings: FlamingoSettings) -> dict[str, str]:
    """The sha256 of each file of weights that the settings name, by its path."""
    files = [p for p in sorted(Path(settings.language_model).glob("*")) if p.suffix in SUFFIXES]
    vision = Path(settings.vision)
    files += [p for p in sorted(vision.glob("*")) if p.suffix in SUFFIXES] if vision.is_dir() else []
    files += [Path(settings.vision_weights)] if settings.vision_weights else []
    return {path.as_posix(): file_sha256(path) for path in files}


def source_dtype(settings: FlamingoSettings) -> str:
    """The type of numbers that a language model's files are in, as its config says."""
    from transformers import AutoConfig

    config = AutoConfig.from_pretrained(settings.language_model, local_files_only=True)
    return str(getattr(config, "dtype", None)).removeprefix("torch.")
