"""A second, small crawl of the demo: one page that no reader wants, let through by a config without bounds.

It is what the demo's training meets on its way. With the default config the page would never have come so far.
"""

from __future__ import annotations

from hashlib import sha256
from html import escape
from pathlib import Path

import yaml

from obelics_pipeline.core.config import load_config
from obelics_pipeline.core.storage import write_bytes
from obelics_pipeline.demo.pack import warc_of
from obelics_pipeline.demo.page import Page

URL = "http://lost-attachments.example/board/thread-1187.html"
NAME = "demo-attachments.warc.gz"
PARAGRAPHS, GROUPS = 2, 10  # of letters, in each paragraph
GROUP = 16  # letters
PRINTED = bytes(range(0xB0, 0xFF))  # of code page 437: what a machine of 1987 printed for bytes that are no text


def pack_unfiltered(folder: Path) -> Path:
    """Write the crawl's WARC file into a folder; the same each time."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / NAME
    data = warc_of(NAME, [attachment()])
    if not path.is_file() or path.read_bytes() != data:
        write_bytes(path, data)
    return path


def attachment() -> Page:
    """A page of a board that shows an attachment as if it were text, in the code page of another machine."""
    paragraphs = []
    for n in range(PARAGRAPHS):
        groups = [_letters(f"{n} {g}") for g in range(GROUPS)]
        paragraphs.append(f"<p>{escape(' '.join(groups))}.</p>")
    body = "\n".join(paragraphs)
    html = f"<!doctype html><html lang=en><head><title>Thread 1187</title></head><body><article>{body}</article></body>"
    return Page(URL, html.encode())


def _letters(name: str) -> str:
    """A group of letters, by its name."""
    drawn = sha256(name.encode()).digest()[:GROUP]
    return bytes(PRINTED[byte % len(PRINTED)] for byte in drawn).decode("cp437")


def without_bounds() -> list[str]:
    """Overrides of the default config with which it measures everything and drops nothing, and asks for no image."""
    filters = load_config("default").filters
    unbounded = {
        name: {"options": dict(threshold.options)} if threshold.options else {}
        for name, threshold in filters.document.items()
    }
    return [
        f"filters.document={yaml.safe_dump(unbounded, default_flow_style=True, width=10**6).strip()}",
        "filters.paragraph={}",
        "language.min_score=0",
        "images.min_per_document=0",
        "fetch.enabled=false",
    ]
