"""img2dataset's resizer, read from its own file: the package imports all that it has, for seconds."""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

from obelics_pipeline.core.errors import UserError


@cache
def _resizer() -> Any:
    """The class `Resizer`. Raises UserError where it, or what it imports, is not installed."""
    os.environ["NO_ALBUMENTATIONS_UPDATE"] = "1"  # what it imports would ask PyPI for a newer version
    spec = spec_from_file_location("img2dataset_resizer", resizer_file())
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except ImportError as error:
        raise _missing(str(error)) from None
    return module.Resizer


def resizer_file() -> Path:
    """Where it is. Raises UserError where img2dataset is not installed."""
    package = find_spec("img2dataset")
    if package is None or not package.submodule_search_locations:
        raise _missing("there is none")
    return Path(package.submodule_search_locations[0]) / "resizer.py"


def _missing(what: str) -> UserError:
    return UserError(
        f"fetch.reencode needs img2dataset ({what}); install it with: pip install 'obelics-pipeline[img2dataset]', or "
        "set fetch.reencode: never"
    )


def make_resizer(**options: Any) -> Callable[[io.BytesIO], tuple[Any, ...]]:
    """img2dataset's `Resizer`: a callable of one image stream. Raises UserError where it is not installed."""
    resizer: Callable[[io.BytesIO], tuple[Any, ...]] = _resizer()(**options)
    return resizer
