"""Texts of unusual genres from what a Debian machine has: licences, manuals, sayings and scripture, for --unusual.

    apt-get install bible-kjv-text fortunes
    python examples/unusual_genres.py unusual_genres.jsonl
    obelics fit detector --trusted good.jsonl.gz --unusual unusual_genres.jsonl …

What is found depends on the packages that are installed: the sha256 of the file that a detector was made with is in the
detector. Pieces of 80 to 600 words, cut at paragraphs, 700 of a genre at most.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import subprocess
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from random import Random

FEWEST_WORDS, MOST_WORDS, OF_A_GENRE = 80, 600, 700
USUAL = {"the", "of", "and", "to", "a", "in", "is", "or"}  # at least 6 % of the words of English text
LICENCES, MANUALS = ("LICENSE*", "COPYING*", "copyright"), ("*.md", "*.rst", "*.pod")
SHARED = Path("/usr")


def main() -> None:
    """Collect, thin out, and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("output", type=Path)
    output: Path = parser.parse_args().output
    pieces: dict[str, dict[str, str]] = defaultdict(dict)
    for genre, text in texts():
        for piece in cut(text):
            letters = re.sub(r"\W+", "", piece.lower())[:400]
            pieces[genre].setdefault(hashlib.sha256(letters.encode()).hexdigest(), piece)
    with output.open("w", encoding="utf-8") as file:
        for genre, found in sorted(pieces.items()):
            some = Random(0).sample(sorted(found.values()), min(OF_A_GENRE, len(found)))
            print(f"{genre}: {len(some)} of {len(found)}")
            file.writelines(json.dumps({"source": genre, "text": text}, ensure_ascii=False) + "\n" for text in some)


def texts() -> Iterator[tuple[str, str]]:
    """Genre and text of every file that may hold one."""
    for genre, patterns in (("legal", LICENCES), ("technical", MANUALS)):
        for path in sorted(path for pattern in patterns for path in SHARED.rglob(pattern)):
            yield genre, read(path)
    for path in sorted((SHARED / "share/games/fortunes").glob("*[!t8]")):  # not .dat and .u8
        sayings = read(path).split("\n%\n")
        yield from (("fortune", "\n\n".join(sayings[i : i + 12])) for i in range(0, len(sayings), 12))
    bible = subprocess.run(["bible", "-l72", "gen1:1-rev22:21"], capture_output=True, text=True, check=True)
    yield "scripture", bible.stdout


def read(path: Path) -> str:
    """A text file; an empty text for what is none."""
    try:
        return path.read_text("utf-8")[:400_000].replace("\r", "").strip()
    except (OSError, UnicodeDecodeError):
        return ""


def cut(text: str) -> Iterator[str]:
    """English text in pieces of whole paragraphs."""
    words = text.split()
    if len(words) < FEWEST_WORDS or sum(map(str.isascii, text)) < 0.97 * len(text):
        return
    if sum(word.lower() in USUAL for word in words) < 0.06 * len(words):
        return
    piece: list[str] = []
    for paragraph in [*re.split(r"\n\s*\n", text), ""]:
        length = sum(len(part.split()) for part in piece)
        if not paragraph or length + len(paragraph.split()) > MOST_WORDS:
            if length >= FEWEST_WORDS:
                yield "\n\n".join(piece)
            piece = []
        piece.append(paragraph)


if __name__ == "__main__":
    main()
