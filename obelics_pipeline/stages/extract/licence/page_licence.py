"""The licence that a page says it is under, and those of its pictures, where they say so.

A page *declares* its licence by a link or a statement made for machines: `<link rel=license>`, `<a rel=license>` ("the
main content of the current document is covered by the copyright license described by the referenced document", HTML
4.6.7.9), schema.org's `license` as JSON-LD or microdata, RDFa, and metas such as Dublin Core's. A declaration within a
figure, a comment or another thing's description is about that thing. A plain link to a licence of Creative Commons
counts only where nothing is declared, and where its words or its place say that it is about the page.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from selectolax.lexbor import LexborHTMLParser

from obelics_pipeline.policy.opt_outs.licence_id import OTHER, licence_of_url, licences_in, strictest
from obelics_pipeline.stages.extract.find import find
from obelics_pipeline.stages.extract.licence.claim import Claim, stored
from obelics_pipeline.stages.extract.licence.elements import WORD, declared, may_declare
from obelics_pipeline.stages.extract.licence.json_ld import json_ld
from obelics_pipeline.stages.extract.licence.plain_links import plain_links

# In this order: of equal statements the first is named as the source.
SOURCES = ("link_rel", "json_ld", "microdata", "rdfa", "meta", "a_rel", "link")
META_NAMES = frozenset(
    "license licence dc.rights dc.rights.license dc.license dcterms.rights dcterms.license dc.rights.url dc.rights.uri "
    "dcterms.accessrights rights rights-standard cc:license dct:license schema:license citation_license "
    "og:license article:license copyright".split()
)


@dataclass(frozen=True, slots=True)
class PageLicence:
    """The licence of a page. `licence`: a name of `licence_id`, the strictest of `all`. `url`: as the page has it.
    `source`: one of `SOURCES`. `pictures`: the licences of pictures, by absolute URL.
    """

    licence: str | None = None
    url: str | None = None
    source: str | None = None
    all: tuple[str, ...] = ()
    pictures: dict[str, str] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """The licence for a document's general metadata; `licences` where the page names several."""
        if self.licence is None:
            return {}
        found: dict[str, Any] = {"licence": self.licence, "licence_url": self.url, "licence_source": self.source}
        return found | ({"licences": list(self.all)} if len(self.all) > 1 else {})


NO_LICENCE = PageLicence()


def read_licence(parser: LexborHTMLParser, source: bytes, metas: Iterable[str], url: str) -> PageLicence:
    """Read a parsed page. `metas` are the contents of metas in META_NAMES, `url` is the page's own.

    Bounded in every way: what a page says a thousand times it has said once.
    """
    claims = [Claim(name, "meta", _address(text)) for text in metas for name in licences_in(text)]
    pictures: dict[str, str] = {}
    if (first := find(source, WORD, 0)) >= 0:
        if find(source, b'"license"', max(0, first - 2)) >= 0 and find(source, b"ld+json", 0) >= 0:
            claims += json_ld(parser, url, pictures)
        if may_declare(source, first):
            claims += declared(parser, url, pictures)
    if not any(claim.licence != OTHER for claim in claims) and find(source, b"reativecommons.org", 0) >= 0:
        claims += plain_links(parser.css('a[href*="creativecommons.org" i]'))
    return _judge(claims, pictures)


def _judge(claims: list[Claim], pictures: dict[str, str]) -> PageLicence:
    """The strictest of the declared licences. An unknown URL counts only if no known licence is declared."""
    known = [claim for claim in claims if claim.licence != OTHER] or claims
    if not known:
        return PageLicence(pictures=pictures) if pictures else NO_LICENCE
    names = sorted({claim.licence for claim in known})
    worst = strictest(names)
    first = min((c for c in known if c.licence == worst), key=lambda c: (SOURCES.index(c.source), c.url is None))
    return PageLicence(worst, first.url, first.source, tuple(names), pictures)


def _address(text: str) -> str | None:
    """The URL of a licence in a statement, as it is stored."""
    return stored(text) if licence_of_url(text) else None
