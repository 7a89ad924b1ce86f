"""The programs of KenLM that train a model. They are not in its Python package: lmplz counts, build_binary packs."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from obelics_pipeline.core.errors import UserError

NAMES = ("lmplz", "build_binary")
HOW = "docs/perplexity.md has the five lines that build them from KenLM's source, in about two minutes"

# Of a packed model: a trie with 8-bit probabilities and backoffs and pointers compressed by up to 22 bits, as CCNet
# made the models that the reference used. On 5 M words it has a fifth of the bytes of the plain hash table.
_PACKING = ("-a", "22", "-q", "8", "-b", "8")
_FALLBACK = re.compile(r"Substituting fallback discounts for order (\d+)")
_COUNT = re.compile(r"^ngram (\d+)=(\d+)$")


@dataclass(frozen=True)
class Programs:
    """Where the programs are."""

    lmplz: str
    build_binary: str

    @classmethod
    def find(cls, folder: Path | None = None) -> Programs:
        """Those of a folder, else those on the PATH. Raises UserError, with the way to get them."""
        found = [shutil.which(name, path=None if folder is None else str(folder)) for name in NAMES]
        missing = [name for name, path in zip(NAMES, found, strict=True) if path is None]
        if missing:
            where = "on the PATH" if folder is None else f"in {folder}"
            raise UserError(f"no {' and no '.join(missing)} {where}, which training a KenLM model needs; {HOW}")
        return cls(*(str(path) for path in found))

    def train(self, lines: Path, arpa: Path, order: int, prune: list[int], memory: str, scratch: Path) -> list[int]:
        """Write an ARPA file from lines of words; returns the n-gram lengths whose discounts had to be substituted.

        Modified Kneser-Ney. Where a corpus is too small to estimate the discounts of a length, KenLM's fallback is
        used. `memory` bounds the sorting ("2G"); it does not change the result.
        """
        command = [self.lmplz, "-o", str(order), "--text", str(lines), "--arpa", str(arpa), "-S", memory]
        command += ["-T", f"{scratch}/", "--discount_fallback", "--skip_symbols"]
        said = _run([*command, "--prune", *map(str, prune)] if any(prune) else command)
        return sorted({int(number) + 1 for number in _FALLBACK.findall(said)})

    def pack(self, arpa: Path, binary: Path, memory: str, scratch: Path) -> None:
        """Write the file that is mapped into memory and scored with."""
        _run([self.build_binary, *_PACKING, "-S", memory, "-T", f"{scratch}/", "trie", str(arpa), str(binary)])


def ngrams_of(arpa: Path) -> dict[str, int]:
    """The number of n-grams by length, from the head of an ARPA file."""
    counts: dict[str, int] = {}
    with arpa.open(encoding="utf-8", newline="\n") as lines:
        for line in lines:
            if found := _COUNT.match(line):
                counts[found[1]] = int(found[2])
            elif counts:
                break
    return counts


def _run(command: list[str]) -> str:
    """What a program said. Raises UserError with its last words where it failed."""
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace")
    if done.returncode:
        last = " ".join((done.stderr.strip() or "it said nothing").splitlines()[-1].split())
        raise UserError(f"{Path(command[0]).name} failed with exit code {done.returncode}: {last[:300]}")
    return done.stderr
