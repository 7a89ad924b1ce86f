"""The local engine without its processes: units are done here, one after the other, and a test waits for no pool."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from obelics_pipeline.core.storage import scratch_of
from obelics_pipeline.engines.local import LocalEngine
from obelics_pipeline.engines.pool import Raised


class Inline(LocalEngine):
    def __init__(self, folder: Path, *_: object) -> None:
        super().__init__(1, folder, 60.0)

    def __enter__(self) -> LocalEngine:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def _each(self, function: Callable[[Any], Any], waiting: deque[Any], /) -> Iterator[tuple[Any, Any]]:
        while waiting:
            item = waiting.popleft()
            try:
                yield item, function(item)
            except Exception as error:
                yield item, Raised(error)


@contextmanager
def runs_inline() -> Iterator[None]:
    """Runs of the command that begin in this process, while the block runs, have this engine for the local one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "obelics_pipeline.jobs.main_job._local_engine",
            lambda _workers, _stages, folder, _config: Inline(scratch_of(folder)),
        )
        yield


@contextmanager
def forgets_inline() -> Iterator[None]:
    """Commands that forget in this process, while the block runs, have this engine for the local one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "obelics_pipeline.forget.forget._local",
            lambda _workers: lambda folder, _config: Inline(scratch_of(folder)),
        )
        yield
