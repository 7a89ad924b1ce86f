"""The numbers from inside the model are those that a plain computation gives."""

import math
import time
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from torch import nn

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.training.train.monitor.activations import ActivationMonitor
from obelics_pipeline.training.train.monitor.gates import gates
from obelics_pipeline.training.train.monitor.noise_scale import NoiseScale
from obelics_pipeline.training.train.monitor.norms import UpdateRatio, gradient_norms, parameter_groups

GROUPS = {"0": (0, "fc1"), "2": (0, "fc2"), "3": (1, "gate")}


class Gate(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.tensor([0.0, 0.5]))

    def forward(self, x: Any) -> Any:
        return (x * self.weight.tanh().sum(),)


def model() -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(6, 8), nn.GELU(), nn.Linear(8, 6), Gate())


def test_activations_are_those_of_the_groups_over_all_forwards_of_a_step() -> None:
    net = model()
    monitor = ActivationMonitor(net, GROUPS, "cpu")
    first, second = torch.randn(5, 6), torch.randn(3, 6)
    net(first)  # before the start: not measured
    monitor.start()
    net(first), net(second)
    found = monitor.read()
    made = net[0](torch.cat([first, second]))
    assert set(found) == {"0.fc1", "0.fc2", "1.gate"}
    assert found["0.fc1"].rms == pytest.approx(made.square().mean().sqrt().item(), rel=1e-5)
    assert found["0.fc1"].max == pytest.approx(made.abs().max().item())


def test_hooks_do_nothing_between_samples_and_go_away() -> None:
    net = model()
    monitor = ActivationMonitor(net, GROUPS, "cpu")
    monitor.start()
    monitor.read()
    net(torch.randn(2, 6))
    assert monitor.numbers == [0, 0, 0]
    monitor.close()
    assert not any(m._forward_hooks for m in net.modules())


def test_an_infinite_activation_is_seen() -> None:
    net = model()
    monitor = ActivationMonitor(net, {"0": (0, "fc1")}, "cpu")
    monitor.start()
    net(torch.full((2, 6), 1e38))
    assert math.isinf(monitor.read()["0.fc1"].rms)


def test_a_group_without_its_module_is_an_error() -> None:
    with pytest.raises(UserError, match="no module blocks"):
        ActivationMonitor(model(), {"blocks.9": (9, "o")}, "cpu")


def test_gradient_norms_are_by_group_and_their_squares_add_up() -> None:
    net = model()
    net[3] = nn.Linear(6, 2)
    net(torch.randn(4, 6)).square().sum().backward()
    named = dict(net.named_parameters())
    found = gradient_norms(named, parameter_groups(list(named), {"0": (0, "fc1"), "2": (0, "fc2")}))
    whole = math.sqrt(sum(p.grad.square().sum().item() for p in named.values()))
    assert set(found) == {"0.fc1", "0.fc2", "0.other"}
    assert math.hypot(*found.values()) == pytest.approx(whole, rel=1e-5)


def test_the_longest_module_name_has_the_parameter() -> None:
    groups = {"a": (0, "vision"), "a.b": (1, "o")}
    assert parameter_groups(["a.b.weight", "a.c.weight", "ab.weight"], groups) == {
        "a.b.weight": "1.o", "a.c.weight": "0.vision", "ab.weight": "0.other"
    }  # fmt: skip


def test_an_update_is_measured_beside_the_weights() -> None:
    weight = nn.Parameter(torch.full((4,), 2.0))
    ratio = UpdateRatio({"w": weight}, {"w": "0.o"})
    assert ratio.after() == {}
    ratio.before()
    with torch.no_grad():
        weight.sub_(0.02)
    assert ratio.after() == {"0.o": pytest.approx(0.01)}


def test_gates_are_the_mean_opening() -> None:
    named = dict(model().named_parameters())
    assert gates(named, parameter_groups(list(named), GROUPS)) == {"3.weight": pytest.approx(math.tanh(0.5) / 2)}


def test_the_noise_scale_of_known_noise_is_found() -> None:
    torch.manual_seed(1)
    truth = torch.full((100,), 0.3)  # |G|^2 = 9; noise of one example: trace 400
    scale, found = NoiseScale(), None
    for _ in range(300):
        parts = truth + torch.randn(4, 100) * 2 / 8  # four ranks of 64 examples
        found = scale.feed(parts.square().sum(1).mean().item(), 64, parts.mean(0).square().sum().item(), 256)
    assert found == pytest.approx(400 / 9, rel=0.2)
    assert scale.feed(1.0, 256, 1.0, 256) is None


def test_sharded_over_two_processes_the_numbers_are_those_of_one(tmp_path: Path) -> None:
    from tests.training.train.monitor.sharded_run import batch, measured, network, sharded

    torch.multiprocessing.spawn(sharded, (str(tmp_path),), nprocs=2)
    norms, activations = measured(network(), batch())
    for rank in range(2):
        theirs, seen = torch.load(tmp_path / f"rank-{rank}.pt")
        assert theirs == pytest.approx(norms, rel=1e-5)
        assert seen == pytest.approx(activations, rel=1e-5)


@pytest.mark.slow
def test_monitoring_at_every_tenth_step_costs_at_most_three_percent() -> None:
    torch.set_num_threads(1)
    net = nn.Sequential(*[nn.Sequential(nn.Linear(256, 1024), nn.GELU(), nn.Linear(1024, 256)) for _ in range(6)])
    groups = {f"{i}.{j}": (i, f"fc{j // 2 + 1}") for i in range(6) for j in (0, 2)}
    named = dict(net.named_parameters())
    group_of = parameter_groups(list(named), groups)
    x, monitor = torch.randn(512, 256), ActivationMonitor(net, groups, "cpu")

    def step(sampled: bool) -> float:
        began = time.process_time()
        if sampled:
            monitor.start()
        net(x).square().mean().backward()
        if sampled:
            gradient_norms(named, group_of)
            monitor.read()
        net.zero_grad()
        return time.process_time() - began

    step(True)
    plain, with_it = zip(*[(step(False), step(True)) for _ in range(40)], strict=True)
    assert min(with_it) - min(plain) <= 10 * 0.03 * min(plain)
