"""Which texts the network learns from, and which are kept from it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from obelics_pipeline.fit.texts import TextFile

_BLOCKS, _EVERY = 40, 5  # texts that stand together may be of one work: whole blocks are set aside, every fifth


@dataclass(frozen=True, slots=True)
class Texts:
    """For the network, and for the forest that judges by what the network says of texts it has not seen."""

    network: list[str]
    forest: list[str]


def read_texts(files: Sequence[TextFile], learned_from: Collection[str] | None = None) -> Texts:
    """The texts of files. Raises `UserError` for one that cannot be read.

    With a network that is there already, `learned_from` are the sha256 of its files: all texts of others are set aside.
    """
    found = Texts([], [])
    for file in files:
        texts = [row.text for row in file.texts()]
        if learned_from is not None and file.description()["sha256"] not in learned_from:
            found.forest.extend(texts)
            continue
        for number, text in enumerate(texts):
            block = number * _BLOCKS // len(texts)
            (found.forest if block % _EVERY == _EVERY // 2 else found.network).append(text)
    return found
