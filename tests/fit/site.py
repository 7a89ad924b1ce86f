"""A dozen invented pages of six domains, as a WARC file, and what is known of them."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

from obelics_pipeline.stages.read.page import Page
from tests.stages.read.warcs import gz, read, record, write

COUNT = 12
_WORDS = (
    "river stone lantern quiet harbour meadow winter copper window garden letter morning bridge island thunder".split()
)


def _sentence(rng: random.Random, length: int) -> str:
    words = " ".join(rng.choice(_WORDS) for _ in range(length))
    return f"{words.capitalize()}, {rng.getrandbits(32):x}."


def paragraphs(number: int) -> list[str]:
    """What the article of a page says."""
    rng = random.Random(number)
    return [" ".join(_sentence(rng, 14) for _ in range(3)) for _ in range(10)]


def links(number: int) -> list[str]:
    """What the links around it say."""
    rng = random.Random(1000 + number)
    return [f"{rng.choice(_WORDS)} {rng.getrandbits(24):x}" for _ in range(20)]


def url(number: int) -> str:
    """Two pages a domain, on different hosts of it."""
    return f"https://{'www' if number % 2 else 'blog'}.site{number // 2}.example/page/{number}"


def html(number: int) -> str:
    """Links, an article, links."""
    items = [f"<li><a href='/{item}'>{text}</a></li>" for item, text in enumerate(links(number))]
    article = "".join(f"<p>{text}</p>" for text in paragraphs(number))
    above, below = "".join(items[:8]), "".join(items[8:])
    return f"<html><body><ul>{above}</ul><article>{article}</article><div class=related><ul>{below}</ul></div></html>"


def page(body: str, address: str = "https://www.site.example/page") -> Page:
    """A page as reading gives it."""
    return Page(address, "some.warc.gz", 0, 1, 0, None, body, "utf-8", "default", "text/html", None)


def write_warc(folder: Path) -> Path:
    """All pages in one file, a member each."""
    records = [record(html(number).encode(), url(number)) for number in range(COUNT)]
    return write(folder, "site.warc.gz", gz(records))


def gold_rows(warc: Path) -> list[dict[str, Any]]:
    """The articles of the first eight by their place, snippets of the next three by their URL, of the last nothing."""
    offsets = [item.offset for item in read(warc) if isinstance(item, Page)]
    articles = [
        {"warc": warc.name, "offset": offsets[number], "article_text": "\n".join(paragraphs(number))}
        for number in range(8)
    ]
    snippets = [
        {"url": url(number), "must_contain": [paragraphs(number)[2]], "must_not_contain": [links(number)[9], "nowhere"]}
        for number in range(8, 11)
    ]
    return [*articles, *snippets]


def write_gold(folder: Path, rows: list[dict[str, Any]]) -> Path:
    """A gold file."""
    path = folder / "gold.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path
