"""img2dataset's own downloader and resizer, each bound to what it may use."""

from __future__ import annotations

import io
import os
import urllib.request
from collections.abc import Callable
from functools import cache
from types import FunctionType, ModuleType, SimpleNamespace
from typing import Any

from obelics_pipeline.errors import UserError

UrlOpen = Callable[[urllib.request.Request, float], Any]


@cache
def _module(name: str) -> ModuleType:
    """A module of img2dataset. Raises UserError where it is not installed. Takes seconds the first time."""
    os.environ["NO_ALBUMENTATIONS_UPDATE"] = "1"  # its resizer's import would ask PyPI for a newer version
    try:
        import img2dataset.downloader
        import img2dataset.resizer
    except ImportError as error:
        raise UserError(
            f"fetching images needs img2dataset ({error}); install it with: pip install 'obelics-pipeline[images]', "
            "or set fetch.enabled: false"
        ) from None
    modules: dict[str, ModuleType] = {"downloader": img2dataset.downloader, "resizer": img2dataset.resizer}
    return modules[name]


def demand_downloader() -> None:
    """Import img2dataset now. Raises UserError where it is not installed."""
    _module("downloader")


def download_bytes(url: str, seconds: float, urlopen: UrlOpen) -> bytes | None:
    """One image by img2dataset's `download_image`, with `urlopen` for urllib's; None where it raised.

    The function is img2dataset's, its globals are a copy in which `urllib` is ours: nothing of the process or of the
    module is patched. Opt-out headers are our concern, not its: it takes `unavailable_after: …` for a crawler's name.
    """
    module = _module("downloader")
    own = {"urllib": SimpleNamespace(request=SimpleNamespace(Request=urllib.request.Request, urlopen=urlopen))}
    download = FunctionType(module.download_image.__code__, {**vars(module), **own})
    _key, stream, _error = download((url, url), seconds, None, None)
    return stream.getvalue() if isinstance(stream, io.BytesIO) else None


def make_resizer(**options: Any) -> Callable[[io.BytesIO], tuple[Any, ...]]:
    """img2dataset's `Resizer`: a callable of one image stream. Raises UserError where it is not installed."""
    resizer: Callable[[io.BytesIO], tuple[Any, ...]] = _module("resizer").Resizer(**options)
    return resizer
