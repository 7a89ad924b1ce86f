"""Training the SentencePiece model whose pieces a language model counts."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from itertools import islice
from typing import Any

from obelics_pipeline.core.errors import UserError

CHARACTERS = 1000  # of one training sentence: in UTF-8 below the 4,192 bytes above which SentencePiece drops one
MOST_SENTENCES = 200_000  # that it learns from; memory and time grow with them, and pieces hardly change with more

# One thread: with several, sums of probabilities depend on how many. No hard limit: a small corpus has fewer pieces.
_SETTINGS = {"model_type": "unigram", "num_threads": 1, "hard_vocab_limit": False, "minloglevel": 2}


def train_pieces(lines: Callable[[], Iterable[str]], pieces: int) -> bytes:
    """The SentencePiece model of normalised texts, as the bytes of its file.

    `lines` gives all texts each time it is called. In a large corpus, every n-th sentence from its beginning to its end
    is learned from. Raises UserError if no model can be trained.
    """
    count = sum(1 for _ in _sentences(lines()))
    step = -(-count // MOST_SENTENCES) or 1
    written = io.BytesIO()
    try:
        load_sentencepiece().SentencePieceTrainer.train(
            sentence_iterator=islice(_sentences(lines()), 0, None, step),
            model_writer=written,
            vocab_size=pieces,
            **_SETTINGS,
        )
    except (RuntimeError, OSError) as error:
        reason = " ".join(str(error).split())[-200:]
        raise UserError(f"--pieces {pieces}: SentencePiece cannot learn them from this text ({reason})") from None
    return written.getvalue()


def _sentences(lines: Iterable[str]) -> Iterator[str]:
    """Texts cut at a space where they are too long for a training sentence."""
    for line in lines:
        start = 0
        while len(line) - start > CHARACTERS:
            end = line.rfind(" ", start + 1, start + CHARACTERS)
            end = end if end > 0 else start + CHARACTERS
            yield line[start:end]
            start = end
        if line[start:].strip():
            yield line[start:]


def load_sentencepiece() -> Any:
    """The module. Raises UserError where it is not installed."""
    try:
        return import_module("sentencepiece")
    except ImportError:
        raise UserError("no module sentencepiece; pip install 'obelics-pipeline[models]'") from None
