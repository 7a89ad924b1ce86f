"""Licences as pages name them, and links to licences that are not the page's."""

from __future__ import annotations

import json
from random import Random

from benchmarks.planted.safety.site import Site

_FAMILIES = ("by", "by-sa", "by-nc", "by-nd", "by-nc-sa", "by-nc-nd")
_VERSIONS = ("4.0", "3.0", "2.5", "2.0")
_PORTS = ("de", "fr", "us", "es", "jp", "br")
_DEEDS = ("", "deed.de", "deed.en", "deed.fr", "deed.es", "deed.ja", "deed.pt_BR", "legalcode")
_WORDS = {
    "en": "This work is licensed under a {} licence.", "de": "Dieser Text steht unter einer {}-Lizenz.",
    "fr": "Ce texte est mis à disposition sous licence {}.", "es": "Este texto está bajo una licencia {}.",
    "it": "Questo testo è distribuito con licenza {}.", "pt": "Este texto está sob uma licença {}.",
    "nl": "Deze tekst valt onder een {}-licentie.", "pl": "Ten tekst jest dostępny na licencji {}.",
    "ja": "この文章は{}ライセンスのもとで公開されています。", "ru": "Текст доступен по лицензии {}.",
}  # fmt: skip


def deed(random: Random) -> tuple[str, str]:
    """The address of a deed, and the licence's name in SPDX's manner."""
    scheme, www = random.choice(("http", "https")), random.choice(("", "www."))
    base = f"{scheme}://{www}creativecommons.org"
    if random.random() < 0.2:
        return random.choice(
            ((f"{base}/publicdomain/zero/1.0/", "cc0-1.0"), (f"{base}/publicdomain/mark/1.0/", "pdm-1.0"))
        )
    family, version = random.choice(_FAMILIES), random.choice(_VERSIONS)
    port = f"{random.choice(_PORTS)}/" if version in ("3.0", "2.0") and random.random() < 0.4 else ""
    end = random.choice(_DEEDS)
    return f"{base}/licenses/{family}/{version}/{port}{end}", f"cc-{family}-{version}"


def add_licences(site: Site, number: int) -> None:
    """As many of each way to say it, and half as many near misses."""
    random = site.random
    for _ in range(number):
        language = random.choice(list(_WORDS))
        link, name = deed(random)
        shown = name.upper().replace("-", " ")
        words = _WORDS[language].format(f'<a href="{link}">{shown}</a>')
        related = _WORDS[language].format(f'<a rel="license" href="{link}">{shown}</a>')
        badge = f'<a rel="license" href="{link}"><img src="https://i.creativecommons.org/l/x/88x31.png" alt="CC"></a>'
        graph = {
            "@context": "https://schema.org",
            "@type": random.choice(("Article", "BlogPosting", "NewsArticle", "WebPage")),
            "headline": "x",
            "license": link,
        }
        if random.random() < 0.3:
            graph = {"@context": "https://schema.org", "@graph": [{"@type": "WebSite", "name": "x"}, graph]}
        kinds = {
            "link rel=license": {"head": f'<link rel="license" href="{link}">'},
            "a rel=license": {"foot": f"<p>{random.choice((related, badge))}</p>"},
            "JSON-LD": {"head": f'<script type="application/ld+json">{json.dumps(graph)}</script>'},
            "meta dc.rights": {
                "head": f'<meta name="{random.choice(("dc.rights", "DC.rights", "dcterms.license", "dcterms.rights"))}" content="{link}">'
            },
            "microdata": {
                "inside": f'<div itemscope itemtype="https://schema.org/Article"><link itemprop="license" href="{link}"></div>'
            },
            "RDFa": {
                "inside": f'<p xmlns:cc="http://creativecommons.org/ns#"><a property="cc:license" href="{link}">{shown}</a></p>'
            },
            "link in footer": {"foot": f"<p>{words}</p>"},
            "link in text": {"inside": f"<p>{words}</p>"},
        }
        for kind, where in kinds.items():
            site.page(f"licence: {kind}", True, "licence", name, language=language, **where)  # type: ignore[arg-type]
        figure = f'<figure><img src="{{}}" width="480" height="360"><figcaption>Photo: A. Walker, <a href="{link}">{shown}</a></figcaption></figure>'
        many = "".join(
            f'<li><a href="https://creativecommons.org/licenses/{f}/4.0/">CC {f}</a></li>' for f in _FAMILIES
        )
        picture = {"@context": "https://schema.org", "@type": "ImageObject", "contentUrl": "/a.jpg", "license": link}
        near = {
            "of a photo": {"inside": figure.format(f"http://pictures1.static-0.net/none/{random.random()}.jpg")},
            "a list of all": {"inside": f"<ul>{many}</ul>"},
            "of an image in JSON-LD": {"head": f'<script type="application/ld+json">{json.dumps(picture)}</script>'},
            "of a theme": {"foot": f'<p>Theme by Nord, <a href="{link}">{shown}</a></p>'},
            "organisation": {
                "inside": '<p>Read more at <a href="https://creativecommons.org/about/">Creative Commons</a>.</p>'
            },
            "all rights reserved": {"foot": "<p>All rights reserved.</p>"},
            "words in the text": {"inside": f"<p>Many bands now choose {shown} for their records.</p>"},
        }
        for kind, where in near.items():
            if random.random() < 0.5:
                site.page(f"licence: not the page's, {kind}", False, "licence", name, language="en", **where)  # type: ignore[arg-type]
