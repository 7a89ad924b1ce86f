"""open_flamingo's own modules and scripts, as its wheel has them, made to load on a machine without a GPU."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import torch


def declare_torchvision_operators() -> list[Any]:
    """Let a torchvision built for CUDA import beside a torch for CPUs; where its library loads, nothing happens."""
    libraries: list[Any] = []
    try:
        import torchvision
    except RuntimeError:
        for name in [name for name in sys.modules if name.partition(".")[0] == "torchvision"]:
            del sys.modules[name]
        library = torch.library.Library("torchvision", "DEF")
        library.define("nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
        library.define("qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
        libraries.append(library)
        import torchvision  # noqa: F401
    return libraries  # they hold for as long as these objects live


KEPT = declare_torchvision_operators()


def train_folder() -> Path:
    """Where `train.py` and the modules that it imports by their bare names lie."""
    found = importlib.util.find_spec("open_flamingo")
    assert found is not None and found.origin is not None, "run this in the environment of make_environment.sh"
    return Path(found.origin).parent / "train"


def data_module() -> Any:
    """Its `train/data.py`, unchanged."""
    sys.path.insert(0, str(train_folder()))
    return importlib.import_module("data")
