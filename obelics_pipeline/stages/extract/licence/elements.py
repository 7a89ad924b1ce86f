"""Declarations by elements: rel=license, microdata, RDFa."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from selectolax.lexbor import LexborHTMLParser, LexborNode

from obelics_pipeline.stages.extract.find import find
from obelics_pipeline.stages.extract.licence.around import (
    MAX_NODES,
    NEAR,
    OTHER_THINGS,
    OTHERS_MARKS,
    marks_at,
    text_of,
    upwards,
)
from obelics_pipeline.stages.extract.licence.claim import MAX_CLAIMS, Claim, names_of, note_picture, stored
from obelics_pipeline.stages.extract.licence.things import OTHER_WORKS, PARTS, PICTURES, type_name

_RDFA = re.compile(r"(?:^|\s)(?:(?:cc|dct|dcterms|dc|schema|xhv|xhtml):)?(?:license|rights)(?:\s|$)", re.IGNORECASE)

_ATTRIBUTE = re.compile(rb"""(?:rel|itemprop|property)\s*=\s*["']?[^"'<>=]*\Z""", re.IGNORECASE)
_BEFORE = 80  # bytes of an attribute before the word
WORD = b"icense"  # in every declaration
_WORDS_READ = 1_000


def may_declare(source: bytes, start: int) -> bool:
    """Whether an attribute that declares a licence may be there: looked for in the bytes, as most pages have none.

    `start` is a byte before which the word is not.
    """
    position = find(source, WORD, start)
    for _ in range(_WORDS_READ):
        if position < 0:
            return False
        first = max(0, position - _BEFORE)
        if source.rfind(b"=", first, position) >= 0 and _ATTRIBUTE.search(source, first, position):
            return True
        position = find(source, WORD, position + len(WORD))
    return True  # too many to look at: the tree is asked


def declared(parser: LexborHTMLParser, url: str, pictures: dict[str, str]) -> Iterator[Claim]:
    """Licences of the page that elements declare. Those of its pictures are added to `pictures`."""
    found = parser.css('[rel*="licen" i], [itemprop*="licen" i], [property*="licen" i], [property*="rights" i]')
    for node in found[:MAX_CLAIMS]:
        attributes = node.attributes
        how = _how(node.tag or "", attributes)
        target = attributes.get("href") or attributes.get("content") or attributes.get("resource") or ""
        if how is None:
            continue
        text = "" if target else text_of(node)
        picture = _picture_around(node) if how != "link_rel" else None
        names = names_of(target, text)
        if picture is not None:
            note_picture(picture, names, url, pictures)
        elif how == "link_rel" or not _about_another_thing(node, how):
            yield from (Claim(name, how, stored(target)) for name in names)


def _how(tag: str, attributes: dict[str, str | None]) -> str | None:
    """By which convention an element declares a licence; None if by none."""
    rel = (attributes.get("rel") or "").lower().split()
    if "license" in rel:
        return "link_rel" if tag == "link" else "a_rel"
    if "license" in (attributes.get("itemprop") or "").lower().split():
        return "microdata"
    said = f"{attributes.get('property') or ''} {attributes.get('rel') or ''}"
    if tag != "meta" and _RDFA.search(said):
        return "rdfa"
    return None


def _about_another_thing(node: LexborNode, how: str) -> bool:
    """Whether a declaration stands within something that is not the page, or says itself what it is about."""
    for level, around in enumerate(upwards(node)):
        if around.tag in OTHER_THINGS:
            return True
        attributes = around.attributes
        if how in ("rdfa", "a_rel") and (attributes.get("about") or "").strip() not in ("", "#", "."):
            return True
        if how == "microdata" and "itemscope" in attributes:
            prop = (attributes.get("itemprop") or "").lower().split()
            return type_name(attributes.get("itemtype")) in PARTS or not OTHER_WORKS.isdisjoint(prop)
        if 0 < level <= NEAR and marks_at(attributes) & OTHERS_MARKS:
            return True
    return False


def _picture_around(node: LexborNode) -> str | None:
    """The address of the one picture of the figure, or of the described image, that an element stands in."""
    for around in upwards(node):
        if around.tag == "figure" or type_name(around.attributes.get("itemtype")) in PICTURES:
            inside = islice(around.traverse(), MAX_NODES)
            found = [inner.attributes.get("src") for inner in inside if inner.tag == "img"]
            return found[0] if len(found) == 1 else None
    return None
