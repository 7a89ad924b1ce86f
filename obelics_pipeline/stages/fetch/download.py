"""img2dataset's own downloader and resizer, each bound to what it may use."""

from __future__ import annotations

import builtins
import dis
import io
import os
import urllib.request
from collections.abc import Callable
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from types import CodeType, FunctionType, SimpleNamespace
from typing import Any

from obelics_pipeline.core.errors import UserError

UrlOpen = Callable[[urllib.request.Request, float], Any]


DOWNLOAD = "download_image"  # of img2dataset.downloader, and the globals that it uses; the last for headers only
DOWNLOAD_USES = frozenset(("io", "urllib", "is_disallowed"))


def _file(name: str) -> Path:
    """A file of img2dataset. Raises UserError where it is not installed.

    A file is read by itself, because the package imports all that it has, for seconds: pandas, wandb, webdataset.
    """
    spec = find_spec("img2dataset")
    if spec is None or not spec.submodule_search_locations:
        raise _missing("there is none")
    return Path(spec.submodule_search_locations[0]) / name


def _missing(what: str) -> UserError:
    return UserError(
        f"fetching images needs img2dataset ({what}); install it with: pip install 'obelics-pipeline[images]', "
        "or set fetch.enabled: false"
    )


@cache
def _download_code() -> CodeType:
    """The code of `download_image`. Raises UserError where it is not as we know it."""
    path = _file("downloader.py")
    module = compile(path.read_bytes(), str(path), "exec")
    code = next((c for c in module.co_consts if isinstance(c, CodeType) and c.co_name == DOWNLOAD), None)
    if code is None or _globals_of(code) - DOWNLOAD_USES - vars(builtins).keys():
        raise _missing(f"{version('img2dataset')} has another {DOWNLOAD}; 1.46.0 is known")
    return code


def _globals_of(code: CodeType) -> set[str]:
    return {str(step.argval) for step in dis.get_instructions(code) if step.opname == "LOAD_GLOBAL"}


def demand_downloader() -> None:
    """Read img2dataset's downloader now. Raises UserError where it is not installed."""
    _download_code()


def download_bytes(url: str, seconds: float, urlopen: UrlOpen) -> bytes | None:
    """One image by img2dataset's `download_image`, with `urlopen` for urllib's; None where it raised.

    The code is img2dataset's, its globals are ours: nothing of the process or of a module is patched. Opt-out headers
    are our concern, not its: it takes `unavailable_after: …` for a crawler's name.
    """
    request = SimpleNamespace(Request=urllib.request.Request, urlopen=urlopen)
    download = FunctionType(_download_code(), {"io": io, "urllib": SimpleNamespace(request=request)})
    _key, stream, _error = download((url, url), seconds, None, None)
    return stream.getvalue() if isinstance(stream, io.BytesIO) else None


@cache
def _resizer() -> Any:
    """The class `Resizer`. Raises UserError where it, or what it imports, is not installed."""
    os.environ["NO_ALBUMENTATIONS_UPDATE"] = "1"  # what it imports would ask PyPI for a newer version
    spec = spec_from_file_location("img2dataset_resizer", _file("resizer.py"))
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except ImportError as error:
        raise _missing(str(error)) from None
    return module.Resizer


def make_resizer(**options: Any) -> Callable[[io.BytesIO], tuple[Any, ...]]:
    """img2dataset's `Resizer`: a callable of one image stream. Raises UserError where it is not installed."""
    resizer: Callable[[io.BytesIO], tuple[Any, ...]] = _resizer()(**options)
    return resizer
