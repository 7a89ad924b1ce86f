"""The pages of the demo's web site, as a crawler would have seen them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import yaml

SITE = Path(__file__).parent / "site"
"""One folder per host, below it the paths of its pages; `site.yaml` beside them says what is not ordinary."""

HTML = "text/html; charset=UTF-8"


@dataclass(frozen=True)
class Page:
    """One page: its URL, the bytes of its body, and what is out of the ordinary in the answer that carried it."""

    url: str
    body: bytes
    content_type: str = HTML
    headers: dict[str, str] = field(default_factory=dict, hash=False)
    gzip: bool = False  # Content-Encoding of the stored body
    chunked: bool = False  # Transfer-Encoding of the stored body
    damaged: bool = False  # its WARC record is damaged on purpose

    @property
    def host(self) -> str:
        """The host of the page's URL."""
        return self.url.split("/")[2]


@cache
def peculiarities() -> dict[str, dict[str, dict[str, Any]]]:
    """`site.yaml`: by page URL and by image URL, whatever an ordinary answer does not have."""
    values: dict[str, dict[str, dict[str, Any]]] = yaml.safe_load((SITE / "site.yaml").read_text(encoding="utf-8"))
    return values


def pages() -> Iterator[Page]:
    """Every page of the site, sorted by host and path."""
    special = peculiarities()["pages"]
    for path in sorted(SITE.glob("*/**/*.html"), key=lambda p: p.relative_to(SITE).as_posix()):
        url = page_url(path)
        yield Page(url, path.read_bytes(), **special.get(url, {}))


def page_url(path: Path) -> str:
    """The URL of a page's file; `index.html` stands for its folder."""
    relative = path.relative_to(SITE).as_posix()
    return "http://" + (relative.removesuffix("index.html") if path.name == "index.html" else relative)


def hosts() -> list[str]:
    """The hosts of the site, sorted: those with pages, and those that only serve images."""
    named = {path.name for path in SITE.iterdir() if path.is_dir()}
    return sorted(named | set(peculiarities()["image_hosts"]))
