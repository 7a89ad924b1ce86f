"""Which windows are read as one row."""

from __future__ import annotations

from collections.abc import Sequence


def rows(lengths: Sequence[int], most: int) -> list[list[int]]:
    """Numbers of the windows of each row, the longest first: where memory is short, that shows at once.

    A row has at most `most` tokens, or one window. What comes out depends on the lengths and their order alone.
    """
    out: list[list[int]] = []
    room = 0
    for i in sorted(range(len(lengths)), key=lambda i: (-lengths[i], i)):
        if lengths[i] > room or not out:
            out.append([])
            room = most
        out[-1].append(i)
        room -= lengths[i]
    return out
