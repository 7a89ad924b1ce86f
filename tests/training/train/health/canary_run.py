"""What each of two processes does in the test of the canary: a module of its own, for a process to import it."""

from pathlib import Path

import torch
from torch import nn

from obelics_pipeline.training.train.health.canary import Canary, StillWeights


def flip(weight: torch.Tensor, place: int, bit: int) -> None:
    """One bit of one float32."""
    weight.data.view(-1)[place : place + 1].view(torch.int32).bitwise_xor_(1 << bit)


def watched(rank: int, folder: str) -> None:
    """The second rank's weight has its lowest bit flipped between two steps."""
    torch.set_num_threads(1)
    torch.distributed.init_process_group("gloo", init_method=f"file://{folder}/store", rank=rank, world_size=2)
    torch.manual_seed(0)
    weight = nn.Parameter(torch.randn(40, 40))
    canary, still = Canary(), StillWeights()
    said = {"sound": [*canary.check(3, "cpu"), *still.check([weight])]}
    still.written(3, [weight])
    if rank == 1:
        flip(weight, 123, 0)
    said["weights"] = list(still.check([weight]))
    said["canary"] = list(canary.check(4, "cpu"))
    Path(folder, f"rank-{rank}.txt").write_text(repr(said), encoding="utf-8")
    torch.distributed.destroy_process_group()
