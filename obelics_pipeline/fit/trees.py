"""From a LightGBM model to a `Forest`."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any

import numpy as np

from obelics_pipeline.models.forest import NODE, SCALE, Forest

_LEAF = (-1, 0.0)  # feature and threshold of a leaf, as `Forest` wants them


def to_forest(model: dict[str, Any], features: Sequence[str]) -> Forest:
    """The forest that says what the model says, given as LightGBM dumps it.

    Leaves are rounded to 1 / SCALE. Thresholds are rounded down to the next float32, which no float32 feature tells
    from what was rounded.
    """
    nodes: list[tuple[int, float, int]] = []
    roots: list[int] = []
    for tree in model["tree_info"]:
        roots.append(len(nodes))
        _add(tree["tree_structure"], nodes)
    return Forest(tuple(features), np.array(nodes, NODE), np.array(roots, np.int32))


def _add(root: dict[str, Any], nodes: list[tuple[int, float, int]]) -> None:
    """The nodes of a tree, level by level: the two children of a node lie side by side behind it."""
    waiting = deque([root])
    end = len(nodes) + 1  # where the next children go
    while waiting:
        node = waiting.popleft()
        if "split_feature" not in node:
            nodes.append((*_LEAF, round(node["leaf_value"] * SCALE)))
            continue
        if node["decision_type"] != "<=":
            raise ValueError(f"a split of kind {node['decision_type']} has no place in a forest")
        nodes.append((node["split_feature"], _rounded_down(node["threshold"]), end))
        waiting += (node["left_child"], node["right_child"])
        end += 2


def _rounded_down(threshold: float) -> float:
    near = np.float32(threshold)
    return float(np.nextafter(near, np.float32(-np.inf)) if float(near) > threshold else near)
