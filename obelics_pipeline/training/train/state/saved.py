"""The state.json of a checkpoint: everything that a run needs to resume except the tensors."""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any, Literal

from pydantic import ConfigDict, Field, NonNegativeFloat, NonNegativeInt, PositiveInt, ValidationError, model_validator

from obelics_pipeline.core.config.section import Section
from obelics_pipeline.core.errors import UserError

STATE = "state.json"
LIBRARIES = ("torch", "transformers", "open_clip_torch", "safetensors", "numpy", "tokenizers", "obelics-pipeline")
_DRIVER = Path("/proc/driver/nvidia/version")


class Progress(Section):
    """How far a run is. The loop says it; `checkpoint.save` adds what it finds in model and optimiser."""

    model_config = ConfigDict(ser_json_inf_nan="constants")  # the guard's windows may hold a loss that is no number

    step: NonNegativeInt = Field(description="The last step that was done; 0: the model as it was built.")
    cursor: NonNegativeInt = Field(description="The position in the order of rows that the next step begins at.")
    attempt: PositiveInt
    skipped_updates: NonNegativeInt = Field(
        0, description="How many of the steps were read and not learned from, by the final line of attempts."
    )
    lr: NonNegativeFloat = Field(description="Of the last step.")
    weight_decay: NonNegativeFloat | None = Field(None, description="Of the last step.")
    seed: int = Field(description="Seed of the run's random numbers.")
    plan_id: str
    config: dict[str, Any] = Field(description="Resolved.")
    versions: dict[str, str] = Field(description="Of libraries, Python and driver: versions().")
    frozen: str = Field("", description="Fingerprint of the weights that are not trained: they are not copied.")
    guard: dict[str, Any] = Field({}, description="What the guard remembers.")

    @property
    def optimiser_step(self) -> int:
        """How many updates the optimiser has made."""
        return self.step - self.skipped_updates

    @model_validator(mode="after")
    def not_more_skipped_than_made(self) -> Progress:
        """A skipped update is a step too."""
        if self.skipped_updates > self.step:
            raise ValueError(f"skipped_updates is {self.skipped_updates}, and only {self.step} steps were made")
        return self


class SavedState(Progress):
    """The whole of state.json."""

    format: Literal["obelics-checkpoint-1"] = "obelics-checkpoint-1"
    world_size: PositiveInt = Field(description="Processes that wrote it; any other number may go on.")
    optimiser_steps: NonNegativeInt = Field(description="What the optimiser itself counted.")
    late: dict[str, NonNegativeInt] = Field({}, description="Parameters that made fewer updates, and how many.")
    tensors: dict[str, str] = Field(description="Trained parameters, and their type and shape.")
    moments: tuple[str, ...] = Field(description="Names of the optimiser's tensors for each parameter.")
    hyper: dict[str, Any] = Field(description="The optimiser's settings, but for those that are functions of the step.")
    parameters_fingerprint: str
    moments_fingerprint: str
    ledger_bytes: NonNegativeInt = 0
    metrics_bytes: NonNegativeInt = Field(0, description="Up to which metrics.jsonl had been written.")


@dataclass(frozen=True)
class Loaded:
    """A checkpoint as it was saved, and as it is in memory after loading: the certificate compares the two."""

    saved: SavedState
    parameters_fingerprint: str
    moments_fingerprint: str
    optimiser_steps: int
    hyper: dict[str, Any]


def read_state(checkpoint: Path) -> SavedState:
    """The state of a checkpoint's folder. Raises `UserError` where it cannot be read; `manifest.verify` comes first."""
    path = checkpoint / STATE
    try:
        return SavedState.model_validate_json(path.read_bytes())
    except OSError:
        raise UserError(f"{path}: it cannot be read; take another checkpoint") from None
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "it"
        raise UserError(f"{path}: {place}: {first['msg']}; it was written by another version") from None


def config_sha256(config: Mapping[str, Any]) -> str:
    """Name of a resolved config."""
    text = json.dumps(config, sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    """What two configs differ in: key with dots -> (old, new), None where a key is missing. Sorted by key."""
    before, after = _flat(old), _flat(new)
    return {
        key: (before.get(key), after.get(key))
        for key in sorted(before.keys() | after.keys())
        if _plain(before.get(key)) != _plain(after.get(key))
    }


@cache
def versions() -> dict[str, str]:
    """Versions of Python, of the libraries that decide figures, of the driver, and a name of all that is installed."""
    found = {"python": platform.python_version()}
    for name in LIBRARIES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    installed = sorted({f"{package.name}=={package.version}" for package in metadata.distributions()})
    found["environment"] = hashlib.sha256("\n".join(installed).encode()).hexdigest()[:12]
    if _DRIVER.exists():
        found["driver"] = _DRIVER.read_text("utf-8", "replace").splitlines()[0].strip()
    return found


def _flat(value: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, part in value.items():
        name = f"{before}{key}"
        if isinstance(part, Mapping):
            found |= _flat(part, f"{name}.")
        else:
            found[name] = part
    return found


def _plain(value: Any) -> Any:
    """A tuple, which JSON gives back as a list, is the same."""
    return [_plain(part) for part in value] if isinstance(value, list | tuple) else value
