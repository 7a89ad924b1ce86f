"""The rows of step after step, read ahead by worker processes. Its whole state is where the next step begins."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from torch.utils.data import DataLoader, Dataset

from obelics_pipeline.training.train.collate import MicroBatch, collate
from obelics_pipeline.training.train.state.cursor import rows_of_rank
from obelics_pipeline.training.train.stored_rows import EMPTY, ReadRow, RowReader

FILLER = -1  # in place of a row's number: all ranks run as many forward passes, also where a step has too few rows


class _Readable(Dataset[ReadRow]):
    """Rows by number, for torch's loader."""

    def __init__(self, reader: RowReader) -> None:
        self._reader = reader

    def __getitem__(self, number: int) -> ReadRow:
        return EMPTY if number == FILLER else self._reader.read(number)


def micro_batches(
    steps: Iterator[Sequence[Sequence[int]]],
    reader: RowReader,
    tokens: int,
    pad: int,
    workers: int,
    ahead: int,
    pin: bool = False,
) -> Iterator[tuple[MicroBatch, ...]]:
    """The micro-batches of each step, in order, whichever process reads them.

    `steps` gives, for each step, the rows of each of its micro-batches (see `dealt`). `tokens` a row; `workers`
    processes that read, 0 for none; each reads up to `ahead` micro-batches before they are asked for.
    `pin`: put them where a GPU fetches them while it computes.
    """
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")  # or the library warns in each forked worker
    sizes: list[int] = []

    def flat() -> Iterator[Sequence[int]]:
        for step in steps:
            sizes.append(len(step))
            yield from step

    options: dict[str, Any] = {"prefetch_factor": ahead} if workers else {}
    collated = partial(collate, tokens=tokens, side=reader.side, pad=pad)
    loader = DataLoader(
        _Readable(reader),
        batch_sampler=_Batches(flat()),
        collate_fn=collated,
        num_workers=workers,
        pin_memory=pin,
        **options,
    )
    batches = iter(loader)
    for batch in batches:
        size = sizes.pop(0)
        yield (batch, *(next(batches) for _ in range(size - 1)))


class _Batches:
    """What torch calls a batch sampler, over an iterator that is used once."""

    def __init__(self, batches: Iterator[Sequence[int]]) -> None:
        self._batches = batches

    def __iter__(self) -> Iterator[list[int]]:
        return (list(batch) for batch in self._batches)


def dealt(rows: Sequence[int], rank: int, world: int, per_batch: int) -> list[list[int]]:
    """The micro-batches of one process in a step: every `world`-th row, `per_batch` at a time, filled up.

    All processes get equally many, at least one. The rows of all of them together are `rows`, each once.
    """
    mine = list(rows_of_rank(rows, rank, world))
    most = (len(rows) + world - 1) // world  # rows of the process that has most
    count = max(1, (most + per_batch - 1) // per_batch)
    mine += [FILLER] * (count * per_batch - len(mine))
    return [mine[i : i + per_batch] for i in range(0, len(mine), per_batch)]
