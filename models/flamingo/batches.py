"""Which rows are scored together: those of like length, so that little is padding."""

from __future__ import annotations

from collections.abc import Sequence


def batches(sizes: Sequence[tuple[int, int]], max_tokens: int) -> list[list[int]]:
    """Numbers of the rows of each batch, the longest first: where memory is short, that shows at once.

    `sizes` are (tokens, images) of each row. A batch is of at most `max_tokens` tokens, padding counted, or of one row.
    What comes out depends on the sizes and their order alone.
    """
    order = sorted(range(len(sizes)), key=lambda i: (-sizes[i][0], -sizes[i][1], i))
    out: list[list[int]] = []
    for i in order:
        if out and sizes[out[-1][0]][0] * (len(out[-1]) + 1) <= max_tokens:
            out[-1].append(i)
        else:
            out.append([i])
    return out
