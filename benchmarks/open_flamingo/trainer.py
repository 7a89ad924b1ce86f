"""open_flamingo's own modules and scripts, as its wheel has them, made to load on a machine without a GPU."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

from torch import library as operators


def declare_torchvision_operators() -> None:
    """Let a torchvision built for CUDA import beside a torch for CPUs; where its operators load, nothing happens.

    As models/device/torchvision_import.py does: this runs in an environment that does not have the project.
    """
    try:
        import torchvision
    except RuntimeError:
        for name in [name for name in sys.modules if name.partition(".")[0] == "torchvision"]:
            del sys.modules[name]
        for name in ("nms", "qnms"):
            operators.define(f"torchvision::{name}", "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
        import torchvision  # noqa: F401


declare_torchvision_operators()


def train_folder() -> Path:
    """Where `train.py` and the modules that it imports by their bare names lie."""
    found = importlib.util.find_spec("open_flamingo")
    assert found is not None and found.origin is not None, "run this in the environment of make_environment.sh"
    return Path(found.origin).parent / "train"


def data_module() -> Any:
    """Its `train/data.py`, unchanged."""
    sys.path.insert(0, str(train_folder()))
    return importlib.import_module("data")
