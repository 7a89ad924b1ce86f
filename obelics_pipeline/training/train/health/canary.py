"""Checks that numbers are right: the same work gives the same bits on all ranks, now as at first, and weights that
nobody wrote to stay as they are. The rank that differs is named."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from obelics_pipeline.training.train.guard.observation import Hardware
from obelics_pipeline.training.train.health.checksum import checksum, quick_sum

SIZE = 96
SEED = 20230530


def gradient_canary(device: torch.device | str = "cpu") -> int:
    """Checksum of the gradients of a fixed micro-batch through a small fixed network: the same on every rank, and at
    every step, of one version of the code, the libraries and the kind of GPU."""
    draw = torch.Generator().manual_seed(SEED)
    weights = [torch.randn(SIZE, SIZE, generator=draw) / SIZE**0.5 for _ in range(4)]
    leaves = [nn.Parameter(w.to(device)) for w in weights]
    x = torch.randn(2 * SIZE, SIZE, generator=draw).to(device)
    with torch.enable_grad(), torch.autocast(torch.device(device).type, enabled=False):
        for leaf in leaves:
            x = torch.nn.functional.gelu(x @ leaf) + x
        gradients = torch.autograd.grad(x.float().logsumexp(-1).mean(), leaves)
    return checksum(gradients)


class Canary:
    """The sums of all ranks, compared with each other and with the first ones."""

    def __init__(self, first: int | None = None) -> None:
        """`first`: what this version of the code gave at its first step, where it is known (it goes into checkpoints;
        drop it where versions or the kind of GPU have changed)."""
        self.first = first
        self.good_until: int | None = None

    def judge(self, step: int, sums: Sequence[int]) -> tuple[Hardware, ...]:
        """Events for the ranks that differ; none where all are as the first. `sums` by rank, gathered."""
        bad = differing(sums, self.first)
        if self.first is None and not bad:
            self.first = sums[0]
        events = tuple(Hardware("canary", f"rank {rank}", True, self.good_until) for rank in bad)
        if not bad:
            self.good_until = step
        return events

    def check(self, step: int, device: torch.device | str = "cpu", process_group: Any = None) -> tuple[Hardware, ...]:
        """Run it on all ranks, and judge. All ranks must call this; all get the same answer."""
        return self.judge(step, gathered(gradient_canary(device), device, process_group))


class StillWeights:
    """Weights do not change between two updates: `written` after the optimiser's step, `check` before the next one.

    It sees what ranks cannot see by comparing: a bit that flips in the only copy of a shard. Code that writes
    weights between the two (it loads a checkpoint, or resets them) must call `written` afterwards.
    """

    def __init__(self) -> None:
        self.kept: int | None = None
        self.good_until: int | None = None

    def written(self, step: int, tensors: Iterable[Tensor]) -> None:
        """Remember them as they are at the end of a step."""
        # a checkpoint of this step is written after this sum is made: it may have the flipped bit already
        self.kept, self.good_until = quick_sum(tensors), step - 1

    def check(
        self, tensors: Iterable[Tensor], device: torch.device | str = "cpu", process_group: Any = None
    ) -> tuple[Hardware, ...]:
        """Events for the ranks whose weights are not what they were. All ranks must call this."""
        if self.kept is None:
            return ()
        changed = gathered(int(quick_sum(tensors) != self.kept), device, process_group)
        return tuple(Hardware("weights", f"rank {r}", True, self.good_until) for r, c in enumerate(changed) if c)


def differing(sums: Sequence[int], first: int | None) -> list[int]:
    """Ranks whose sum is not the right one: the first known, else the one that most ranks have.

    Where no sum has more than half of several ranks there is no right one, and all are named.
    """
    right, times = Counter(sums).most_common(1)[0]
    if first is not None:
        right = first
    elif times == len(sums):
        return []
    elif 2 * times <= len(sums):
        return list(range(len(sums)))
    return [rank for rank, s in enumerate(sums) if s != right]


def gathered(number: int, device: torch.device | str = "cpu", process_group: Any = None) -> list[int]:
    """The number of each rank, by rank. All ranks must call this."""
    if not (torch.distributed.is_available() and torch.distributed.is_initialized()):
        return [number]
    mine = torch.tensor([number], dtype=torch.int64, device=device)
    all_of_them = [torch.zeros_like(mine) for _ in range(torch.distributed.get_world_size(process_group))]
    torch.distributed.all_gather(all_of_them, mine, group=process_group)
    return [int(n) for n in torch.cat(all_of_them).tolist()]
