"""`webdataset`, to write and read tars with, but without torch, which it imports wherever it is installed."""

from __future__ import annotations

import sys
from functools import cache
from importlib import import_module
from types import ModuleType


@cache
def webdataset_parts() -> ModuleType:
    """The package, for `TarWriter` and `tariterators`, which have no use for torch: seconds, and hundreds of MB.

    Torch is loaded already in a process that trains. Elsewhere the package is imported as if there were none, and who
    imports it by its name afterwards gets it whole.
    """
    if "torch" in sys.modules or "webdataset" in sys.modules:
        return import_module("webdataset")
    sys.modules["torch"] = None  # type: ignore[assignment]  # how Python spells that an import fails
    try:
        return import_module("webdataset")
    finally:
        for name in [name for name in sys.modules if name == "torch" or name.partition(".")[0] == "webdataset"]:
            del sys.modules[name]
