"""A model spread over processes by FSDP2: each holds a part of every parameter."""

from __future__ import annotations

import torch
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard

from obelics_pipeline.models.packed_flamingo.model import PackedFlamingo
from obelics_pipeline.training.train.processes import Processes


def distribute(model: PackedFlamingo, processes: Processes, precision: str, compiled: bool = False) -> PackedFlamingo:
    """Move a model to its device and deal it out, block by block, in place. `compiled`: compile each block as well.

    Parameters and gradients are summed in float32, whatever the products are computed in; bfloat16 loses a tenth of a
    percent at each of thousands of sums. A process alone keeps the model whole. Each process moves all of it to its
    device first: a model must fit one.
    """
    model.to(processes.device)
    for block in model.blocks() if compiled else ():
        # not the module: gated layers hang before blocks as hooks, as does what gathers a sharded block's weights
        setattr(block, "forward", torch.compile(block.forward))  # noqa: B010, for mypy a method
    if not processes.several:
        return model
    kind = torch.bfloat16 if precision == "bfloat16" else torch.float32
    policy = MixedPrecisionPolicy(param_dtype=kind, reduce_dtype=torch.float32)
    for block in model.blocks():
        fully_shard(block, mp_policy=policy)
    fully_shard(model, mp_policy=policy)
    return model
