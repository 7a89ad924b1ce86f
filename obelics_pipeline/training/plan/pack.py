"""Packing: spans into rows of a fixed number of tokens and of images, best fit, the largest first."""

from __future__ import annotations

from itertools import compress

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.int64]

WINDOW = 20_000  # spans: more make rows hardly fuller, and the spans of a row should be drawn from near each other
FULL = 0.97  # share of a row's tokens below which its spans are packed once more, with those of other windows
PROBES = 64  # rows that are looked at for a span with images before a new one is begun: bounds the time


def pack(sizes: Integers, images: Integers, ends: Integers, room: tuple[int, int]) -> list[Integers]:
    """Rows: the numbers of the spans in each, rising. `room` is what a row holds: tokens and images.

    Spans of one part only meet each other; `ends` says where each part ends, and rows come part by part. Raises
    ValueError for a span that no row holds.
    """
    if len(sizes) and (int(sizes.max()) > room[0] or int(images.max()) > room[1]):
        raise ValueError(f"a span of {int(sizes.max())} tokens or {int(images.max())} images is larger than a row")
    rows: list[Integers] = []
    for start, stop in zip([0, *ends.tolist()], ends.tolist(), strict=False):
        found = _packed(np.arange(start, stop, dtype=np.int64), sizes, images, room)
        full = [int(sizes[row].sum()) >= FULL * room[0] for row in found]
        rows += compress(found, full)
        loose = [row for row, is_full in zip(found, full, strict=True) if not is_full]
        rows += _packed(np.sort(np.concatenate(loose)), sizes, images, room) if loose else []
    return rows


def _packed(items: Integers, sizes: Integers, images: Integers, room: tuple[int, int]) -> list[Integers]:
    """The rows of some spans, packed a window at a time."""
    windows = [items[i : i + WINDOW] for i in range(0, len(items), WINDOW)]
    return [row for w in windows for row in grouped(w, best_fit(sizes[w], images[w], *room))]


def grouped(items: Integers, numbers: Integers) -> list[Integers]:
    """The items of each number from 0 on, in their order."""
    order = np.argsort(numbers, kind="stable")
    return np.split(items[order], np.cumsum(np.bincount(numbers))[:-1]) if len(items) else []


def best_fit(sizes: Integers, counts: Integers, tokens: int, images: int) -> Integers:
    """The number of the row of each span: the fullest that has room for it.

    Rows are kept by what room they have, those with room for images apart: a span finds its row by the lowest bit of a
    number. Time is bounded: of rows with room for the tokens, `PROBES` are asked for room for the images.
    """
    relative = np.maximum(sizes * images, counts * tokens)  # of the scarcer of both, in common units
    order = np.lexsort((-sizes, -relative)).tolist()
    all_sizes, all_counts = sizes.tolist(), counts.tolist()
    out = np.empty(len(order), np.int64)
    shelves = (_Shelf(tokens), _Shelf(tokens))  # rows without room for an image, and with
    left_images: list[int] = []
    left_tokens: list[int] = []
    for i in order:
        size, count = all_sizes[i], all_counts[i]
        row = shelves[0].pop(size, 0, left_images) if count == 0 else None
        if row is None:
            row = shelves[1].pop(size, count, left_images)
        if row is None:
            row = len(left_tokens)
            left_tokens.append(tokens)
            left_images.append(images)
        left_tokens[row] -= size
        left_images[row] -= count
        out[i] = row
        if left_tokens[row]:
            shelves[left_images[row] > 0].put(left_tokens[row], row)
    return out


class _Shelf:
    """Rows by the tokens they have room for; bit n of a number says whether there is a row with room for n."""

    def __init__(self, tokens: int) -> None:
        self._bits = 0
        self._rows: list[list[int]] = [[] for _ in range(tokens + 1)]

    def put(self, room: int, row: int) -> None:
        """Lay a row where it is found by its room."""
        self._rows[room].append(row)
        self._bits |= 1 << room

    def pop(self, size: int, count: int, left_images: list[int]) -> int | None:
        """Take the row with the least room for so many tokens, and with room for so many images."""
        above = self._bits >> size
        probes = PROBES
        while above and probes:
            low = (above & -above).bit_length() - 1
            rows = self._rows[size + low]
            for at in range(len(rows) - 1, -1, -1):
                if left_images[rows[at]] >= count:
                    row = rows.pop(at)
                    if not rows:
                        self._bits ^= 1 << (size + low)
                    return row
                probes -= 1
                if not probes:
                    return None
            above &= above - 1
        return None
