"""What sites say they do not allow: noai, TDM, robots.txt, ai.txt; and what only comes near it."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial

from benchmarks.planted.safety.pictures import photo
from benchmarks.planted.safety.site import Site
from obelics_pipeline.demo.page import Page

_PAGE_SIGNALS: dict[str, tuple[str, tuple[str, ...], tuple[str, ...]]] = {
    "page's word: meta robots noai": ("noai", ('<meta name="robots" content="noai, noimageai">', '<meta name="ROBOTS" content="index,follow,NOAI">'), ('<meta name="robots" content="index, follow">', '<meta name="description" content="why we say noai">', '<!-- <meta name="robots" content="noai"> -->')),
    "page's word: TDM meta": ("tdm_reserved", ('<meta name="tdm-reservation" content="1">',), ('<meta name="tdm-reservation" content="0">', '<meta name="tdm-policy" content="https://x.example/p.json">')),
}  # fmt: skip
_HEADERS: dict[str, tuple[str, tuple[tuple[str, str], ...], tuple[tuple[str, str], ...]]] = {
    "page's word: X-Robots-Tag": ("noai", (("X-Robots-Tag", "noai"), ("x-robots-tag", "noarchive, noai, noimageai"), ("X-Robots-Tag", "obelics-pipeline: noai")), (("X-Robots-Tag", "noarchive"), ("X-Robots-Tag", "otherbot: noai"), ("X-Robots", "noai"))),
    "page's word: TDM header": ("tdm_reserved", (("TDM-Reservation", "1"), ("tdm-reservation", " 1 ")), (("tdm-reservation", "0"), ("tdm-reservation", "yes"), ("X-TDM", "1"))),
}  # fmt: skip
_PICTURES: dict[str, tuple[str, tuple[dict[str, str], ...], tuple[dict[str, str], ...]]] = {
    "image's word: X-Robots-Tag": ("", ({"X_Robots_Tag": "noai"}, {"X_Robots_Tag": "noimageai"}, {"x_robots_tag": "noimageindex, max-snippet:5"}), ({"X_Robots_Tag": "noarchive"}, {"X_Robots_Tag": "otherbot: noai"}, {"X_Robots_Tag": "nofollow"})),
    "image's word: TDM header": ("", ({"TDM_Reservation": "1"},), ({"tdm_reservation": "0"}, {"tdm_policy": "https://x.example/p"})),
}  # fmt: skip


def add_signals(site: Site, number: int) -> None:
    """As many of each, and as many near misses."""
    random = site.random
    for n in range(number):
        for planted in (True, False):
            for kind, (reason, heads, others) in _PAGE_SIGNALS.items():
                chosen = heads if planted else others
                site.page(kind, planted, "page", reason, head=chosen[n % len(chosen)])
            for kind, (reason, said, unsaid) in _HEADERS.items():
                name, value = (said if planted else unsaid)[n % len(said if planted else unsaid)]
                site.page(kind, planted, "page", reason, headers={name: value})
            for kind, (reason, forbidding, harmless) in _PICTURES.items():
                headers = (forbidding if planted else harmless)[n % len(forbidding if planted else harmless)]
                source = site.picture(partial(photo, random.randrange(2**32)), **headers)
                _with_image(site, kind, planted, reason, source)
            _hosts(site, n, planted)


def _with_image(site: Site, kind: str, planted: bool, reason: str, source: str) -> None:
    plain = site.picture(partial(photo, site.random.randrange(2**32)))
    site.page(kind, planted, "image", reason, images=(source, plain), about=source)


def _hosts(site: Site, n: int, planted: bool) -> None:
    """Files of a whole host, about a folder; near misses lie in the folder beside it."""
    folder = "private" if planted else "private-but-not" if n % 2 else "open"
    files: dict[str, tuple[str, Callable[[], str]]] = {
        "site's word of an image: ai.txt": ("/ai.txt", lambda: "# ai.txt\nUser-Agent: *\nDisallow: /private/\n"),
        "site's word of an image: tdmrep.json": ("/.well-known/tdmrep.json", lambda: json.dumps([{"location": "/private/*", "tdm-reservation": 1}, {"location": "/*", "tdm-reservation": 0}])),
        "site's word of an image: robots.txt": ("/robots.txt", lambda: "User-agent: *\nAllow: /\n\nUser-agent: obelics-pipeline\nDisallow: /private/\n"),
    }  # fmt: skip
    for kind, (path, text) in files.items():
        host = f"http://{site.host('DE')}"
        site.files[host + path] = text()
        source = site.picture(partial(photo, site.random.randrange(2**32)), f"{host}/{folder}/view-{n}.jpg")
        _with_image(site, kind, planted, "site", source)
    host = f"http{'s' * (n % 2)}://{site.host('GB')}"
    agent = "CCBot" if planted or n % 2 else "SomeOtherBot"
    said = f"User-agent: {agent}\nDisallow: /private/\n\nUser-agent: *\nAllow: /\n".encode()
    site.captures.append(Page(f"{host}/robots.txt", said, content_type="text/plain"))
    path = "private" if planted or agent == "SomeOtherBot" else folder
    site.page("site's word of a page: robots.txt", planted, "page", "robots_txt", url=f"{host}/{path}/story-{n}.html")
