"""The made site: its pages with the cases that are planted in them, its pictures, and the lists that are about them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from html import escape
from pathlib import Path
from random import Random

from benchmarks.planted.safety.drawing import photo
from benchmarks.planted.safety.prose import UNSPACED, paragraph, words
from obelics_pipeline.demo.pack import warc_of
from obelics_pipeline.demo.page import Page

COUNTRIES = {
    "US": "en", "GB": "en", "AU": "en", "IN": "en", "ZA": "en", "CA": "en", "DE": "de", "AT": "de", "CH": "de",
    "FR": "fr", "BE": "fr", "ES": "es", "MX": "es", "AR": "es", "IT": "it", "NL": "nl", "PL": "pl", "PT": "pt",
    "BR": "pt", "RU": "ru", "SE": "sv", "TR": "tr", "JP": "ja", "KR": "ko", "CN": "zh", "DK": "da", "FI": "fi",
}  # fmt: skip
"""And the language that their pages are in here."""

_SUFFIXES = {"GB": "co.uk", "AU": "com.au", "ZA": "co.za", "MX": "com.mx", "AR": "com.ar", "TR": "com.tr",
             "BR": "com.br", "KR": "co.kr"}  # fmt: skip
_PAGES_OF_A_FILE = 400

Draw = Callable[[], bytes]


@dataclass
class Case:
    """What is planted in a page, or comes near it, and how to see what became of it."""

    kind: str  # `group: kind` or `group`
    planted: bool  # else a near miss
    judge: str  # what it is told by: a function of judge.py
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
    files: dict[str, str] = field(default_factory=dict)  # robots.txt, ai.txt and tdmrep.json by address
    lists: dict[str, list[str]] = field(default_factory=dict)  # lines of each list
    asked: list[str] = field(default_factory=list)

    def host(self, country: str = "", ending: str = "") -> str:
        """A host that no other page has."""
        general = self.random.choice(("com", "org", "net"))
        national = _SUFFIXES.get(country, country.lower())
        ending = ending or (national if country and self.random.random() < 0.6 else general)
        www = "www." if self.random.random() < 0.4 else ""
        return f"{www}{'-'.join(words(self.random, 2))}{len(self.pages) + len(self.pictures)}.{ending}"

    def picture(self, draw: Draw | None = None, url: str = "", headers: dict[str, str] | None = None) -> str:
        """The address at which a picture is: a plain one, or what is drawn; `headers` of the answer."""
        draw = draw or partial(photo, self.random.randrange(2**32))
        host = f"pictures{self.random.randrange(40)}.static-{self.random.randrange(3)}.net"
        url = (
            url
            or f"http://{host}/{2010 + len(self.pages) % 15}/{'_'.join(words(self.random, 2))}_{len(self.pictures)}.jpg"
        )
        for asked in (url, url.partition("#")[0].replace(":80/", "/")):  # as it is written, and as it is asked for
            self.pictures[asked] = draw
            self.headers[asked] = headers or {}
        return url

    def say(self, kind: str, planted: bool, frame: str, value: str, *, language: str = "", country: str = "") -> Case:
        """Add a page in which a sentence, `{}` in it for the value, stands in a paragraph, a list or a table."""
        before, _, after = frame.partition("{}")
        return self.page(
            kind, planted, "text", value, language=language, country=country, said=(before, value, after),
            element=self.random.choice(("p", "p", "li", "td")),
        )  # fmt: skip

    def show(self, kind: str, planted: bool, what: str, source: str) -> Case:
        """Add a page with this picture, and a plain one."""
        return self.page(kind, planted, "image", what, images=(source, self.picture()))

    def page(
        self, kind: str, planted: bool, judge: str, what: str, *, country: str = "", language: str = "", url: str = "",
        said: tuple[str, str, str] | None = None, element: str = "p", head: str = "", inside: str = "", foot: str = "",
        images: tuple[str, ...] = (), headers: dict[str, str] | None = None, paragraphs: tuple[str, ...] = (),
    ) -> Case:  # fmt: skip
        """Add a page of a few paragraphs, and a case of it, which is about the first of the `images`.

        `said`: what stands before a value, the value, the rest; in an `element`. `inside`: HTML between the paragraphs.
        """
        random = self.random
        country = country or random.choice([c for c, spoken in COUNTRIES.items() if language in ("", spoken)])
        language = COUNTRIES[country]
        folders = "/".join(words(random, random.randint(1, 2)))
        url = url or f"{random.choice(('http', 'https'))}://{self.host(country)}/{folders}"
        title = " ".join(words(random, 3)).title()
        texts = paragraphs or [paragraph(language, random.randint(3, 5), random) for _ in range(random.randint(3, 5))]
        parts = [f"<p>{text}</p>" for text in texts]
        added = [_element(element, said, language, random)] if said else []
        added += [
            f'<img src="{source}" alt="{title}" width="480" height="360">' for source in images or (self.picture(),)
        ]
        for part in (*added, inside):
            parts.insert(random.randint(1, len(parts)), part)
        spoken = random.choice((language, f"{language}-{country}"))
        self.pages.append(Page(url, _html(spoken, title, head, parts, foot, random).encode(), headers=headers or {}))
        around = (said[0], said[2]) if said else ("", "")
        self.cases.append(Case(kind, planted, judge, what, url, images[0] if images else "", around))
        return self.cases[-1]

    def write(self, folder: Path, judge: str = "") -> list[Path]:
        """WARC files of the pages, or of those that are judged in one way, in the order of chance."""
        folder.mkdir(parents=True, exist_ok=True)
        urls = {case.url for case in self.cases if judge in ("", case.judge)}
        chosen = [page for page in self.pages if page.url in urls]
        pages = Random(len(chosen)).sample(chosen, len(chosen))
        paths = []
        for start in range(0, len(pages), _PAGES_OF_A_FILE):
            paths.append(folder / f"site-{start // _PAGES_OF_A_FILE:05}.warc.gz")
            paths[-1].write_bytes(warc_of(paths[-1].name, pages[start : start + _PAGES_OF_A_FILE]))
        (folder / "robots.warc.gz").write_bytes(warc_of("robots.warc.gz", self.captures))
        return paths


def _element(element: str, said: tuple[str, str, str], language: str, random: Random) -> str:
    spoken = escape("".join(said), quote=False)
    if element == "li":
        return f"<ul><li>{spoken}</li></ul>"
    if element == "td":
        return f"<table><tr><td>1</td><td>{spoken}</td></tr><tr><td>2</td><td>–</td></tr></table>"
    return f"<p>{paragraph(language, 2, random)}{'' if language in UNSPACED else ' '}{spoken}</p>"


def _html(spoken: str, title: str, head: str, parts: list[str], foot: str, random: Random) -> str:
    menu = "".join(f'<li><a href="/{word}">{word.title()}</a></li>' for word in words(random, 5))
    return (
        f'<!DOCTYPE html>\n<html lang="{spoken}"><head><meta charset="utf-8"><title>{title}</title>\n'
        f'<meta name="viewport" content="width=device-width">{head}</head>\n'
        f"<body><header><nav><ul>{menu}</ul></nav></header>\n<main><article><h1>{title}</h1>\n"
        + "\n".join(parts)
        + f"\n</article></main>\n<footer><p>© {random.randint(2005, 2024)} {title}</p>{foot}</footer></body></html>\n"
    )
