"""The pages of WARC files as examples to learn from, and the file that a model is written to."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TypeVar

from obelics_pipeline.core.config.reading import ReadingConfig
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.engines.local import LocalEngine
from obelics_pipeline.fit.gold import Gold, Truth
from obelics_pipeline.models.forest import Forest
from obelics_pipeline.stages.read.inputs import resolve_inputs
from obelics_pipeline.stages.read.page import Page
from obelics_pipeline.stages.read.ranges import ReadTask, plan_ranges
from obelics_pipeline.stages.read.records import read_task

Made = TypeVar("Made")

_READ_BYTES = 2**20  # compressed bytes of a WARC that a worker reads at a time
_READ_SECONDS = 3600.0  # after which a worker is given up


def read_pages(
    inputs: Sequence[str], gold: Gold, make: Callable[[Page, Truth | None], Made | None], workers: int
) -> list[Made]:
    """What `make` gives for each page and what is known of it, in their order, without None.

    Raises UserError where the pages cannot be read.
    """
    config = ReadingConfig(unit_bytes=_READ_BYTES)
    tasks = plan_ranges(resolve_inputs(inputs, config), config)
    work = partial(_made_of, config=config, gold=gold, make=make)
    with tempfile.TemporaryDirectory() as folder, LocalEngine(workers, Path(folder), _READ_SECONDS) as engine:
        try:
            return [made for found in engine.map(work, tasks) for made in found]
        except OSError as error:
            raise UserError(f"the input cannot be read: {error}") from None


def _made_of(
    task: ReadTask, config: ReadingConfig, gold: Gold, make: Callable[[Page, Truth | None], Made | None]
) -> list[Made]:
    pages = (item for item in read_task(task, config) if isinstance(item, Page))
    made = (make(page, gold.find(page)) for page in pages)
    return [example for example in made if example is not None]


def check_folder(output: Path) -> None:
    """Raises UserError where a model cannot be written because its folder is not there."""
    if not output.parent.is_dir():
        raise UserError(f"{output}: there is no folder {output.parent}")


def write_model(forest: Forest, output: Path) -> str:
    """Write a model, and tell what was written. Raises UserError if it cannot be."""
    try:
        forest.save(output)
    except OSError as error:
        raise UserError(f"{output}: cannot be written ({error.strerror})") from None
    return f"wrote {output}: {len(forest.roots)} trees, {len(forest.nodes)} nodes, {len(forest.features)} features"
