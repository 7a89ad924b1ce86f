"""The order of rows: passes over each data set, their shares of the whole, and steps that are alike.

Every step has its rows of each data set to within one, and nearly the same number of images per token: in a trainer
that shuffles as it reads, that ratio is what differs after a restart.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from obelics_pipeline.training.plan.chance import far_from, key, permutation, words
from obelics_pipeline.training.plan.spans import Integers

CHUNK = 256  # steps among which rows are dealt so that the steps are alike
GAP = 4  # passes: a row comes again after a quarter of a pass at least, before rows are dealt to steps
DEALT = 24  # and dealing moves it by the 24th part of a pass at most, so that a sixth is left


def wanted_tokens(sizes: Sequence[int], weights: Sequence[Fraction | None], limit: int | None) -> list[Fraction]:
    """Tokens of each data set in the plan: in the shares wished for, as many as the scarcest allows, up to `limit`.

    `sizes` are tokens over all passes. A data set without a weight has its part, by size, of what the others leave.
    """
    given = sum((w for w in weights if w is not None), Fraction(0))
    free = sum(size for size, w in zip(sizes, weights, strict=True) if w is None)
    shares = [
        w if w is not None else (1 - given) * Fraction(size, free) if free else Fraction(0)
        for size, w in zip(sizes, weights, strict=True)
    ]
    whole = min((size / share for size, share in zip(sizes, shares, strict=True) if share), default=Fraction(0))
    whole = whole if limit is None else min(whole, Fraction(limit))
    return [share * whole for share in shares]


def passes(n: int, blocks: Integers, repeat: int, start: np.uint64) -> list[Integers]:
    """The order of n rows in each of `repeat` passes. `blocks` are where their blocks begin, and n behind the last.

    Each pass is a permutation within blocks; a row comes again after n / 4 rows at least.
    """
    with np.errstate(over="ignore"):
        first = np.concatenate(
            [low + permutation(high - low, start + np.uint64(high)) for low, high in _pairs(blocks)]
            or [np.zeros(0, np.int64)]
        )
        out = [first]
        for number in range(1, repeat):
            out.append(far_from(out[-1], blocks, -(-n // GAP), key(int(start), "pass", number)))
    return out


def _pairs(blocks: Integers) -> list[tuple[int, int]]:
    return list(zip(blocks[:-1].tolist(), blocks[1:].tolist(), strict=True))


def taken(tokens: Integers, wanted: Fraction) -> int:
    """How many rows of a sequence, given the tokens of each, come nearest to the tokens that are wanted."""
    ends = np.append(0, np.cumsum(tokens))
    at = int(np.searchsorted(ends, int(wanted), "right")) - 1
    if at < len(tokens) and int(ends[at + 1]) - wanted < wanted - int(ends[at]):
        return at + 1
    return at


def merged(counts: Sequence[int]) -> Integers:
    """Which sequence each place of the whole belongs to: every beginning has all of them in proportion, to a row."""
    places = [(np.arange(n) * 2 + 1) / (2 * n) if n else np.zeros(0) for n in counts]
    owner = np.repeat(np.arange(len(counts)), np.array(counts, np.int64))
    return owner[np.lexsort((owner, np.concatenate(places)))].astype(np.int64)


def dealt(
    sequences: Sequence[Integers], tokens: Integers, images: Integers, rows_per_step: int, chunk: int, start: np.uint64
) -> tuple[Integers, Integers]:
    """Data set and place in its sequence, for each row of the whole in order.

    `sequences` hold the row numbers of each data set in the order of its passes; `tokens` and `images` are by row
    number. Among `chunk` steps the rows of a data set are dealt in layers, a row of like images per token to each step,
    the most to the step that has fewest so far: first what differs most, so that what follows can make up for it.
    """
    owner = merged([len(sequence) for sequence in sequences])
    steps = np.arange(len(owner)) // rows_per_step
    place = np.empty(len(owner), np.int64)
    seen = [0] * len(sequences)
    whole = len(owner) // rows_per_step  # steps; the last, if it has fewer rows, takes what is left
    for first in range(0, whole, chunk):
        slots = np.arange(first * rows_per_step, min(first + chunk, whole) * rows_per_step)
        ratio = _excess(sequences, seen, owner[slots], tokens, images)
        sums = np.zeros(chunk, np.int64)
        for number in np.argsort(np.bincount(owner[slots], minlength=len(sequences)), kind="stable").tolist():
            mine = slots[owner[slots] == number]
            at = np.arange(seen[number], seen[number] + len(mine))
            seen[number] += len(mine)
            place[mine] = _deal(at, ratio[number], steps[mine] - first, sums)
    for number, done in enumerate(seen):
        mine = np.flatnonzero(owner[whole * rows_per_step :] == number) + whole * rows_per_step
        place[mine] = done + np.arange(len(mine))
    mixed_up = np.lexsort((words(len(owner), start), steps))  # within a step: ranks are alike too
    return owner[mixed_up], place[mixed_up]


def _excess(
    sequences: Sequence[Integers], seen: list[int], owner: Integers, tokens: Integers, images: Integers
) -> list[Integers]:
    """The number of images of each row of a chunk, less its share by tokens; in whole numbers."""
    counts = np.bincount(owner, minlength=len(sequences)).tolist()
    rows = [s[at : at + n] for s, at, n in zip(sequences, seen, counts, strict=True)]
    all_tokens = sum(int(tokens[r].sum()) for r in rows)
    all_images = sum(int(images[r].sum()) for r in rows)
    return [images[r] * all_tokens - tokens[r] * all_images for r in rows]


def _deal(at: Integers, excess: Integers, steps: Integers, sums: Integers) -> Integers:
    """Which row stands in each slot of a data set; `sums` are the excesses of the steps so far, and are brought on."""
    out = np.empty(len(at), np.int64)
    layer = np.arange(len(steps)) - np.searchsorted(steps, steps, "left")  # the how manieth slot of its step
    falling = np.argsort(-excess, kind="stable")
    counts = np.bincount(layer)
    partial = int(counts[counts < counts.max(initial=0)].sum())
    # a layer that not every step has a slot of: of rows that are as the whole is, so that nothing is missed
    middle = min(max(0, int((excess > 0).sum()) - partial // 2), len(at) - partial)
    some, rest = falling[middle : middle + partial], np.delete(falling, np.s_[middle : middle + partial])
    layers = np.split(np.append(rest, some), np.cumsum(counts)[:-1]) if len(layer) else []
    spread = np.array([excess[rows[0]] - excess[rows[-1]] for rows in layers])
    for number in np.argsort(-spread, kind="stable").tolist():
        rows = layers[number]
        slots = np.flatnonzero(layer == number)
        slots = slots[np.argsort(sums[steps[slots]], kind="stable")]
        out[slots] = at[rows]
        sums[steps[slots]] += excess[rows]
    return out


def chunk_of(steps: int, epochs: Sequence[float]) -> int:
    """Among how many steps rows may be dealt: few enough that passes over the same rows stay far apart."""
    if max(epochs, default=1) <= 1:
        return max(1, min(CHUNK, steps))
    return max(1, min(CHUNK, int(steps / max(epochs) / DEALT)))
