"""What each of two processes does in the test of sharded norms: a module of its own, for a process to import it."""

import torch
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

from obelics_pipeline.training.train.monitor.activations import ActivationMonitor
from obelics_pipeline.training.train.monitor.norms import gradient_norms, parameter_groups

GROUPS = {"0": (0, "fc1"), "2": (0, "fc2")}


def network() -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(6, 8), nn.GELU(), nn.Linear(8, 6))


def batch() -> torch.Tensor:
    torch.manual_seed(5)
    return torch.randn(8, 6)


def measured(net: nn.Module, x: torch.Tensor) -> tuple[dict[str, float], dict[str, float]]:
    """Gradient norms and root mean squares of activations."""
    monitor = ActivationMonitor(net, GROUPS, "cpu")
    monitor.start()
    net(x).square().mean().backward()
    named = dict(net.named_parameters())
    norms = gradient_norms(named, parameter_groups(list(named), GROUPS))
    return norms, {name: a.rms for name, a in monitor.read().items()}


def sharded(rank: int, folder: str) -> None:
    """One of two ranks, with half of the batch."""
    torch.set_num_threads(1)
    torch.distributed.init_process_group("gloo", init_method=f"file://{folder}/store", rank=rank, world_size=2)
    net = network()
    fully_shard(net, mesh=init_device_mesh("cpu", (2,)))
    torch.save(measured(net, batch()[4 * rank : 4 * rank + 4]), f"{folder}/rank-{rank}.pt")
    torch.distributed.destroy_process_group()
