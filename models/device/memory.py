"""Batches that turn out too large for the device."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def in_halves(run: Callable[[Sequence[Item]], Sequence[Result]], batch: Sequence[Item]) -> list[Result]:
    """`run(batch)`, a result for each member; where memory runs out, of each half by itself, and so on.

    Nothing is remembered: what one batch could not hold must not change how the next unit's batches form. Raises what
    `run` raised where one member alone is too much.
    """
    try:
        return list(run(batch))
    except RuntimeError as error:  # torch.OutOfMemoryError is one
        if len(batch) == 1 or not is_out_of_memory(error):
            raise
    _release()  # behind the handler: the traceback holds the tensors of the batch that failed
    middle = len(batch) // 2
    return in_halves(run, batch[:middle]) + in_halves(run, batch[middle:])


def is_out_of_memory(error: BaseException) -> bool:
    """Whether torch raised this because the memory of a device, or of the machine, is spent."""
    import torch

    # torch gives the CPU's allocator no exception of its own (c10/core/impl/alloc_cpu.cpp)
    return isinstance(error, torch.OutOfMemoryError) or "can't allocate memory" in str(error)


def _release() -> None:
    """Give cached blocks back, so that a smaller batch finds them whole."""
    import torch

    if torch.cuda.is_available():
        torch.cuda.empty_cache()
