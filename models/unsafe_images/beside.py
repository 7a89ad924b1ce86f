"""What stands beside a published model: its labels, and how it wants its images. JSON that we did not write."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.models.pictures.pixels import Fit, Interpolation

MAX_BYTES = 2**24  # of such a file
MAX_SIDE = 4096  # pixels
BICUBIC = 3  # of PIL's numbers of kernels, as preprocessor_config.json has them

Kind = TypeVar("Kind", bound=BaseModel)


class Preparation(BaseModel):
    """The keys of `preprocessor_config.json` that matter here; all may be absent."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    size: int | dict[str, int | None] | None = None
    crop_size: int | dict[str, int | None] | None = None
    do_center_crop: bool | None = None
    image_mean: tuple[float, float, float] | None = None
    image_std: tuple[float, float, float] | None = None
    do_normalize: bool | None = None
    resample: int | None = None

    def side(self) -> int | None:
        """Pixels of the square that the model sees; None where the file does not say."""
        told = self.crop_size if self.do_center_crop and self.crop_size else self.size
        side = told if isinstance(told, int) else next((v for v in (told or {}).values() if v), None)
        if side is not None and not 0 < side <= MAX_SIDE:
            raise UserError(f"preprocessor_config.json: size {side}: must be 1 to {MAX_SIDE} pixels")
        return side

    def fit(self) -> Fit | None:
        """Whether the whole image is pressed into the square, or its middle taken."""
        if self.size is None:
            return None
        shortest = self.do_center_crop or (isinstance(self.size, dict) and "shortest_edge" in self.size)
        return "shortest" if shortest else "squash"

    def interpolation(self) -> Interpolation | None:
        """Bicubic where the file says so; every other kernel is near enough to bilinear."""
        return None if self.resample is None else "bicubic" if self.resample == BICUBIC else "bilinear"

    def colours(self) -> tuple[tuple[float, float, float] | None, tuple[float, float, float] | None]:
        """Mean and standard deviation; 0 and 1 where the file says that nothing is normalised."""
        if self.do_normalize is False:
            return (0.0, 0.0, 0.0), (1.0, 1.0, 1.0)
        return self.image_mean, self.image_std


class _Labels(BaseModel):
    model_config = ConfigDict(extra="ignore")

    id2label: dict[int, str] = Field(default_factory=dict)


def preparation(folder: Path) -> Preparation:
    """What the folder says of images; all unknown where it says nothing. Raises UserError for a broken file."""
    return _read(folder / "preprocessor_config.json", Preparation)


def labels(folder: Path, setting: str) -> tuple[str, ...] | None:
    """The names of the outputs, in order; None where the folder has none. Raises UserError for a broken file."""
    return ordered(_read(folder / "config.json", _Labels).id2label, setting)


def ordered(id2label: dict[int, str], setting: str) -> tuple[str, ...] | None:
    """Names by number as a tuple. Raises UserError where a number is missing; `setting` names the model in a config."""
    if sorted(id2label) != list(range(len(id2label))):
        raise UserError(f"{setting}: id2label of the model leaves out a number; give labels in the config")
    return tuple(id2label[i] for i in range(len(id2label))) or None


def _read(path: Path, kind: type[Kind]) -> Kind:
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        return kind()
    try:
        if len(content) > MAX_BYTES:
            raise ValueError("too large")
        return kind.model_validate(json.loads(content))
    except ValidationError as error:
        first = error.errors()[0]
        raise UserError(f"{path}: {'.'.join(map(str, first['loc']))}: {first['msg']}") from None
    except (ValueError, RecursionError) as error:
        raise UserError(f"{path}: is not JSON that can be read ({' '.join(str(error).split())[:100]})") from None
