"""A forest of decision trees, evaluated the same everywhere: compiled where that was built, else with NumPy."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from math import exp
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

try:
    from obelics_pipeline.models import _forest as compiled
except ImportError:
    COMPILED = RANKS = False
else:
    COMPILED, RANKS = True, bool(compiled.RANKS)

SCALE = 1 << 16  # units of a leaf's value in one unit of log odds; whole numbers add up to the same in any order
NODE = np.dtype([("feature", "<i4"), ("threshold", "<f4"), ("child", "<i4")])
_DIGITS = 6  # of a score that are kept
_MANY = 5  # rows from which on the tests of all trees are quicker than a walk down each
_LEAF = -1  # as a feature; `child` is then the value


@dataclass(frozen=True, slots=True)
class Forest:
    """Trees over named features.

    `nodes` holds all trees one after the other, `roots` where each begins. At a node, `child` is next where the feature
    is at most the threshold, else the node after it; children follow their parents.
    """

    features: tuple[str, ...]
    nodes: NDArray[np.void]
    roots: NDArray[np.int32]
    _ranked: bytes | None = field(init=False, repr=False, compare=False, default=None)  # the tests, compiled

    @classmethod
    def load(cls, path: Path) -> Forest:
        """Read a forest. Raises ValueError for any other file, OSError if it cannot be read."""
        try:
            stored = json.loads(path.read_text("utf-8"))
            columns = [stored["nodes"][name] for name in NODE.names or ()]
            nodes = np.array(list(zip(*columns, strict=True)), NODE)
            return cls(tuple(stored["features"]), nodes, np.array(stored["roots"], np.int32))
        except (KeyError, TypeError, ValueError, OverflowError, RecursionError) as error:
            raise ValueError(f"{path}: not a forest ({error})") from None

    def save(self, path: Path) -> None:
        """Write the forest as JSON."""
        nodes = {name: self.nodes[name].tolist() for name in NODE.names or ()}
        path.write_text(json.dumps({"features": self.features, "roots": self.roots.tolist(), "nodes": nodes}) + "\n")

    @classmethod
    def of_arrays(cls, features: Sequence[str], arrays: Mapping[str, NDArray[Any]]) -> Forest:
        """The forest whose `arrays` a file holds. Raises KeyError and ValueError for others."""
        nodes = np.zeros(len(arrays["forest_feature"]), NODE)
        for name in NODE.names or ():
            nodes[name] = arrays[f"forest_{name}"]
        return cls(tuple(features), nodes, arrays["forest_roots"])

    def check_features(self, known: Collection[str]) -> None:
        """Raises ValueError where it asks for a number that is not among these."""
        if unknown := sorted(set(self.features) - set(known)):
            raise ValueError(f"it asks for {unknown[0]}, which is no number of this version")

    def arrays(self) -> dict[str, NDArray[Any]]:
        """What a file holds of it, beside the names of its features."""
        return {"forest_roots": self.roots, **{f"forest_{name}": self.nodes[name] for name in NODE.names or ()}}

    def __post_init__(self) -> None:
        """Raises ValueError where the walk would leave the array or run in circles: the file may not be ours."""
        feature, child = self.nodes["feature"], self.nodes["child"]
        inner = np.flatnonzero(feature != _LEAF)
        if not np.all((child[inner] > inner) & (child[inner] < len(self.nodes) - 1)):
            raise ValueError("a node's child does not follow it")
        if not np.all((feature >= _LEAF) & (feature < len(self.features))):
            raise ValueError("a node asks for a feature that there is not")
        if not np.all((self.roots >= 0) & (self.roots < len(self.nodes))):
            raise ValueError("a tree without a root")
        if COMPILED:
            object.__setattr__(self, "_ranked", compiled.rank(self.nodes, self.roots))

    def log_odds(self, values: NDArray[np.float32]) -> NDArray[np.int64]:
        """The sum of the trees' values for each row of `values`, shape (rows, features), in 1 / SCALE."""
        if values.shape[1:] != (len(self.features),):
            raise ValueError(f"expected {len(self.features)} features, found {values.shape[1:]}")
        if not COMPILED:
            return log_odds(self.nodes, self.roots, values)
        sums = np.empty(len(values), np.int64)
        rows = np.ascontiguousarray(values, np.float32)
        if RANKS and self._ranked is not None and len(rows) >= _MANY:
            compiled.sums(self._ranked, rows, sums)
        else:
            compiled.log_odds(self.nodes, self.roots, rows, sums)
        return sums

    def in_turn(self, row: NDArray[np.float32], count: int) -> list[int]:
        """So many sums of the trees' values for one row, in 1 / SCALE: each of the trees whose turn it is."""
        if row.shape != (len(self.features),):
            raise ValueError(f"expected {len(self.features)} features, found {row.shape}")
        if not COMPILED:
            return in_turn(self.nodes, self.roots, row, count)
        sums = np.empty(count, np.int64)
        compiled.in_turn(self.nodes, self.roots, np.ascontiguousarray(row, np.float32), sums)
        found: list[int] = sums.tolist()
        return found

    def log_odds_of(self, numbers: Mapping[str, float]) -> int:
        """The same for one row, given by the names of its features, among which others may be."""
        return int(self.log_odds(np.array([[numbers[name] for name in self.features]], np.float32))[0])


def score_of(log_odds: int) -> float:
    """The probability of log odds in 1 / `SCALE`, to `_DIGITS` digits."""
    return round(1 / (1 + exp(-log_odds / SCALE)), _DIGITS)


def log_odds(nodes: NDArray[np.void], roots: NDArray[np.int32], values: NDArray[np.float32]) -> NDArray[np.int64]:
    """What `Forest.log_odds` says, in NumPy: all rows go down all trees at once."""
    sums: NDArray[np.int64] = _leaves(nodes, roots, values).sum(axis=1, dtype=np.int64)
    return sums


def in_turn(nodes: NDArray[np.void], roots: NDArray[np.int32], row: NDArray[np.float32], count: int) -> list[int]:
    """What `Forest.in_turn` says, in NumPy."""
    leaves = _leaves(nodes, roots, row[None])[0]
    return [int(leaves[turn::count].sum(dtype=np.int64)) for turn in range(count)]


def _leaves(nodes: NDArray[np.void], roots: NDArray[np.int32], values: NDArray[np.float32]) -> NDArray[np.int32]:
    """The value that each tree has for each row, shape (rows, trees)."""
    feature, threshold, child = (np.ascontiguousarray(nodes[name]) for name in NODE.names or ())
    rows = np.arange(len(values))[:, None]
    at = np.broadcast_to(roots.astype(np.int64), (len(values), len(roots)))
    while np.any(inner := feature[at] != _LEAF):
        at = np.where(inner, child[at] + ~(values[rows, feature[at]] <= threshold[at]), at)
    leaves: NDArray[np.int32] = child[at]
    return leaves
