"""Honest texts of many genres for `obelics fit chat-detector`, from manuals, help pages and collections of a machine.

    python benchmarks/honest_genres.py DOMAIN=GLOB … > people.jsonl

A line {"text", "label": 0, "domain"} for each text. Files are HTML (.html, or .page of GNOME's help) or plain text with
blank lines between paragraphs, also as .gz. A domain gives at most `MOST` texts, chosen by their check sums; one that
has much in common with an earlier one is left out. The detector of the package learned from these Debian packages:

    handbook=debian-handbook, installation-guide-amd64, developers-reference, maint-guide   faq=debian-faq
    office=libreoffice-help-en-us   desktop=gnome-user-docs   git=git-doc   essay=anarchism   glossary=jargon-text
    verse=fortunes (songs-poems)   sayings=fortunes (wisdom people work science humorists)   licence=base-files
"""

from __future__ import annotations

import gzip
import json
import re
import sys
from collections.abc import Iterator
from glob import glob
from itertools import pairwise
from pathlib import Path
from zlib import crc32

from selectolax.lexbor import LexborHTMLParser

WORDS, FEWEST_WORDS = 350, 90  # of a passage
MOST = 160  # texts of a domain
IN_COMMON = 0.4  # share of the pairs of words of a text that an earlier one has, at most
FRAME = "script, style, nav, header, footer, pre, .navheader, .navfooter, .toc, info"
PARAGRAPHS = "h1, h2, h3, title, p, li, dd"
HTML = (".html", ".htm", ".page")
PARTED = re.compile(r"\n\s*\n|\n%\n")  # %: between the entries of fortunes


def main() -> None:
    """Print the texts of each domain."""
    if len(sys.argv) < 2 or not all("=" in argument for argument in sys.argv[1:]):
        sys.exit("usage: honest_genres.py DOMAIN=GLOB …")
    patterns: dict[str, list[str]] = {}
    for argument in sys.argv[1:]:
        domain, _, pattern = argument.partition("=")
        patterns.setdefault(domain, []).append(pattern)
    for domain, of_domain in patterns.items():
        files = sorted({name for pattern in of_domain for name in glob(pattern, recursive=True)})
        texts = {text for name in files if Path(name).is_file() for text in passages(paragraphs(Path(name)))}
        for text in sorted(distinct(sorted(texts, key=by_sum)), key=by_sum)[:MOST]:
            print(json.dumps({"text": text, "label": 0, "domain": domain}))


def by_sum(text: str) -> tuple[int, str]:
    """An order that has nothing to do with what a text says."""
    return crc32(text.encode("utf-8", "replace")), text


def paragraphs(path: Path) -> list[str]:
    """Of a file, each on one line."""
    content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    text = content.decode("utf-8", "replace")
    found: Iterator[str] = iter(PARTED.split(text))
    if path.name.removesuffix(".gz").endswith(HTML):
        tree = LexborHTMLParser(text)
        for node in tree.css(FRAME):
            node.decompose()
        found = (node.text() for node in tree.css(PARAGRAPHS) if node.tag not in {"li", "dd"} or not node.css("p"))
    return [line for one in found if (line := " ".join(one.split()))]


def passages(found: list[str]) -> Iterator[str]:
    """Paragraphs in passages of about `WORDS` words."""
    gathered: list[str] = []
    for paragraph in found:
        gathered.append(paragraph)
        if sum(len(one.split()) for one in gathered) >= WORDS:
            yield "\n\n".join(gathered)
            gathered = []
    if sum(len(one.split()) for one in gathered) >= FEWEST_WORDS:
        yield "\n\n".join(gathered)


def distinct(texts: list[str]) -> Iterator[str]:
    """Those that are no versions of earlier ones."""
    seen: set[tuple[str, str]] = set()
    for text in texts:
        pairs = set(pairwise(text.lower().split()))
        if len(pairs & seen) <= IN_COMMON * len(pairs):
            yield text
            seen |= pairs


if __name__ == "__main__":
    main()
