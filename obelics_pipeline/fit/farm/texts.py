"""Trusted texts from files, and which of them the network does not see."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from obelics_pipeline.errors import UserError

_BLOCKS, _EVERY = 40, 5  # texts that stand together may be of one work: whole blocks are set aside, every fifth


@dataclass(frozen=True, slots=True)
class Texts:
    """For the network, and for the forest that judges by what the network says of texts it has not seen."""

    network: list[str]
    forest: list[str]


def read_texts(paths: Sequence[Path]) -> Texts:
    """The `text` of each line of JSONL files, also gzipped. Raises `UserError` for one that is none."""
    found = Texts([], [])
    for path in paths:
        texts = list(_texts(path))
        for number, text in enumerate(texts):
            block = number * _BLOCKS // len(texts)
            (found.forest if block % _EVERY == _EVERY // 2 else found.network).append(text)
    return found


def digest(path: Path) -> str:
    """sha256 of a file: what a model says that it was made of."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _texts(path: Path) -> Iterator[str]:
    done = 0
    try:
        with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as file:
            for line in file:
                text = json.loads(line)["text"]
                if not isinstance(text, str):
                    raise TypeError("text is no string")
                if text.strip():
                    yield text
                done += 1
    except (OSError, EOFError, ValueError, KeyError, TypeError) as error:
        raise UserError(f'{path}:{done + 1}: not lines of JSON with a "text" ({error})') from None
