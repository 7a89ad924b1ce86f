"""The GPUs of this machine, told without asking CUDA: a driver that asks it holds memory of each."""

from __future__ import annotations

import os
from pathlib import Path

VISIBLE = "CUDA_VISIBLE_DEVICES"  # CUDA's own variable: which GPUs a process sees, and in which order


def gpus(devices: Path = Path("/dev")) -> list[str]:
    """Their names as CUDA_VISIBLE_DEVICES has them; where it is not set, one for each device file."""
    named = os.environ.get(VISIBLE)
    if named is None:
        return [str(number) for number, _ in enumerate(devices.glob("nvidia[0-9]*"))]
    names = [name.strip() for name in named.split(",")]
    return names[: names.index("-1")] if "-1" in names else [name for name in names if name]


def of_its_own(number: int) -> dict[str, str]:
    """The environment in which the worker of this number sees one GPU; those beyond the last share from the first."""
    found = gpus()
    return {VISIBLE: found[number % len(found)]} if found else {}
