"""How surprising each token is by its frequency alone: what a text costs that only sounds like the language."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from obelics_pipeline.core.errors import UserError


@dataclass(frozen=True, slots=True, eq=False)
class Unigram:
    """`loss` float64 (vocabulary): minus the natural logarithm of each token's probability."""

    loss: npt.NDArray[np.float64]

    @classmethod
    def from_counts(cls, counts: npt.NDArray[np.int64]) -> Unigram:
        """Add-one smoothed: a token that was never seen counts as half as frequent as one that was seen once."""
        smoothed = counts.astype(np.float64) + 1
        return cls(np.log(smoothed.sum()) - np.log(smoothed))

    @classmethod
    def load(cls, path: str | Path, vocabulary: int) -> Unigram:
        """Counts per token id that `numpy.save` wrote. Raises `UserError` where they are of another vocabulary."""
        try:
            counts = np.load(path, allow_pickle=False)
        except (OSError, ValueError) as error:
            raise UserError(f"unigram counts {path}: cannot be read: {' '.join(str(error).split())}") from None
        if counts.ndim != 1 or not np.issubdtype(counts.dtype, np.integer) or len(counts) != vocabulary:
            raise UserError(
                f"unigram counts {path}: {counts.dtype} {counts.shape}; integers ({vocabulary},) are wanted, one for "
                "each token of the model; count with the model's own tokenizer"
            )
        return cls.from_counts(counts)


def token_counts(
    texts: Iterable[str], encode: Callable[[str], Sequence[int]], vocabulary: int
) -> npt.NDArray[np.int64]:
    """How often each token occurs in texts: int64 (vocabulary)."""
    counts = np.zeros(vocabulary, np.int64)
    for text in texts:
        counts += np.bincount(np.asarray(encode(text), np.int64), minlength=vocabulary)
    return counts
