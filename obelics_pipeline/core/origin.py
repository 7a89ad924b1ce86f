"""Code of a user's own that a config names: where it is, and what it was when the config was read."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.source_module import module_of


@dataclass(frozen=True)
class Origin:
    """A value in a module. `text` is the source of one that is a file: it goes to the workers, the file does not.

    `sha256` is that of the source, so that units are done again where it changes.
    """

    module: str  # its name, or the path of its file
    name: str
    sha256: str
    text: str | None = None

    def imported(self, place: str) -> ModuleType:
        """The module. Raises UserError, which begins with `place`, whatever the module raises."""
        try:
            return _module(self)
        except UserError:
            raise
        except BaseException as error:  # code of a user: it may even call sys.exit
            if isinstance(error, KeyboardInterrupt):
                raise
            told = f"{type(error).__name__}: {' '.join(str(error).split())}"[:300]
            raise UserError(f"{place}: {self.module} cannot be imported: {told}") from None

    def load(self) -> Any:
        """The value. Raises whatever the module raises."""
        return getattr(_module(self), self.name)


@lru_cache(maxsize=64)
def _module(origin: Origin) -> ModuleType:
    return import_module(origin.module) if origin.text is None else module_of(origin.module, origin.text)


def origin_of(use: Any, form: str) -> Origin:
    """What `FILE.py:NAME` or `MODULE:NAME` names.

    Raises ValueError where nothing is there; its line ends with `form`, which says what to give.
    """
    where, name = place_and_name(use, form)
    if where.endswith(".py"):
        text = _text_of_file(where, form)
        return Origin(where, name, hashlib.sha256(text.encode()).hexdigest(), text)
    return Origin(where, name, hashlib.sha256(_bytes_of_module(where, form)).hexdigest())


def place_and_name(use: Any, form: str) -> tuple[str, str]:
    """The parts before and after the last colon. Raises ValueError where there are no two."""
    where, _, name = use.rpartition(":") if isinstance(use, str) else ("", "", "")
    if not where or not name.isidentifier():
        raise ValueError(f"names no value of a file or module; {form}")
    return where, name


def _text_of_file(where: str, form: str) -> str:
    path = Path(where).expanduser()
    try:
        return path.read_bytes().decode()
    except OSError as error:
        raise ValueError(f"{path.absolute()} cannot be read ({error.strerror}); {form}") from None
    except UnicodeDecodeError:
        raise ValueError(f"{path.absolute()} is not UTF-8, so it is no Python file") from None


def _bytes_of_module(where: str, form: str) -> bytes:
    try:
        spec = find_spec(where)
        if spec is not None and spec.origin is not None:
            return Path(spec.origin).read_bytes()
    except Exception as error:  # the packages above a module are imported, and may raise anything
        raise ValueError(f"module {where} cannot be found ({type(error).__name__}); {form}") from None
    raise ValueError(f"module {where} is not installed; {form}")
