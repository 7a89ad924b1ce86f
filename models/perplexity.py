"""Perplexity under a KenLM model of SentencePiece pieces, by the reference's rule (statistic 10)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from itertools import accumulate, compress, count
from operator import lt
from pathlib import Path
from typing import Any

import numpy as np

from obelics_pipeline.core.errors import UserError

ARPA = ".arpa.bin"  # <language>.arpa.bin: the KenLM model; the names are those of edugp/kenlm
PIECES = ".sp.model"  # <language>.sp.model: its SentencePiece model
SHIPPED = str(Path(__file__).parent / "kenlm")  # the package's, small: <language>.json says what made each

_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Reading:
    """A text as the model reads it: its pieces, and of each its log10 probability after what stands before it and
    alone, and of how many pieces the longest n-gram is that the model knows and that ends with it."""

    pieces: list[str]
    log10: list[float]
    log10_alone: list[float]
    lengths: list[int]


class PerplexityModel:
    """The KenLM model and the SentencePiece model of one language."""

    def __init__(self, kenlm_model: Any, pieces: Any) -> None:
        self._kenlm = kenlm_model
        self._pieces = pieces
        self._unigrams = _Unigrams(kenlm_model)
        self._last: tuple[str, list[str], list[float]] | None = None  # a text, its pieces, what they cost

    @classmethod
    def load_folder(cls, folder: str, asking: str) -> dict[str, PerplexityModel]:
        """The models `<language>.arpa.bin` with `<language>.sp.model` of a folder, by language.

        Each is loaded once per process, and mapped, so that processes share its memory. `asking` is the filter's name,
        for the message. Raises `UserError` if the folder has no model, or the packages that read models are missing.
        """
        return {file.name.removesuffix(ARPA): cls.load(file, asking) for file in _arpa_files(folder, asking)}

    @classmethod
    def load(cls, arpa: Path, asking: str = "perplexity") -> PerplexityModel:
        """That of a KenLM file, binary or ARPA text, with the SentencePiece file beside it. Raises `UserError`."""
        states = [file.stat() if file.is_file() else None for file in (arpa, _pieces_file(arpa))]
        key = tuple((state.st_ino, state.st_size, state.st_mtime_ns) if state else None for state in states)
        try:
            return _loaded(str(arpa), key)
        except UserError as error:
            raise UserError(f"filter {asking}: {error}") from None

    def perplexity(self, normalized: str) -> float:
        """10 to the mean negative log10 probability of a piece, the end of the text counted; one decimal."""
        pieces, log10_probabilities = self._read(normalized)
        # Added one after the other in single precision: the sum that KenLM's own `score` gives, to the last digit.
        log10_probability = float(np.array(log10_probabilities, np.float32).cumsum(dtype=np.float32)[-1])
        return round(float(10.0 ** (-log10_probability / (len(pieces) + 1))), 1)

    def read(self, text: str) -> Reading:
        """What the model makes of a text in any form, the end of the text not counted."""
        pieces = self._pieces.encode(_SURROGATE.sub("\ufffd", text), out_type=str)
        scores = list(self._kenlm.full_scores(" ".join(pieces), bos=True, eos=False))
        alone = [self._unigrams[piece] for piece in pieces]
        return Reading(pieces, [score[0] for score in scores], alone, [score[1] for score in scores])

    def worse_than_unigram_ratio(self, normalized: str) -> float:
        """Share of the pieces whose probability after what stands before them is lower than that of the piece alone.

        "Alone" is the model's own unigram: that piece after nothing. 0 for a text without pieces.
        """
        worse = self._worse(normalized)
        return sum(worse) / len(worse) if worse else 0.0

    def worse_than_unigram(self, normalized: str) -> Iterator[tuple[int, int]]:
        """Where the pieces that `worse_than_unigram_ratio` counts are in the text, as (begin, end)."""
        worse = self._worse(normalized)
        return self._places(normalized, compress(count(), worse))

    def least_likely(self, normalized: str) -> Iterator[tuple[int, int]]:
        """Where the tenth of the pieces that are least likely after what stands before them are, as (begin, end)."""
        pieces, log10_probabilities = self._read(normalized)
        rising = sorted(range(len(pieces)), key=log10_probabilities.__getitem__)
        return self._places(normalized, sorted(rising[: -(-len(pieces) // 10)]))

    def _worse(self, normalized: str) -> list[bool]:
        """Of each piece, whether its probability is lower than that of the piece alone."""
        pieces, log10_probabilities = self._read(normalized)
        alone = map(self._unigrams.__getitem__, pieces)  # one shorter: without the end of the text
        return list(map(lt, log10_probabilities, alone))

    def _places(self, normalized: str, chosen: Iterable[int]) -> Iterator[tuple[int, int]]:
        """Where these pieces of a text are; none where the pieces are not its characters, but bytes of them."""
        pieces = self._read(normalized)[0]
        form, origin = self._pieces.normalize(_SURROGATE.sub("\ufffd", normalized), with_offsets=True)
        if "".join(pieces) != form:
            return
        ends = list(accumulate(map(len, pieces), initial=0))
        for piece in chosen:
            begin, end = origin[ends[piece]], origin[ends[piece + 1]]
            # A part of what one character was written as is the whole character; a blank put at the end is none.
            yield begin, min(max(end, begin + 1), len(normalized))

    def _read(self, normalized: str) -> tuple[list[str], list[float]]:
        """The pieces of a text, and the log10 probability of each of them and of the end after what stands before it.

        Those of the last text are kept, for a text is measured by several filters in turn.
        """
        if self._last is None or self._last[0] != normalized:
            pieces = self._pieces.encode(_SURROGATE.sub("\ufffd", normalized), out_type=str)
            scores = [score[0] for score in self._kenlm.full_scores(" ".join(pieces), bos=True, eos=True)]
            self._last = (normalized, pieces, scores)
        return self._last[1:]


class _Unigrams(dict[str, float]):
    """The log10 probability of a piece after nothing, kept for pieces of the vocabulary: others are without end."""

    def __init__(self, kenlm_model: Any) -> None:
        self._kenlm = kenlm_model

    def __missing__(self, piece: str) -> float:
        alone = float(next(iter(self._kenlm.full_scores(piece, bos=False, eos=False)))[0])
        if piece in self._kenlm:
            self[piece] = alone
        return alone


@cache
def _loaded(arpa: str, state: object) -> PerplexityModel:
    """`state` tells a file from another that took its place under the same path."""
    try:
        kenlm, sentencepiece = import_module("kenlm"), import_module("sentencepiece")
    except ImportError as error:
        raise UserError(f"no module {error.name}; pip install 'obelics-pipeline[models]'") from None
    pieces = _pieces_file(Path(arpa))
    try:
        model = kenlm.Model(arpa)
        return PerplexityModel(model, sentencepiece.SentencePieceProcessor(model_file=str(pieces)))
    except Exception as error:
        reason = " ".join(str(error).split())
        raise UserError(f"{arpa} or {pieces} cannot be read: {reason}") from None


def model_files(folder: str, asking: str) -> list[str]:
    """Every file of the models of a folder. Raises `UserError` if it has no model."""
    return [str(path) for file in _arpa_files(folder, asking) for path in (file, _pieces_file(file))]


def _arpa_files(folder: str, asking: str) -> list[Path]:
    files = sorted(Path(folder).expanduser().glob(f"*{ARPA}"))
    if not files:
        raise UserError(
            f"filter {asking}: no <language>{ARPA} in {folder}; options.folder is a folder with en{ARPA} and "
            f"en{PIECES}: make one with obelics fit kenlm, get edugp/kenlm's with obelics download, or say null to go "
            "without"
        )
    return files


def _pieces_file(arpa: Path) -> Path:
    return arpa.with_name(arpa.name.removesuffix(ARPA) + PIECES)
