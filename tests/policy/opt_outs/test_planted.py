"""Planted licences are found, with their name, and a thousand near misses have none."""

import json
import random
from collections.abc import Callable

from obelics_pipeline.core.config import ExtractionConfig
from obelics_pipeline.stages.extract.page import extract_page

CODES = ("by", "by-sa", "by-nd", "by-nc", "by-nc-sa", "by-nc-nd")
VERSIONS = ("1.0", "2.0", "2.5", "3.0", "4.0")
TAILS = ("", "/", "/de/", "/us/deed.en", "/deed.fr", "/legalcode", "/?ref=chooser-v1", "/#x")
HEADS = ("http://", "https://", "//", "https://www.")
WORDS = "river stone market window silver travel garden number letter winter coffee bridge island record mirror".split()

Plant = Callable[[random.Random, str], tuple[str, str]]  # a licence's address -> what stands in head and body


def ld(r: random.Random, thing: dict[str, object]) -> tuple[str, str]:
    return f'<script type="application/ld+json">{json.dumps(thing, indent=r.choice([None, 1]))}</script>', ""


def block(text: str) -> tuple[str, str]:
    return "", text


DECLARED: dict[str, Plant] = {
    "link": lambda r, u: (f'<link rel="license" href="{u}">', ""),
    "a": lambda r, u: block(f'<p>{words(r)} <a rel="{r.choice(["license", "nofollow license"])}" href={u}>CC</a></p>'),
    "json": lambda r, u: ld(r, {"@type": r.choice(["Article", "WebPage", "Dataset", "CreativeWork"]), "license": u}),
    "meta": lambda r, u: (f'<meta name="{r.choice(["DC.rights", "dcterms.license", "license"])}" content="{u}">', ""),
    "rdfa": lambda r, u: block(f'<span property="{r.choice(["cc", "dct", "schema"])}:license" resource="{u}">x</span>'),
    "microdata": lambda r, u: block(
        f'<div itemscope itemtype="https://schema.org/Article"><link itemprop="license" href="{u}"></div>'
    ),
    "sentence": lambda r, u: block(f'<p>{r.choice(SENTENCES)} <a href="{u}">Creative Commons</a>.</p>'),
    "footer": lambda r, u: block(f'<footer><p>© {words(r)} <a href="{u}"><img src="/cc.png"></a></p></footer>'),
}
SENTENCES = (
    "This work is licensed under a", "Except where otherwise noted, content on this site is licensed under",
    "Dieses Werk ist lizenziert unter einer", "Ce contenu est mis à disposition selon les termes de la licence",
    "Esta obra está bajo una licencia", "Quest'opera è distribuita con licenza", "Text is available under the license",
    "Deze tekst valt onder een licentie van", "Это произведение доступно по лицензии", "本作品采用许可协议",
)  # fmt: skip

NEAR: dict[str, Plant] = {
    "figure": lambda r, u: block(
        f'<figure><img src="/a.jpg"><figcaption>{words(r)} <a rel="license" href="{u}">l</a></figcaption></figure>'
    ),
    "credit": lambda r, u: block(f'<p>{r.choice(CREDITS)} {words(r)}, <a href="{u}">CC licensed</a></p>'),
    "caption": lambda r, u: block(f'<p class="image-caption">{words(r)} licence <a href="{u}">CC</a></p>'),
    "comment": lambda r, u: block(
        f'<div class="comment"><p>This work is licensed under <a rel="license" href="{u}">CC</a></p></div>'
    ),
    "picture": lambda r, u: ld(r, {"@type": "ImageObject", "license": u}),
    "mention": lambda r, u: block(f'<p>{words(r)} <a href="{u}">a deed</a> {words(r)}</p>'),
    "list": lambda r, u: block(
        "".join(f'<p>A licence: <a href="https://creativecommons.org/licenses/{c}/4.0/">{c}</a></p>' for c in CODES)
    ),
    "other host": lambda r, u: block(f'<p>This work is licensed under <a href="https://a.example/?u={u}">x</a></p>'),
    "nested": lambda r, u: ld(r, {"@type": "Article", "image": {"@type": "ImageObject", "license": u}}),
    "about": lambda r, u: block(f'<div about="https://a.example/song"><a rel="license" href="{u}">x</a></div>'),
}
CREDITS = (
    "Photo by",
    "Image:",
    "Foto:",
    "Bild von",
    "Illustration by",
    "Icons by",
    "Map data by",
    "Imagen de",
    "Source:",
)


def words(r: random.Random) -> str:
    return " ".join(r.choices(WORDS, k=4))


def found(r: random.Random, plant: Plant, url: str) -> str | None:
    head, body = plant(r, url)
    text = " ".join(r.choices(WORDS, k=120))
    html = (
        f"<html><head><title>{words(r)}</title>{head}</head><body><h1>{words(r)}</h1><p>{text}</p>{body}</body></html>"
    )
    return extract_page(html, "https://site.example/page", ExtractionConfig(), licence=True).licence.licence


def address(r: random.Random) -> tuple[str, str]:
    code, version = r.choice(CODES), r.choice(VERSIONS)
    return f"{r.choice(HEADS)}creativecommons.org/licenses/{code}/{version}{r.choice(TAILS)}", f"cc-{code}-{version}"


def test_what_is_planted_is_found() -> None:
    r = random.Random(1)
    missed = []
    for name, plant in DECLARED.items():
        for _ in range(60):
            url, licence = address(r)
            if (got := found(r, plant, url)) != licence:
                missed.append((name, url, got))
    assert missed == []


def test_a_thousand_near_misses_have_no_licence() -> None:
    r = random.Random(2)
    taken = []
    for name, plant in NEAR.items():
        for _ in range(100):
            url, _licence = address(r)
            if (got := found(r, plant, url)) is not None:
                taken.append((name, url, got))
    assert taken == []
