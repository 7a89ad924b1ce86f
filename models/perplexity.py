"""Perplexity under a KenLM model of SentencePiece pieces, by the reference's rule (statistic 10)."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

from obelics_pipeline.errors import UserError


class PerplexityModel:
    """The KenLM model and the SentencePiece model of one language."""

    def __init__(self, kenlm_model: Any, pieces: Any) -> None:
        self._kenlm = kenlm_model
        self._pieces = pieces

    @classmethod
    def load_folder(cls, folder: str) -> dict[str, PerplexityModel]:
        """The models `<language>.arpa.bin` with `<language>.sp.model` of a folder, by language.

        Raises `UserError` where there is none, or where the packages that read them are missing.
        """
        return {file.name.removesuffix(".arpa.bin"): cls._load(file) for file in arpa_files(folder)}

    @classmethod
    def _load(cls, file: Path) -> PerplexityModel:
        try:
            kenlm, sentencepiece = import_module("kenlm"), import_module("sentencepiece")
        except ImportError as error:
            raise UserError(f"filter perplexity: no module {error.name}; pip install kenlm sentencepiece") from None
        try:
            model = kenlm.Model(str(file))
            return cls(model, sentencepiece.SentencePieceProcessor(model_file=str(pieces_file(file))))
        except Exception as error:
            reason = " ".join(str(error).split())
            raise UserError(f"filter perplexity: {file} or {pieces_file(file)} cannot be read: {reason}") from None

    def perplexity(self, normalized: str) -> float:
        """10 to the mean negative log10 probability of a piece, the end of the text counted; one decimal."""
        pieces = self._pieces.encode(normalized, out_type=str)
        log10_probability = self._kenlm.score(" ".join(pieces), bos=True, eos=True)
        return round(float(10.0 ** (-log10_probability / (len(pieces) + 1))), 1)


def arpa_files(folder: str) -> list[Path]:
    """The KenLM models of a folder, at least one. Raises `UserError` where there is none."""
    files = sorted(Path(folder).expanduser().glob("*.arpa.bin"))
    if not files:
        raise UserError(
            f"filter perplexity: no <language>.arpa.bin in {folder}; give options.folder a folder with en.arpa.bin and "
            "en.sp.model (huggingface.co/edugp/kenlm has them), or null to go without"
        )
    return files


def pieces_file(arpa: Path) -> Path:
    """The SentencePiece model that belongs to a KenLM model."""
    return arpa.with_name(arpa.name.removesuffix(".arpa.bin") + ".sp.model")
