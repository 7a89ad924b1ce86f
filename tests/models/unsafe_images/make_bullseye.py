"""Trains bullseye.onnx, which the tests classify with: two minutes of one core. Needs torch and onnx; the tests do not.

python -m tests.models.unsafe_images.make_bullseye
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from tests.models.unsafe_images.drawings import NEAR, bullseye, encoded, near_miss

SIDE = 64  # pixels
FILE = Path(__file__).parent / "bullseye.onnx"
SEEDS = range(100_000, 102_400)  # the tests draw with others


def examples() -> tuple[Any, Any]:
    """Pictures as JPEG files give them back, and which are bullseyes."""
    from obelics_pipeline.models.pictures.pixels import picture

    images, labels = [], []
    for seed in SEEDS:
        drawn = [(bullseye(96 + seed % 160, seed), 1), (near_miss(NEAR[seed % len(NEAR)], 96 + seed % 160, seed), 0)]
        for image, label in drawn:
            shown = picture(encoded(image, quality=70 + seed % 25), SIDE, "squash", "bilinear")
            assert shown is not None
            images.append(shown)
            labels.append(label)
    return np.stack(images), np.array(labels)


def network() -> Any:
    """Four convolutions, each half as wide as what it sees, and a layer over all of the last."""
    from torch import nn

    def block(a: int, b: int) -> list[Any]:
        return [nn.Conv2d(a, b, 3, stride=2, padding=1), nn.ReLU()]

    return nn.ModuleDict(
        {
            "body": nn.Sequential(*block(3, 12), *block(12, 24), *block(24, 32), *block(32, 32)),
            "head": nn.Linear(512, 2),
        }
    )


def forward(model: Any, pixels: Any) -> Any:
    return model["head"](model["body"](pixels).flatten(1))


def train() -> Any:
    import torch
    from torch.nn.functional import cross_entropy

    torch.manual_seed(0)
    torch.set_num_threads(1)
    images, labels = examples()
    pixels = (torch.from_numpy(images).permute(0, 3, 1, 2).float() / 255 - 0.5) / 0.5
    wanted = torch.from_numpy(labels)
    model = network()
    steps = 1400
    optimiser = torch.optim.AdamW(model.parameters(), 2e-3, weight_decay=1e-2)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, 4e-3, steps)
    for step in range(steps):
        at = torch.randint(0, len(pixels), (128,))
        batch = pixels[at]
        if step % 2:
            batch = batch.flip(3)
        if step % 3:
            batch = batch.transpose(2, 3)
        loss = cross_entropy(forward(model, batch), wanted[at], label_smoothing=0.02)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        schedule.step()
    return model


def to_onnx(model: Any) -> bytes:
    """The network as a file: opset 17, one input (n, 3, 64, 64), one output (n, 2)."""
    from onnx import TensorProto, checker, helper, numpy_helper

    nodes, weights, at = [], [], "pixels"
    convolutions = [layer for layer in model["body"] if hasattr(layer, "weight")]
    for n, layer in enumerate(convolutions):
        for part in ("weight", "bias"):
            values = getattr(layer, part).detach().numpy()
            weights.append(numpy_helper.from_array(values, f"conv{n}.{part}"))
        inputs = [at, f"conv{n}.weight", f"conv{n}.bias"]
        nodes.append(helper.make_node("Conv", inputs, [f"conv{n}"], strides=[2, 2], pads=[1, 1, 1, 1]))
        nodes.append(helper.make_node("Relu", [f"conv{n}"], [f"relu{n}"]))
        at = f"relu{n}"
    nodes.append(helper.make_node("Flatten", [at], ["flat"]))
    for part in ("weight", "bias"):
        weights.append(numpy_helper.from_array(getattr(model["head"], part).detach().numpy(), f"head.{part}"))
    nodes.append(helper.make_node("Gemm", ["flat", "head.weight", "head.bias"], ["logits"], transB=1))
    graph = helper.make_graph(
        nodes,
        "bullseye",
        [helper.make_tensor_value_info("pixels", TensorProto.FLOAT, ["n", 3, SIDE, SIDE])],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["n", 2])],
        weights,
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    checker.check_model(made)
    content: bytes = made.SerializeToString()
    return content


if __name__ == "__main__":
    FILE.write_bytes(to_onnx(train()))
