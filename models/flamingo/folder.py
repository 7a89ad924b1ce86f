"""A Flamingo in a folder of its own: `flamingo.json`, and beside it what it names.

flamingo.json       how the parts go together, and the sha256 of each file of weights
language_model/     as transformers saves a model and its tokenizer
vision.safetensors  the vision tower
checkpoint.safetensors (or .pt)   the resampler, the gated layers, the input embeddings
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from obelics_pipeline.core.config.section import Sha256
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.models.device.weight_files import SUFFIXES, check
from obelics_pipeline.models.flamingo.parts import Parts
from obelics_pipeline.models.flamingo.weights import trained

DESCRIPTION = "flamingo.json"
LANGUAGE_MODEL = "language_model"


class Description(BaseModel):
    """What `flamingo.json` says. `vision` is a model config of open_clip, or the name of one that it knows."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    vision: dict[str, Any] | str
    vision_weights: str = "vision.safetensors"
    checkpoint: str = "checkpoint.safetensors"
    cross_attention_every: Annotated[int, Field(ge=1)]
    decoder_layers: str | None = None
    old_patch_tokens: bool = True
    sha256: dict[str, Sha256]


def read_folder(folder: Path, trust_remote_code: bool) -> Parts:
    """The parts of a local folder, each file of weights checked.

    Raises `UserError` where the description is wrong, a file is damaged, not described, or outside the folder.
    """
    path, about = folder / DESCRIPTION, _description(folder)
    for name in (about.vision_weights, about.checkpoint, *weight_files(folder / LANGUAGE_MODEL, folder)):
        if name not in about.sha256:
            raise UserError(f"Flamingo: {path}: sha256 has no entry for {name}; add it (sha256sum {folder / name})")
    for name, expected in sorted(about.sha256.items()):
        if not (folder / name).resolve().is_relative_to(folder.resolve()):
            raise UserError(f"Flamingo: {path}: sha256 names {name}, which is outside the folder")
        check(folder / name, expected)
    return Parts(
        vision=about.vision,
        vision_weights=folder / about.vision_weights,
        language_model=folder / LANGUAGE_MODEL,
        checkpoint=folder / about.checkpoint,
        cross_attention_every=about.cross_attention_every,
        decoder_layers=about.decoder_layers,
        old_patch_tokens=about.old_patch_tokens,
        trust_remote_code=trust_remote_code,
    )


def contents(folder: Path) -> dict[str, Any]:
    """All that scores of a model in a folder depend on, as JSON values, wherever the folder is.

    Files of weights count by the sha256 that the description gives, which `read_folder` compares; no large file is
    read. Raises `UserError` where the description, or a file that it names, is missing.
    """
    about = _description(folder)
    for name in (LANGUAGE_MODEL, *about.sha256):
        if not (folder / name).exists():
            raise UserError(f"Flamingo: {folder / name} is missing; {folder / DESCRIPTION} names it")
    inside = [path for path in sorted((folder / LANGUAGE_MODEL).iterdir()) if path.is_file()]
    small = [path for path in inside if path.suffix not in SUFFIXES]  # of the architecture and the tokenizer
    files = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in small}
    return {"description": about.model_dump(mode="json"), LANGUAGE_MODEL: files}


def _description(folder: Path) -> Description:
    path = folder / DESCRIPTION
    try:
        return Description.model_validate_json(path.read_bytes())
    except OSError as error:
        raise UserError(f"Flamingo: {path} cannot be read: {error.strerror}; see docs/flamingo.md") from None
    except ValidationError as error:
        first = error.errors()[0]
        raise UserError(f"Flamingo: {path}: {'.'.join(map(str, first['loc'])) or 'JSON'}: {first['msg']}") from None


def write_folder(folder: Path, flamingo: Any, vision: Mapping[str, Any] | str, cross_attention_every: int) -> None:
    """Write the vision tower, what is trained, and the description beside a `language_model/` that is there already.

    The language model is saved before the Flamingo is assembled: with the gated layers inserted, transformers cannot.
    """
    from safetensors.torch import save_file

    tower = {name: value.contiguous() for name, value in flamingo.vision_encoder.state_dict().items()}
    save_file(tower, folder / "vision.safetensors")
    save_file(trained(flamingo), folder / "checkpoint.safetensors")
    names = ["vision.safetensors", "checkpoint.safetensors", *weight_files(folder / LANGUAGE_MODEL, folder)]
    about = Description(
        vision=vision if isinstance(vision, str) else dict(vision),
        cross_attention_every=cross_attention_every,
        sha256={name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in sorted(names)},
    )
    (folder / DESCRIPTION).write_text(about.model_dump_json(indent=2) + "\n", "utf-8")


def weight_files(inside: Path, folder: Path) -> list[str]:
    """Names, from `folder`, of the files of weights inside one of its folders."""
    return sorted(p.relative_to(folder).as_posix() for p in inside.glob("*") if p.suffix in SUFFIXES)
