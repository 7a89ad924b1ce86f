"""Training a KenLM model of SentencePiece pieces: `obelics fit kenlm`."""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from obelics_pipeline import __version__
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.storage import TEMPORARY, file_sha256
from obelics_pipeline.filters.kenlm_text import normalized
from obelics_pipeline.fit.pieces import load_sentencepiece, train_pieces
from obelics_pipeline.fit.say import Say
from obelics_pipeline.fit.texts import TextFile, text_files
from obelics_pipeline.models.lmplz import Programs, ngrams_of
from obelics_pipeline.models.perplexity import ARPA, PIECES, PerplexityModel

ORDERS = range(2, 7)  # that lmplz and the Python package are built for (KENLM_MAX_ORDER)
LANGUAGE = re.compile(r"[a-z]{2,3}([-_][A-Za-z0-9]+)*")
MEMORY = re.compile(r"[1-9][0-9]*[KMGT%]")


@dataclass(frozen=True)
class KenlmSettings:
    """What decides the model. `prune`: n-grams seen so often or less are left out, by length, the last for the rest."""

    language: str = "en"
    order: int = 5
    pieces: int = 32_000
    prune: tuple[int, ...] = (0,)

    def check(self) -> None:
        """Raises UserError for a value that no model can be made with."""
        if not LANGUAGE.fullmatch(self.language):
            raise UserError(f"--language {self.language}: not a language code, such as en or zh")
        if self.order not in ORDERS:
            raise UserError(f"--order {self.order}: valid are {ORDERS[0]} to {ORDERS[-1]}")
        if list(self.prune) != sorted(self.prune) or len(self.prune) > self.order or min(self.prune) < 0:
            given = " ".join(map(str, self.prune))
            raise UserError(f"--prune {given}: up to {self.order} whole numbers that do not fall, such as 0 0 1")
        if self.prune[0] != 0:
            raise UserError(f"--prune {self.prune[0]}: single pieces are never pruned; the first number is 0")


def fit_kenlm(
    inputs: Sequence[str],
    output: Path,
    settings: KenlmSettings,
    say: Say,
    *,
    memory: str = "2G",
    programs: Path | None = None,
) -> None:
    """Train on the texts of files, in the form that the perplexity filter scores, and write its two files and a record.

    `memory` bounds lmplz's sorting; it changes no byte. Raises UserError, in one line, for what a person can mend.
    """
    settings.check()
    if not MEMORY.fullmatch(memory):
        raise UserError(f"--memory {memory}: not a size, such as 2G or 500M")
    found, files = Programs.find(programs), text_files(inputs)
    load_sentencepiece()
    try:
        output.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=TEMPORARY, dir=output) as scratch:
            _train(files, output, settings, say, memory, found, Path(scratch))
    except OSError as error:
        raise UserError(f"{error.filename or output}: {error.strerror or error}") from None


def _train(
    files: Sequence[TextFile],
    output: Path,
    settings: KenlmSettings,
    say: Say,
    memory: str,
    programs: Programs,
    scratch: Path,
) -> None:
    made = scratch / "made"
    made.mkdir()
    arpa, pieces = made / f"{settings.language}{ARPA}", made / f"{settings.language}{PIECES}"
    texts = _write_normalized(files, scratch / "texts.txt", say)
    pieces.write_bytes(train_pieces(lambda: _lines(scratch / "texts.txt"), settings.pieces))
    there, tokens = _write_pieces(scratch / "texts.txt", pieces, scratch / "pieces.txt")
    say(f"{there:,} pieces; the texts are {tokens:,} of them")
    plain = scratch / "model.arpa"
    fallback = programs.train(scratch / "pieces.txt", plain, settings.order, list(settings.prune), memory, scratch)
    if fallback:
        say(f"too little text to estimate the discounts of n-grams of length {_listed(fallback)}: KenLM's fallback")
    programs.pack(plain, arpa, memory, scratch)
    PerplexityModel.load(arpa)  # what cannot be scored with is not handed over
    record = {
        "model": "KenLM of SentencePiece pieces",
        "settings": asdict(settings),
        "input": [file.description() for file in files],
        "texts": texts,
        "pieces": there,
        "tokens": tokens,
        "ngrams": ngrams_of(plain),
        "fallback_discounts": fallback,
        "versions": _versions(programs),
        "files": {file.name: {"bytes": file.stat().st_size, "sha256": file_sha256(file)} for file in (arpa, pieces)},
    }
    for file in (arpa, pieces):
        os.replace(file, output / file.name)
        say(f"wrote {output / file.name}: {record['files'][file.name]['bytes']:,} bytes")  # type: ignore[index]
    _write_record(record, output / f"{settings.language}.json", scratch)


def _write_normalized(files: Sequence[TextFile], target: Path, say: Say) -> int:
    """Write one text a line, in the form that is scored; returns the number of texts. Raises UserError if it is 0."""
    count = 0
    with target.open("x", encoding="utf-8", newline="\n") as out:
        for file in files:
            for found in file.texts():
                if line := normalized(found.text):
                    out.write(f"{line}\n")
                    count += 1
            say(str(file))
    if not count:
        raise UserError("--input: has no text to train on")
    return count


def _write_pieces(texts: Path, model: Path, target: Path) -> tuple[int, int]:
    """The pieces of each text, parted by spaces; returns how many pieces there are, and how many were written."""
    pieces = load_sentencepiece().SentencePieceProcessor(model_file=str(model))
    tokens = 0
    with target.open("x", encoding="utf-8", newline="\n") as out:
        for line in _lines(texts):
            found = pieces.encode(line, out_type=str)
            tokens += len(found)
            out.write(" ".join(found) + "\n")
    return int(pieces.get_piece_size()), tokens


def _lines(path: Path) -> Iterator[str]:
    with path.open(encoding="utf-8", newline="\n") as lines:
        for line in lines:
            yield line.removesuffix("\n")


def _versions(programs: Programs) -> dict[str, str]:
    """lmplz does not tell its version, so its content stands for it."""
    return {
        "obelics-pipeline": __version__,
        "kenlm": version("kenlm"),
        "sentencepiece": version("sentencepiece"),
        "lmplz sha256": file_sha256(Path(programs.lmplz)),
        "build_binary sha256": file_sha256(Path(programs.build_binary)),
    }


def _write_record(record: dict[str, Any], target: Path, scratch: Path) -> None:
    draft = scratch / target.name
    draft.write_text(json.dumps(record, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    os.replace(draft, target)


def _listed(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers))
