"""Importing torchvision beside a torch for another device: open_clip wants it."""

from __future__ import annotations

import sys
from importlib.util import find_spec


def mend_torchvision() -> None:
    """What `import_torchvision` does, where there is a torchvision: transformers imports one that it finds."""
    if find_spec("torch") is not None and find_spec("torchvision") is not None:
        import_torchvision()


def import_torchvision() -> None:
    """Import torchvision beside a torch for another device too. Raises ImportError if it is missing.

    PyPI's torchvision is built for CUDA. Beside a CPU build of torch its C++ operators do not load, and the import
    fails as it registers the shape functions of two of them (`operator torchvision::nms does not exist`). open_clip
    imports torchvision and uses neither, so a declaration will do. If the operators load, no declaration is made.
    """
    try:
        import torchvision
    except RuntimeError:
        for name in [name for name in sys.modules if name.partition(".")[0] == "torchvision"]:
            del sys.modules[name]  # half imported
        _declare_operators()
        import torchvision  # noqa: F401


def _declare_operators() -> None:
    from torch import library as operators

    for name in ("nms", "qnms"):
        operators.define(f"torchvision::{name}", "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
