"""What a CLIP is: an architecture in open_clip's form, by its name or from a JSON file, and how it wants its images."""

from __future__ import annotations

import json
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.models.pictures.pixels import Fit, Interpolation

Channels = Annotated[tuple[float, float, float], Field(description="red, green, blue")]

# Mean and standard deviation of RGB in the training data of CLIP: open_clip.constants.OPENAI_DATASET_MEAN and _STD.
MEAN = (0.48145466, 0.4578275, 0.40821073)
STD = (0.26862954, 0.26130258, 0.27577711)


class Preprocessing(BaseModel):
    """How a tower was shown images: the keys and defaults of open_clip's `PreprocessCfg` that matter here."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    mean: Channels = MEAN
    std: Channels = STD
    interpolation: Interpolation = "bicubic"
    resize_mode: Fit = "shortest"


class _OpenClipFile(BaseModel):
    """`open_clip_config.json`, as published models have it."""

    model_cfg: dict[str, Any]
    preprocess_cfg: Preprocessing = Preprocessing()


class Architecture(BaseModel):
    """`config` is a model config of open_clip. One from a file in `folder` has no `name` (None)."""

    model_config = ConfigDict(frozen=True)

    name: str | None
    config: dict[str, Any]
    preprocessing: Preprocessing
    folder: Path | None = None


def architecture(model: str) -> Architecture:
    """An architecture by the name that open_clip has for it, or from a JSON file.

    The file is in the form of open_clip's `model_configs/*.json`, or of a published `open_clip_config.json`, which says
    how images are prepared too. Raises `UserError` for a name that open_clip does not know and a file that is not so.
    """
    path = Path(model).expanduser()
    if path.suffix == ".json" or path.is_file():
        return _from_file(path)
    return _by_name(model)


def _from_file(path: Path) -> Architecture:
    try:
        values = json.loads(path.read_bytes())
        whole = values if isinstance(values, dict) and "model_cfg" in values else {"model_cfg": values}
        found = _OpenClipFile.model_validate(whole)
    except OSError as error:
        raise UserError(f"similarity: model {path} cannot be read: {error.strerror}") from None
    except ValidationError as error:
        first = error.errors()[0]
        raise UserError(f"similarity: model {path}: {'.'.join(map(str, first['loc']))}: {first['msg']}") from None
    except ValueError as error:
        raise UserError(f"similarity: model {path} is no JSON: {error}") from None
    return Architecture(
        name=None, config=found.model_cfg, preprocessing=found.preprocess_cfg, folder=path.resolve().parent
    )


def _by_name(name: str) -> Architecture:
    import open_clip

    found = open_clip.get_model_config(name) if name in open_clip.list_models() else None
    if found is None:  # a name like hf-hub:… would be fetched
        near = get_close_matches(name, open_clip.list_models(), 3, 0) or ["ViT-B-32"]
        raise UserError(
            f"similarity: model {name} is neither an architecture of open_clip (nearest: {', '.join(near)}; all: "
            "open_clip.list_models()) nor a JSON file of one"
        )
    return Architecture(name=name, config=found, preprocessing=usual_preprocessing(name))


def usual_preprocessing(name: str) -> Preprocessing:
    """How open_clip's published weights of an architecture want images; its defaults where they disagree, or none is.

    They disagree for 3 of the 144 architectures of open_clip 3.3 (ViT-L-14, ViT-H-14 and its QuickGELU twin).
    """
    import open_clip

    tags = open_clip.list_pretrained_tags_by_model(name)
    found = {Preprocessing(**published(name, tag)) for tag in tags}
    return found.pop() if len(found) == 1 else Preprocessing()


def published(name: str, tag: str) -> Mapping[str, Any]:
    """What open_clip knows of weights that it publishes: where they are, and how images are prepared. Else empty."""
    from open_clip.pretrained import get_pretrained_cfg

    found: Mapping[str, Any] = get_pretrained_cfg(name, tag)
    return {key: value for key, value in found.items() if value is not None}
