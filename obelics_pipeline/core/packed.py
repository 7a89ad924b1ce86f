"""Values of which a run has one for each unit, kept as bytes: a driver that holds them all stays small."""

from __future__ import annotations

import pickle
import zlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Generic, TypeVar, overload

Value = TypeVar("Value")

LEVEL = 1  # of zlib: most of what can be saved is what a value shares with the first one


class Packed(Sequence[Value], Generic[Value]):
    """A sequence of values, and each is made again whenever it is asked for.

    A value takes some 300 bytes where the manifest of a unit takes 5,000: each is compressed as what differs from the
    first one.

    >>> values = Packed([{"unit": "a", "rows": 1}, {"unit": "b", "rows": 2}])
    >>> values.append({"unit": "c", "rows": 3})
    >>> len(values), values[1], [value["rows"] for value in values.chosen([2, 0])]
    (3, {'unit': 'b', 'rows': 2}, [3, 1])
    """

    def __init__(self, values: Iterable[Value] = ()) -> None:
        self._first = b""
        self._kept: list[bytes] = []
        self.extend(values)

    def append(self, value: Value) -> None:
        """Add a value, which must be picklable, at the end."""
        content = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
        self._first = self._first or content
        packer = zlib.compressobj(LEVEL, zdict=self._first)
        self._kept.append(packer.compress(content) + packer.flush())

    def extend(self, values: Iterable[Value]) -> None:
        """Add values at the end."""
        for value in values:
            self.append(value)

    def chosen(self, indices: Iterable[int]) -> Packed[Value]:
        """The values at these places, in this order."""
        some = Packed[Value]()
        some._first, some._kept = self._first, [self._kept[index] for index in indices]
        return some

    def __len__(self) -> int:
        return len(self._kept)

    @overload
    def __getitem__(self, index: int) -> Value: ...

    @overload
    def __getitem__(self, index: slice) -> Packed[Value]: ...

    def __getitem__(self, index: int | slice) -> Value | Packed[Value]:
        if isinstance(index, slice):
            return self.chosen(range(*index.indices(len(self))))
        value: Value = self._unpacked(self._kept[index])
        return value

    def __iter__(self) -> Iterator[Value]:
        return map(self._unpacked, self._kept)

    def _unpacked(self, kept: bytes) -> Any:
        content = zlib.decompressobj(zdict=self._first).decompress(kept)
        return pickle.loads(content)  # noqa: S301 - what this process has packed itself
