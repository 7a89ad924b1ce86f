"""Labelled lines for fastText, in an order that is by chance and always the same, a part of them held out."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.fit.texts import TextFile
from obelics_pipeline.models.quality_classifier import PREFIX, line_of

BUCKETS = 64  # files that lines are dealt to by their hash: one at a time is sorted in memory
HELD_OUT = 10  # one of so many lines is never trained on


@dataclass(frozen=True, slots=True)
class Labelled:
    """One line with its label and the source that its row names; `key` is its sha256."""

    key: str
    label: str
    source: str
    line: str

    @property
    def held_out(self) -> bool:
        """By its content: the same text is never on both sides."""
        return int(self.key[2:10], 16) % HELD_OUT == 0


@dataclass
class Lines:
    """Lines of both labels in a folder, dealt to buckets."""

    folder: Path
    counts: Counter[str] = field(default_factory=Counter)
    both: int = 0  # texts of both labels: they are left out
    again: int = 0  # texts that came before with the same label: they are left out

    @classmethod
    def deal(cls, files: Mapping[str, Sequence[TextFile]], folder: Path) -> Lines:
        """Read the texts of each label. Raises UserError where a file cannot be read, or a label has no text."""
        lines = cls(folder)
        buckets = [(folder / f"{number:02}.jsonl").open("x", encoding="utf-8") for number in range(BUCKETS)]
        try:
            for label, of_label in files.items():
                for file in of_label:
                    for found in file.texts():
                        if line := line_of(found.text):
                            key = hashlib.sha256(line.encode()).hexdigest()
                            buckets[int(key[:2], 16) % BUCKETS].write(
                                json.dumps([key, label, found.source, line]) + "\n"
                            )
        finally:
            for bucket in buckets:
                bucket.close()
        lines.counts.update(labelled.label for labelled in lines)
        for label in files:
            if not lines.counts[label]:
                raise UserError(f"--{label}: has no text to train on")
        return lines

    def __iter__(self) -> Iterator[Labelled]:
        """Every line, by its hash; a text with two labels is not among them, one that is repeated is there once."""
        self.both = self.again = 0
        for path in sorted(self.folder.glob("*.jsonl")):
            of_key: dict[str, list[Labelled]] = {}
            with path.open(encoding="utf-8") as rows:
                for row in rows:
                    labelled = Labelled(*json.loads(row))
                    of_key.setdefault(labelled.key, []).append(labelled)
            for key in sorted(of_key):
                found = of_key[key]
                if len({labelled.label for labelled in found}) > 1:
                    self.both += 1
                    continue
                self.again += len(found) - 1
                yield found[0]

    def write_training(self, path: Path) -> None:
        """The lines that are not held out, as fastText wants them: the label, then the words."""
        with path.open("x", encoding="utf-8", newline="\n") as out:
            for labelled in self:
                if not labelled.held_out:
                    out.write(f"{PREFIX}{labelled.label} {labelled.line}\n")

    def held_out(self) -> Iterator[Labelled]:
        """The lines that are never trained on."""
        return (labelled for labelled in self if labelled.held_out)
