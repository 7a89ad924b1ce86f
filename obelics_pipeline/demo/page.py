"""A page of the demo's web site."""

from __future__ import annotations

from dataclasses import dataclass, field

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
