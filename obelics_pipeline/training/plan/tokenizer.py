"""Which tokenizer a plan was counted with: its vocabulary, and a hash that tells it from any other."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import numpy as np

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.models.packed_flamingo.document_tokens import (
    DocumentTokens,
    Vocabulary,
    document_tokens,
    open_vocabulary,
)

FILES = ("tokenizer*", "special_tokens_map.json", "added_tokens.json", "vocab.*", "merges.txt", "*.model", "*.tiktoken")
PROBE = {  # laid out by every tokenizer: another version of the libraries, or of the layout, gives other numbers
    "texts": ["A probe: naïve 中文 العربية 🙂\n\n  x = {1: 'two'}", None, "Its end.", None],
    "images": [None, "http://probe.example/1.png", None, "http://probe.example/2.png"],
    "files": [None, "001.png", None, "003.png"],
}


@dataclass(frozen=True)
class Tokenizer:
    """A vocabulary, and what a plan says of it. Its `sha256` is over its files, its ids, and a probe laid out by it."""

    vocabulary: Vocabulary
    path: str
    sha256: str

    def about(self) -> dict[str, Any]:
        """Its entry in plan.json."""
        return {"path": self.path, "sha256": self.sha256, **numbers_of(self.vocabulary)}


def numbers_of(vocabulary: Vocabulary) -> dict[str, Any]:
    """What ids mean that no text encodes to."""
    names = ("words", "begin", "image", "end_of_chunk", "end", "pad")
    return {name: getattr(vocabulary, name) for name in names} | {"added": list(vocabulary.added)}


def refuse_other(vocabulary: Vocabulary, about: Mapping[str, Any]) -> None:
    """Raises UserError where a model's vocabulary cannot be that of a plan (`about`, of plan.json).

    Whether it encodes each text to the same ids is compared as documents are read.
    """
    for name, value in numbers_of(vocabulary).items():
        if about[name] != value:
            raise UserError(
                f"plan: was counted with the tokenizer of {about['path']}, whose {name} is {about[name]}; that of "
                f"model.language_model is {value}: make a plan for it, or train the other"
            )


def open_tokenizer(folder: Path) -> Tokenizer:
    """The tokenizer in a folder of transformers. Raises UserError."""
    vocabulary = open_vocabulary(folder)
    return Tokenizer(vocabulary, str(folder.resolve()), tokenizer_sha256(folder, vocabulary))


def tokenizer_sha256(folder: Path, vocabulary: Vocabulary) -> str:
    """The hash of a tokenizer: counts of tokens are kept by it."""
    digest = hashlib.sha256()
    names = sorted(path.name for path in folder.iterdir() if path.is_file())
    for name in names:
        if any(fnmatch(name, pattern) for pattern in FILES):
            digest.update(f"{name} {hashlib.sha256((folder / name).read_bytes()).hexdigest()}\n".encode())
    v = vocabulary
    ids = (v.words, v.begin, v.image, v.end_of_chunk, v.end, v.pad, *v.added)
    digest.update(f"{ids} {ids_crc32(document_tokens(PROBE, vocabulary))}\n".encode())
    return digest.hexdigest()


def ids_crc32(tokens: DocumentTokens) -> int:
    """A checksum of a laid out document: of its ids as little-endian 32-bit integers."""
    return zlib.crc32(np.ascontiguousarray(tokens.ids, "<i4").tobytes())
