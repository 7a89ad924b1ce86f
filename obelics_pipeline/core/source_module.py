"""A module made of its source: code of a user's own, of which a worker has the text and not the file."""

from __future__ import annotations

import hashlib
import sys
from functools import lru_cache
from importlib.abc import InspectLoader
from importlib.machinery import ModuleSpec
from importlib.util import module_from_spec
from types import ModuleType
from typing import Any


@lru_cache(maxsize=64)
def module_of(path: str, source: str) -> ModuleType:
    """The module that a source makes. Its name follows from the source, so an edited file is another module.

    `path` is where the source came from, for tracebacks. Raises whatever the source raises.
    """
    name = f"obelics_own_{hashlib.sha256(source.encode()).hexdigest()[:16]}"
    spec = ModuleSpec(name, _Source(path, source), origin=path)
    module = module_from_spec(spec)
    module.__file__ = path
    sys.modules[name] = module  # dataclasses and pickle look it up there
    try:
        assert spec.loader is not None
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


class _Source(InspectLoader):
    """Imports a module from a text that the config brought."""

    def __init__(self, path: str, source: str) -> None:
        self._path, self._text = path, source

    def get_source(self, fullname: str) -> str:
        return self._text

    def get_code(self, fullname: str) -> Any:
        return self.source_to_code(self._text, self._path)

    def is_package(self, fullname: str) -> bool:
        return False
