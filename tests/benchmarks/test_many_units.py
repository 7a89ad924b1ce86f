"""Small WARC files for a run of many units: the same each time, with as many copies as are said to be in them."""

import gzip
import os
from collections import Counter
from pathlib import Path

from selectolax.lexbor import LexborHTMLParser

from benchmarks.many_units import PAGES, Processes, made, pages, sentences


def test_three_pages_in_ten_say_what_another_says() -> None:
    found = list(pages(40, sentences()))
    texts = Counter(text_of(page.body) for page in found)
    assert sum(count - 1 for count in texts.values()) == 12
    assert len({page.url for page in found}) == 40


def text_of(body: bytes) -> str:
    return " ".join(p.text() for p in LexborHTMLParser(body.decode()).css("article p"))


def test_files_are_written_with_all_their_pages_and_are_the_same_again(tmp_path: Path) -> None:
    for name in ("a", "b"):
        made(tmp_path / name, 3)
    files = sorted((tmp_path / "a").rglob("*.warc.gz"))
    assert [gzip.decompress(file.read_bytes()).count(b"WARC-Type: response") for file in files] == [PAGES] * 3
    again = sorted((tmp_path / "b").rglob("*.warc.gz"))
    assert [file.read_bytes() for file in files] == [file.read_bytes() for file in again]


def test_what_a_process_uses_is_seen_while_it_is_there() -> None:
    seen = Processes(os.getsid(0))
    seen.look()
    assert seen.others()[1] > 0
