"""A model of a few weights and a run of a few steps, for the tests of checkpoints; and, as a program, the part of them
that needs two processes."""

import json
import sys
from pathlib import Path

import torch
import torch.distributed as dist
from safetensors.torch import save_file

from obelics_pipeline.training.train.state import checkpoint
from obelics_pipeline.training.train.state.saved import Progress, versions

LR = 0.01


class Model(torch.nn.Module):
    """Parameters of such shapes that two processes share them unevenly: of one row, of five, of one number."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(seed)
        self.first = torch.nn.Linear(3, 5)
        self.second = torch.nn.Linear(5, 1)
        self.gate = torch.nn.Parameter(torch.zeros(1))
        with torch.no_grad():
            for parameter in self.parameters():
                parameter.copy_(torch.randn(parameter.shape, generator=generator))

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        return self.second(torch.tanh(self.first(values))) * (1 + self.gate)


def optimiser_of(model: torch.nn.Module, **settings: object) -> torch.optim.AdamW:
    return torch.optim.AdamW(model.parameters(), **{"lr": LR, "betas": (0.9, 0.95), "weight_decay": 0.1, **settings})


def train(model: torch.nn.Module, optimiser: torch.optim.Optimizer, first: int, last: int) -> None:
    """Steps `first` to `last`, each on numbers of its own; every rank takes the same."""
    for step in range(first, last + 1):
        values = torch.randn(8, 3, generator=torch.Generator().manual_seed(step))
        model(values).square().mean().backward()
        optimiser.step()
        optimiser.zero_grad()


def progress(step: int, **values: object) -> Progress:
    common = {"cursor": step * 8, "attempt": 1, "lr": LR, "weight_decay": 0.1, "seed": 7, "plan_id": "a-plan"}
    config = {"optimiser": {"beta2": 0.95}, "log": {"every": 1}}
    return Progress(**{**common, "step": step, "config": config, "versions": versions(), **values})


def whole(model: torch.nn.Module, optimiser: torch.optim.Optimizer) -> dict[str, torch.Tensor]:
    """All weights and moments, gathered."""
    tensors = {}
    for name, parameter in model.named_parameters():
        state = {f"{key}.{name}": value for key, value in optimiser.state[parameter].items()}
        tensors |= {name: parameter.detach(), **state}
    return {k: (v.full_tensor() if hasattr(v, "full_tensor") else v).clone() for k, v in tensors.items()}


def equal(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> bool:
    return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)


def _sharded(seed: int) -> Model:
    from torch.distributed.fsdp import fully_shard

    model = Model(seed)
    fully_shard(model.first)
    fully_shard(model)
    return model


def _two_processes(folder: Path, of_one: Path, background: bool) -> None:
    """Save, load and go on, sharded; load what one process has saved."""
    model = _sharded(1)
    optimiser = optimiser_of(model)
    train(model, optimiser, 1, 2)
    group = dist.new_group(backend="gloo") if background else None
    saving = checkpoint.save(
        folder / "checkpoints",
        progress(2),
        dict(model.named_parameters()),
        optimiser,
        background=background,
        group=group,
    )
    at_two = whole(model, optimiser)
    train(model, optimiser, 3, 4)  # while it is written
    path, at_four = saving.wait(), whole(model, optimiser)
    dist.barrier()

    again = _sharded(2)
    fresh = optimiser_of(again)
    loaded = checkpoint.load(path, dict(again.named_parameters()), fresh)
    found = {
        "bitwise": equal(whole(again, fresh), at_two),
        "fingerprints": loaded.parameters_fingerprint == loaded.saved.parameters_fingerprint
        and loaded.moments_fingerprint == loaded.saved.moments_fingerprint,
    }
    train(again, fresh, 3, 4)
    found["goes on"] = equal(whole(again, fresh), at_four)

    other = _sharded(3)
    fresh = optimiser_of(other)
    loaded = checkpoint.load(of_one, dict(other.named_parameters()), fresh)
    found["of one process"] = loaded.parameters_fingerprint == loaded.saved.parameters_fingerprint
    values = whole(other, fresh)
    if dist.get_rank() == 0:
        save_file(at_two, folder / "at_two.safetensors")
        save_file(values, folder / "of_one.safetensors")
        (folder / "found.json").write_text(json.dumps(found))


if __name__ == "__main__":
    dist.init_process_group("gloo")
    for background in (False, True):
        folder = Path(sys.argv[1]) / ("background" if background else "waited")
        _two_processes(folder, Path(sys.argv[2]), background)
    dist.destroy_process_group()
