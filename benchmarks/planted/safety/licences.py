"""Licences as pages name them, and links to licences that are not the page's."""

from __future__ import annotations

import json
from random import Random
from typing import Any

from benchmarks.planted.safety.forms import data, text
from benchmarks.planted.safety.site import Site

_DEEDS = (
    "{http|https}://{creativecommons.org|www.creativecommons.org}/licenses/{by|by-sa|by-nc|by-nd|by-nc-sa|by-nc-nd}/",
    "{deed.de|deed.en|deed.fr|deed.es|deed.ja|deed.pt_BR|legalcode}",
)
_ALLOWED = ("cc-by-4.0", "cc-by-3.0", "cc-by-2.5", "cc-by-2.0", "cc0-1.0")
REQUIRED = ("cc-by", "cc0")


def deed(random: Random) -> tuple[str, str]:
    """The address of a deed, and the licence's name in SPDX's manner."""
    if random.random() < 0.2:
        way, name = random.choice((("zero", "cc0-1.0"), ("mark", "pdm-1.0")))
        return f"https://creativecommons.org/publicdomain/{way}/1.0/", name
    base, version = text(_DEEDS[0], random), random.choice(("4.0", "3.0", "2.5", "2.0"))
    port = text("{de|fr|us|es|jp|br}/", random) if version in ("3.0", "2.0") and random.random() < 0.4 else ""
    end = text(_DEEDS[1], random) if random.random() < 0.8 else ""
    return f"{base}{version}/{port}{end}", f"cc-{base.split('/')[-2]}-{version}"


def add_licences(site: Site, number: int) -> None:
    """As many of each way to say it, and half as many near misses of each."""
    random, words = site.random, data("licences")["words"]
    for n in range(number):
        for kind, places in data("licences")["planted"].items():
            language = random.choice(list(words))
            link, name = deed(random)
            site.page(
                f"licence: {kind}",
                True,
                "licence",
                name,
                language=language,
                **_placed(places, link, name, language, random),
            )
        for kind, places in data("licences")["near"].items() if n % 2 else ():
            link, name = deed(random)
            placed = _placed(places, link, name, "en", random)
            site.page(f"licence: not the page's, {kind}", False, "licence", name, language="en", **placed)


def _placed(places: dict[str, list[str]], link: str, name: str, language: str, random: Random) -> dict[str, Any]:
    """HTML by where it stands."""
    shown = name.upper().replace("-", " ")
    sort = random.choice(("Article", "BlogPosting", "NewsArticle", "WebPage"))
    article = {"@context": "https://schema.org", "@type": sort, "headline": "x", "license": link}
    image = {"@context": "https://schema.org", "@type": "ImageObject", "contentUrl": "/a.jpg", "license": link}
    said = data("licences")["words"][language]
    blanks = {
        "link": link,
        "shown": shown,
        "said": said.format(f'<a href="{link}">{shown}</a>'),
        "related": said.format(f'<a rel="license" href="{link}">{shown}</a>'),
        "one": json.dumps(article),
        "graph": json.dumps({"@context": "https://schema.org", "@graph": [{"@type": "WebSite", "name": "x"}, article]}),
        "image": json.dumps(image),
    }
    return {place: random.choice(forms).format(**blanks) for place, forms in places.items()}


def allowed(name: str) -> bool:
    """Whether `REQUIRED` allows it."""
    return name in _ALLOWED
