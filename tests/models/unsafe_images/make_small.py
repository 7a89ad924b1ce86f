"""Writes the small ONNX files that the tests load, none of which has learned anything. Needs onnx; the tests do not.

python -m tests.models.unsafe_images.make_small
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

FOLDER = Path(__file__).parent


def model(nodes: Any, inputs: Any, outputs: Any, weights: Any) -> bytes:
    from onnx import checker, helper

    graph = helper.make_graph(nodes, "small", inputs, outputs, weights)
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    checker.check_model(made)
    content: bytes = made.SerializeToString()
    return content


def head() -> bytes:
    """A head on vectors of 32 numbers: the first is its one output, before a sigmoid."""
    from onnx import TensorProto, helper, numpy_helper

    weight = np.zeros((32, 1), np.float32)
    weight[0] = 20
    return model(
        [helper.make_node("MatMul", ["vectors", "weight"], ["logit"])],
        [helper.make_tensor_value_info("vectors", TensorProto.FLOAT, ["n", 32])],
        [helper.make_tensor_value_info("logit", TensorProto.FLOAT, ["n", 1])],
        [numpy_helper.from_array(weight, "weight")],
    )


def brightness() -> bytes:
    """Two images of 16 by 16 at a time, as bytes, colours last: how bright, and how dark, each is, from 0 to 1."""
    from onnx import TensorProto, helper, numpy_helper

    nodes = [
        helper.make_node("Cast", ["image"], ["numbers"], to=TensorProto.FLOAT),
        helper.make_node("ReduceMean", ["numbers"], ["mean"], axes=[1, 2, 3], keepdims=0),
        helper.make_node("Div", ["mean", "full"], ["bright"]),
        helper.make_node("Sub", ["one", "bright"], ["dark"]),
        helper.make_node("Unsqueeze", ["bright", "last"], ["brights"]),
        helper.make_node("Unsqueeze", ["dark", "last"], ["darks"]),
        helper.make_node("Concat", ["brights", "darks"], ["both"], axis=1),
    ]
    weights = [
        numpy_helper.from_array(np.array(255, np.float32), "full"),
        numpy_helper.from_array(np.array(1, np.float32), "one"),
        numpy_helper.from_array(np.array([1], np.int64), "last"),
    ]
    return model(
        nodes,
        [helper.make_tensor_value_info("image", TensorProto.UINT8, [2, 16, 16, 3])],
        [helper.make_tensor_value_info("both", TensorProto.FLOAT, [2, 2])],
        weights,
    )


def night_blind() -> bytes:
    """How bright an image is, from 0 to 1, as the one output; no number (NaN) where it is darker than a quarter."""
    from onnx import TensorProto, helper, numpy_helper

    nodes = [
        helper.make_node("ReduceMean", ["image"], ["mean"], axes=[1, 2, 3], keepdims=0),
        helper.make_node("Sub", ["mean", "quarter"], ["above"]),
        helper.make_node("Sqrt", ["above"], ["root"]),
        helper.make_node("Unsqueeze", ["root", "last"], ["out"]),
    ]
    weights = [
        numpy_helper.from_array(np.array(0.25, np.float32), "quarter"),
        numpy_helper.from_array(np.array([1], np.int64), "last"),
    ]
    return model(
        nodes,
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, ["n", 3, 16, 16])],
        [helper.make_tensor_value_info("out", TensorProto.FLOAT, ["n", 1])],
        weights,
    )


def elsewhere() -> bytes:
    """A model whose weights are in a file beside the one that the tests run in."""
    from onnx import StringStringEntryProto, TensorProto, helper

    weight = TensorProto(name="weight", data_type=TensorProto.FLOAT, dims=[192, 2])
    weight.data_location = TensorProto.EXTERNAL
    about = {"location": "weights.bin", "offset": "0", "length": str(192 * 2 * 4)}
    weight.external_data.extend(StringStringEntryProto(key=key, value=value) for key, value in about.items())
    nodes = [helper.make_node("Flatten", ["image"], ["flat"]), helper.make_node("MatMul", ["flat", "weight"], ["out"])]
    graph = helper.make_graph(
        nodes,
        "elsewhere",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, ["n", 3, 8, 8])],
        [helper.make_tensor_value_info("out", TensorProto.FLOAT, ["n", 2])],
        [weight],
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    content: bytes = made.SerializeToString()
    return content


if __name__ == "__main__":
    (FOLDER / "elsewhere.onnx").write_bytes(elsewhere())
    (FOLDER / "head.onnx").write_bytes(head())
    (FOLDER / "brightness.onnx").write_bytes(brightness())
    (FOLDER / "night_blind.onnx").write_bytes(night_blind())
