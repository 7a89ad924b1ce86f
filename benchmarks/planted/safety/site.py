"""The pages of the made site as WARC files, its pictures on loopback, and the cases that are planted in it."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from mimetypes import guess_type
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import urlsplit

from benchmarks.planted.safety.prose import UNSPACED, paragraph, words
from obelics_pipeline.demo.pack import warc_of
from obelics_pipeline.demo.page import Page

COUNTRIES = {
    "US": "en", "GB": "en", "AU": "en", "IN": "en", "ZA": "en", "CA": "en", "DE": "de", "AT": "de", "CH": "de", "FR": "fr",
    "BE": "fr", "ES": "es", "MX": "es", "AR": "es", "IT": "it", "NL": "nl", "PL": "pl", "PT": "pt", "BR": "pt", "RU": "ru",
    "SE": "sv", "TR": "tr", "JP": "ja", "KR": "ko", "CN": "zh", "DK": "da", "FI": "fi",
}  # fmt: skip
"""And the language that most of their pages are in here."""

SUFFIXES = {
    "US": "us", "GB": "co.uk", "AU": "com.au", "IN": "in", "ZA": "co.za", "MX": "com.mx", "AR": "com.ar", "TR": "com.tr",
    "BR": "com.br", "JP": "jp", "KR": "co.kr", "CN": "cn",
}  # fmt: skip
_PAGES_OF_A_FILE = 400

Draw = Callable[[], bytes]


@dataclass
class Case:
    """What is planted in a page, or comes near it, and how to see what became of it."""

    kind: str
    planted: bool  # else a near miss
    judge: str  # text, page, image, licence, place, forgotten: what it is told by
    what: str  # the value, the reason, the licence …
    url: str
    image: str = ""  # the address of the picture that it is about
    around: tuple[str, str] = ("", "")  # what stands before and after the value


@dataclass
class Site:
    """All that is made, from one seed."""

    random: Random
    cases: list[Case] = field(default_factory=list)
    pages: list[Page] = field(default_factory=list)
    captures: list[Page] = field(default_factory=list)  # of robots.txt
    pictures: dict[str, Draw] = field(default_factory=dict)
    headers: dict[str, dict[str, str]] = field(default_factory=dict)  # of pictures
    files: dict[str, str] = field(default_factory=dict)  # ai.txt, tdmrep.json and robots.txt by address
    lists: dict[str, list[str]] = field(default_factory=dict)  # lines of each list
    asked: list[str] = field(default_factory=list)

    def host(self, country: str = "", ending: str = "") -> str:
        """A host that no other page has."""
        general = self.random.choice(("com", "org", "net"))
        national = SUFFIXES.get(country, country.lower())
        ending = ending or (national if country and self.random.random() < 0.6 else general)
        name = "-".join(words(self.random, 2)) + str(len(self.pages) + len(self.pictures))
        return ("www." if self.random.random() < 0.4 else "") + f"{name}.{ending}"

    def picture(self, draw: Draw, url: str = "", **headers: str) -> str:
        """The address at which a picture is."""
        folder = f"http://pictures{self.random.randrange(40)}.static-{self.random.randrange(3)}.net/{2010 + len(self.pages) % 15}"
        url = url or f"{folder}/{'_'.join(words(self.random, 2))}_{len(self.pictures)}.jpg"
        for asked in (url, url.partition("#")[0].replace(":80/", "/")):
            self.pictures[asked] = draw
            self.headers[asked] = {name.replace("_", "-"): value for name, value in headers.items()}
        return url

    def page(
        self, kind: str, planted: bool, judge: str, what: str, *, country: str = "", language: str = "", url: str = "",
        said: tuple[str, str, str] | None = None, element: str = "p", head: str = "", inside: str = "", foot: str = "",
        images: tuple[str, ...] = (), headers: dict[str, str] | None = None, text: str = "", about: str = "",
    ) -> Case:  # fmt: skip
        """Add a page of a few paragraphs with what is planted in it.

        `said`: a sentence before the value, the value, the rest; in an `element`. `inside`: HTML between the paragraphs.
        """
        from benchmarks.planted.safety.pictures import photo

        random = self.random
        if not country:
            chosen = [c for c, spoken in COUNTRIES.items() if spoken == language] if language else list(COUNTRIES)
            country = random.choice(chosen)
        language = COUNTRIES[country]
        scheme = random.choice(("http", "https"))
        url = url or f"{scheme}://{self.host(country)}/{'/'.join(words(random, random.randint(1, 2)))}"
        title = " ".join(words(random, 3)).title()
        parts = [f"<p>{paragraph(language, random.randint(3, 5), random)}</p>" for _ in range(random.randint(3, 5))]
        if said:
            spoken = escape("".join(said), quote=False)
            end = " " if language not in UNSPACED else ""
            lead = paragraph(language, 2, random) + end if element == "p" else ""
            parts.insert(random.randint(1, len(parts)), _element(element, lead, spoken))
        if text:
            parts = [f"<p>{part}</p>" for part in text.split("\n")]
        seed = random.randrange(2**32)
        plain = self.picture(lambda: photo(seed)) if not images or random.random() < 0.5 else ""
        shown = [*images, *([plain] if plain else [])]
        for source in shown:
            alt = " ".join(words(random, 3))
            tag = f'<img src="{source}" alt="{alt}" width="480" height="360">'
            parts.insert(random.randint(1, len(parts)), f"<figure>{tag}</figure>" if random.random() < 0.5 else tag)
        if inside:
            parts.insert(random.randint(1, len(parts)), inside)
        tags = random.choice((language, f"{language}-{country}"))
        menu = "".join(f'<li><a href="/{word}">{word.title()}</a></li>' for word in words(random, 5))
        html = (
            f'<!DOCTYPE html>\n<html lang="{tags}"><head><meta charset="utf-8"><title>{title}</title>\n'
            f'<meta name="viewport" content="width=device-width">{head}</head>\n'
            f"<body><header><nav><ul>{menu}</ul></nav></header>\n<main><article><h1>{title}</h1>\n"
            + "\n".join(parts)
            + f"\n</article></main>\n<footer><p>© {random.randint(2005, 2024)} {title}</p>{foot}</footer></body></html>\n"
        )
        self.pages.append(Page(url, html.encode(), headers=headers or {}))
        case = Case(kind, planted, judge, what, url, about or (images[0] if images else ""))
        if said:
            case.around = said[0], said[2]
        self.cases.append(case)
        return case

    def write(self, folder: Path, judge: str = "") -> list[Path]:
        """WARC files of the pages, or of those that are judged in one way, in the order of chance."""
        folder.mkdir(parents=True, exist_ok=True)
        urls = {case.url for case in self.cases if judge in ("", case.judge)}
        chosen = [page for page in self.pages if page.url in urls]
        pages = Random(len(chosen)).sample(chosen, len(chosen))
        paths = []
        for start in range(0, len(pages), _PAGES_OF_A_FILE):
            name = f"{judge or 'site'}-{start // _PAGES_OF_A_FILE:05}.warc.gz"
            (folder / name).write_bytes(warc_of(name, pages[start : start + _PAGES_OF_A_FILE]))
            paths.append(folder / name)
        (folder / "robots.warc.gz").write_bytes(warc_of("robots.warc.gz", self.captures))
        return paths


def _element(element: str, lead: str, spoken: str) -> str:
    """What is said, in a paragraph after others, in a list, or in a table."""
    if element == "li":
        return f"<ul><li>{spoken}</li></ul>"
    if element == "td":
        return f"<table><tr><td>1</td><td>{spoken}</td></tr><tr><td>2</td><td>–</td></tr></table>"
    return f"<p>{lead}{spoken}</p>"


@contextmanager
def serving(site: Site) -> Iterator[str]:
    """A proxy on loopback that answers for every host of the site; its address."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_GET(self) -> None:
            """A picture, or a file in which a host says what it allows."""
            url = self.path if "://" in self.path else f"http://{self.headers.get('Host', '')}{self.path}"
            site.asked.append(url)
            if url in site.pictures:
                media = guess_type(url)[0] or "application/octet-stream"
                self.answer(200, site.pictures[url](), media, site.headers[url])
            elif url in site.files:
                self.answer(200, site.files[url].encode(), "application/json" if url.endswith("json") else "text/plain")
            else:
                self.answer(404, b"not here", "text/plain")

        def do_POST(self) -> None:
            """The service of opt-outs: all that is on its list."""
            lines = self.rfile.read(int(self.headers["Content-Length"])).decode().splitlines()
            out = set(site.lists.get("service", ()))
            said = {"urls": [{"url": line, "optOut": line in out} for line in lines if line]}
            self.answer(200, json.dumps(said).encode(), "application/json")

        def answer(self, status: int, body: bytes, media: str, headers: dict[str, str] | None = None) -> None:
            """Send one answer."""
            self.send_response(status)
            for name, value in {"Content-Type": media, **(headers or {}), "Content-Length": str(len(body))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            """Nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def host_of(url: str) -> str:
    """The host of an address."""
    return urlsplit(url).hostname or ""
