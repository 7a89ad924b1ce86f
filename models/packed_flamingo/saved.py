"""What a Flamingo has learned, in a folder: `flamingo.json` beside `trained.safetensors`.

Frozen weights are not copied: the settings name the folders that they come from, and the description has the sha256 of
each file by the part and the file's name, and where each part lay from the folder. So a folder that was moved opens
where its parts are where the settings say, or lie as they did from it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import torch
from pydantic import BaseModel, ConfigDict, ValidationError

from obelics_pipeline.core.config.section import Sha256
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.storage import file_sha256
from obelics_pipeline.models.device.weight_files import SUFFIXES, check, read
from obelics_pipeline.models.packed_flamingo.builder import build
from obelics_pipeline.models.packed_flamingo.exchange import load_open_flamingo
from obelics_pipeline.models.packed_flamingo.model import PackedFlamingo
from obelics_pipeline.models.packed_flamingo.settings import FlamingoSettings

DESCRIPTION, WEIGHTS = "flamingo.json", "trained.safetensors"
FORMAT: Literal["packed-flamingo-1"] = "packed-flamingo-1"
PARTS = ("language_model", "vision", "vision_weights")  # settings that name files


class Description(BaseModel):
    """What `flamingo.json` says. `source_dtype` is that of the language model's files.

    `parts`: sha256 of the files of frozen weights, as `part_hashes` gives them (by their paths, in older ones).
    `places`: where each part lay, from the folder of this file; of older ones nobody knows.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    format: Literal["packed-flamingo-1"] = FORMAT
    settings: FlamingoSettings
    words: int
    added: tuple[str, ...]
    source_dtype: str
    parts: dict[str, Sha256]
    places: dict[str, str] = {}
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
        places={part: os.path.relpath(path, folder) for part, path in _lying(model.settings).items()},
        sha256=file_sha256(folder / WEIGHTS),
    )
    (folder / DESCRIPTION).write_text(about.model_dump_json(indent=2) + "\n", "utf-8")


def load(folder: Path) -> PackedFlamingo:
    """The Flamingo that `save_trained` wrote, from the parts where the settings say, or else as they lay from it.

    Raises `UserError` where a file is missing, damaged, not described, or of another model.
    """
    from safetensors.torch import load_file

    about = _description(folder)
    for path in sorted(folder.iterdir()):
        if path.name not in (DESCRIPTION, WEIGHTS):
            raise UserError(f"Flamingo: {path} is not part of a saved Flamingo; move it elsewhere")
    check(folder / WEIGHTS, about.sha256)
    settings = _found(about, folder)
    _check_parts(_by_name(about), settings, folder)
    model = build(settings)
    if (model.vocabulary.words, model.vocabulary.added) != (about.words, about.added):
        raise UserError(f"Flamingo: {settings.language_model} has another vocabulary than {folder} records")
    put_trained(model, load_file(folder / WEIGHTS), folder / WEIGHTS)
    return model


def _check_parts(expected: Mapping[str, str], settings: FlamingoSettings, folder: Path) -> None:
    found = part_hashes(settings)
    for name in sorted(expected.keys() | found.keys()):
        part, _, file = name.partition("/")
        path = Path(str(getattr(settings, part, part))) / file
        how = (
            f"put back what {folder} was trained with, or write its place into {folder / DESCRIPTION}: settings.{part}"
        )
        if name not in found:
            raise UserError(f"Flamingo: {part}: {path} is not there; {how}")
        if expected.get(name) != found[name]:
            raise UserError(f"Flamingo: {part}: {path} is another file than {folder} was trained with; {how}")


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
    """The sha256 of each file of frozen weights, by its part and its name: "language_model/model.safetensors"."""
    return {name: file_sha256(path) for name, path in _part_files(settings).items()}


def _part_files(settings: FlamingoSettings) -> dict[str, Path]:
    found = {"vision_weights": Path(settings.vision_weights)} if settings.vision_weights else {}
    for part, path in _lying(settings).items():
        if path.is_dir():
            found |= {f"{part}/{file.name}": file for file in sorted(path.glob("*")) if file.suffix in SUFFIXES}
    return found


def _lying(settings: FlamingoSettings) -> dict[str, Path]:
    """The parts that are files or folders, by the name of their setting; a tower that open_clip knows is neither."""
    named = {part: getattr(settings, part) for part in PARTS}
    return {part: Path(path) for part, path in named.items() if path is not None and Path(path).exists()}


def _found(about: Description, folder: Path) -> FlamingoSettings:
    """The settings with the present paths of the parts. Raises `UserError` for a part that is not found."""
    there, now = _lying(about.settings), dict[str, str]()
    for part, place in about.places.items():
        if part in there:
            continue
        path = folder / place
        if not path.exists():
            raise UserError(
                f"Flamingo: {part}: not found at {getattr(about.settings, part)} or at {path}; "
                f"put it there, or write its path into {folder / DESCRIPTION}, settings.{part}"
            )
        now[part] = os.path.normpath(path)
    return about.settings.model_copy(update=now)


def _by_name(about: Description) -> dict[str, str]:
    """The sha256 of the parts' files as `part_hashes` names them, also where a description has their paths."""
    folders = {Path(about.settings.language_model).as_posix(): "language_model"}
    folders |= {Path(about.settings.vision).as_posix(): "vision"}
    weights = about.settings.vision_weights
    named = {}
    for name, sha256 in about.parts.items():
        parent = Path(name).parent.as_posix()
        if weights is not None and Path(name) == Path(weights):
            named["vision_weights"] = sha256
        else:
            named[f"{folders[parent]}/{Path(name).name}" if parent in folders else name] = sha256
    return named


def source_dtype(settings: FlamingoSettings) -> str:
    """The type of numbers that a language model's files are in, as its config says."""
    from transformers import AutoConfig

    config = AutoConfig.from_pretrained(settings.language_model, local_files_only=True, trust_remote_code=False)
    return str(getattr(config, "dtype", None)).removeprefix("torch.")
