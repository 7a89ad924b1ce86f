"""`obelics evaluate` from the command line: what it needs is looked for before anything is read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.models.device.torchvision_import import mend_torchvision


def evaluate_beside(
    location: Path,
    plan: Path,
    output: Path | None,
    wanted: Mapping[str, Any],
    say: Callable[[str], None],
    watch: bool,
    every: float,
) -> int:
    """See `command.evaluate_location`; `wanted` are the values of `Wanted`. Returns the exit code. Raises UserError."""
    try:
        import torch  # noqa: F401

        mend_torchvision()
        import imagehash  # noqa: F401
        from transformers.utils.logging import disable_progress_bar
    except ImportError as error:
        raise UserError(
            f"evaluate needs the package {error.name}: pip install 'obelics-pipeline[train,images]'"
        ) from None
    disable_progress_bar()
    from obelics_pipeline.training.experiments.evaluate.command import FOLDER, Wanted, evaluate_location

    output = output or location / FOLDER
    done = evaluate_location(location, plan, output, Wanted(**wanted), say, watch, every)
    say(f"{done} evaluated, in {output}")
    return 0
