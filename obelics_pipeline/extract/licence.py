"""The licence that a page says it is under, and those of its pictures, where they say so.

A page *declares* its licence by a link or a statement made for machines: `<link rel=license>`, `<a rel=license>` ("the
main content of the current document is covered by the copyright license described by the referenced document", HTML
4.6.7.9), schema.org's `license` as JSON-LD or microdata, RDFa, and metas such as Dublin Core's. A declaration within a
figure, a comment or another thing's description is about that thing. A plain link to a licence of Creative Commons
counts only where nothing is declared, and where its words or its place say that it is about the page.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from selectolax.lexbor import LexborHTMLParser, LexborNode

from obelics_pipeline.consent.licence_id import OTHER, licence_of_url, licences_in, strictest
from obelics_pipeline.extract.marks import BITS, marks_of
from obelics_pipeline.extract.tags import TEXT
from obelics_pipeline.extract.urls import join_url

# In this order: of equal statements the first is named as the source.
SOURCES = ("link_rel", "json_ld", "microdata", "rdfa", "meta", "a_rel", "link")
META_NAMES = frozenset(
    "license licence dc.rights dc.rights.license dc.license dcterms.rights dcterms.license dc.rights.url dc.rights.uri "
    "dcterms.accessrights rights rights-standard cc:license dct:license schema:license citation_license "
    "og:license article:license copyright".split()
)

MAX_CLAIMS = 200  # elements that are looked at, of each kind: a page that has more is a list of works
MAX_ANCESTORS = 60
MAX_JSON = 256 * 2**10  # characters of one script of JSON-LD
MAX_JSON_NODES = 20_000
MAX_URL = 500  # characters of an address that is stored
MAX_PICTURES = 200
_CONTEXT = 300  # characters around a plain link that say what it is about
_CLOSE = 80  # of these before it, those that may name a part of the page
_CONTEXT_NODES = 200

_OTHER_THINGS = frozenset({"figure", "figcaption", "blockquote", "object", "video", "audio", "picture", "template"})
_OTHERS_MARKS = BITS["caption"] | BITS["comment"] | BITS["related"] | BITS["advert"] | BITS["avatar"]
_FOOT = BITS["foot"]
_NEAR = 3  # ancestors whose names are believed: those of outer ones say what kind of page it is
_NEAR_FOOT = 12
_BLOCKS = frozenset(
    "p div li td th dd dt section article footer aside main body figure figcaption header nav ul ol table tr form "
    "blockquote address center fieldset".split()
)
# schema.org types that are a part of a page, or beside it, rather than the page.
_PARTS = frozenset(
    "imageobject videoobject audioobject mediaobject photograph painting visualartwork map comment review person "
    "organization softwareapplication softwaresourcecode musicrecording product offer imagegallery3d "
    "datadownload website".split()
)
_PICTURES = frozenset({"imageobject", "photograph", "visualartwork", "painting"})
_RDFA = re.compile(r"(?:^|\s)(?:(?:cc|dct|dcterms|dc|schema|xhv|xhtml):)?(?:license|rights)(?:\s|$)", re.IGNORECASE)

_ATTRIBUTE = re.compile(rb"""(?:rel|itemprop|property)\s*=\s*["']?[^"'<>=]*\Z""", re.IGNORECASE)
_WORD = b"icense"
_WORDS_READ = 1_000

_SAYS_LICENCE = re.compile(
    r"licen[scçz]|lizen[sz]|licenza|licentie|licencj|licență|lisans|lisens|creative\s+commons\b.{0,40}(?:zugänglich|"
    r"verfügbar|available)|лиценз|ліценз|許諾|许可|許可|授權|授权|ライセンス|라이선스|رخصة|ترخيص|άδεια|rights\s+reserved",
    re.IGNORECASE,
)
_OF_A_PART = re.compile(
    r"\b(?:photo\w*|image\w*|picture\w*|illustration\w*|graphic\w*|icon\w*|font\w*|theme\w*|template\w*|design\w*|"
    r"map\w*|data|dataset|music|song\w*|sound\w*|video\w*|logo\w*|credit\w*|courtesy|source|code|software|flickr|"
    r"wikimedia|wikipedia|unsplash|pixabay|openstreetmap|osm|foto\w*|bild\w*|grafik\w*|karte\w*|quelle\w*|imagen\w*|"
    r"immagin\w*|obraz\w*|zdj\w*|crédit\w*|kuva\w*|afbeelding\w*|by|von|par|via)\b|фото|изображ|图|圖|画像|写真|사진",
    re.IGNORECASE,
)
_ARCHIVES = re.compile(r"\b(?:flickr|wikimedia|unsplash|pixabay|pexels|openstreetmap)\b", re.IGNORECASE)
_OF_THE_PAGE = re.compile(
    r"\b(?:work\w*|content\w*|text\w*|article\w*|page\w*|web\s?site|website|site|blog\w*|weblog\w*|post\w*|book\w*|"
    r"document\w*|material\w*|unless|except|otherwise|werk\w*|inhalt\w*|artikel\w*|beitr\w+|seite\w*|webseite\w*|"
    r"contenid\w*|obra\w*|artículo\w*|sitio|contenu\w*|œuvre\w*|oeuvre\w*|cet|contenut\w*|opera|questo|conteúdo\w*|"
    r"open[\s-]access|all|alle|todo\w*|tous|copyright)\b|©|контент|содержан|материал|текст|本|内容|內容|文章|作品|콘텐츠",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class PageLicence:
    """What a page is under. `licence` is a name of `licence_id`, the strictest of `all`; `url` as the page has it.

    `source` is one of `SOURCES`. `pictures` are the licences of pictures, by absolute address.
    """

    licence: str | None = None
    url: str | None = None
    source: str | None = None
    all: tuple[str, ...] = ()
    pictures: dict[str, str] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """As it stands in a document's general metadata; `licences` where the page names several."""
        if self.licence is None:
            return {}
        found: dict[str, Any] = {"licence": self.licence, "licence_url": self.url, "licence_source": self.source}
        return found | ({"licences": list(self.all)} if len(self.all) > 1 else {})


NO_LICENCE = PageLicence()


@dataclass(frozen=True, slots=True)
class _Claim:
    """Something that is said of the page."""

    licence: str
    source: str
    url: str | None


def read_licence(parser: LexborHTMLParser, source: bytes, metas: Iterable[str], url: str) -> PageLicence:
    """Read a parsed page. `metas` are the contents of metas in META_NAMES, `url` is the page's own.

    Bounded in every way: what a page says a thousand times it has said once.
    """
    claims = [_Claim(name, "meta", _address(text)) for text in metas for name in licences_in(text)]
    pictures: dict[str, str] = {}
    if _WORD in source:
        if b'"license"' in source and b"ld+json" in source:
            claims += _json_ld(parser, url, pictures)
        if _declares(source):
            claims += _declared(parser, url, pictures)
    if not any(claim.licence != OTHER for claim in claims) and b"reativecommons.org" in source:
        claims += _plain(parser.css('a[href*="creativecommons.org" i]'))
    return _judge(claims, pictures)


def _declares(source: bytes) -> bool:
    """Whether an attribute that declares a licence may be there: looked for in the bytes, as most pages have none."""
    position = source.find(_WORD)
    for _ in range(_WORDS_READ):
        if position < 0:
            return False
        if _ATTRIBUTE.search(source, max(0, position - 80), position):
            return True
        position = source.find(_WORD, position + len(_WORD))
    return True  # too many to look at: the tree is asked


def _judge(claims: list[_Claim], pictures: dict[str, str]) -> PageLicence:
    """The strictest of what is said. An address that nobody knows counts where nothing else is said."""
    known = [claim for claim in claims if claim.licence != OTHER] or claims
    if not known:
        return PageLicence(pictures=pictures) if pictures else NO_LICENCE
    names = sorted({claim.licence for claim in known})
    worst = strictest(names)
    first = min((c for c in known if c.licence == worst), key=lambda c: (SOURCES.index(c.source), c.url is None))
    return PageLicence(worst, first.url, first.source, tuple(names), pictures)


def _declared(parser: LexborHTMLParser, url: str, pictures: dict[str, str]) -> Iterator[_Claim]:
    found = parser.css('[rel*="licen" i], [itemprop*="licen" i], [property*="licen" i], [property*="rights" i]')
    for node in found[:MAX_CLAIMS]:
        attributes = node.attributes
        how = _how(node.tag or "", attributes)
        target = attributes.get("href") or attributes.get("content") or attributes.get("resource") or ""
        if how is None:
            continue
        text = "" if target else _text_of(node)
        picture = _picture_around(node) if how != "link_rel" else None
        names = _names(target, text)
        if picture is not None:
            _note_picture(picture, names, url, pictures)
        elif how == "link_rel" or not _about_another_thing(node, how):
            yield from (_Claim(name, how, _stored(target)) for name in names)


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


def _names(target: str, text: str) -> list[str]:
    """The licences that an address, or a text where there is none, names."""
    if target:
        name = licence_of_url(target)
        return [name] if name else licences_in(target) or [OTHER]
    return licences_in(text)


def _about_another_thing(node: LexborNode, how: str) -> bool:
    """Whether a declaration stands within something that is not the page, or says itself what it is about."""
    for level, around in enumerate(_upwards(node)):
        if around.tag in _OTHER_THINGS:
            return True
        attributes = around.attributes
        if how in ("rdfa", "a_rel") and (attributes.get("about") or "").strip() not in ("", "#", "."):
            return True
        if how == "microdata" and "itemscope" in attributes:
            return _type_name(attributes.get("itemtype")) in _PARTS
        if 0 < level <= _NEAR and _marks(attributes) & _OTHERS_MARKS:
            return True
    return False


def _upwards(node: LexborNode) -> Iterator[LexborNode]:
    """A node and what is around it, from within."""
    here: LexborNode | None = node
    for _ in range(MAX_ANCESTORS):
        if here is None:
            return
        yield here
        here = here.parent


def _marks(attributes: dict[str, str | None]) -> int:
    names = attributes.get("class"), attributes.get("id")
    return marks_of(" ".join(name for name in names if name))


def _type_name(value: Any) -> str:
    return value.rstrip("/").rpartition("/")[2].rpartition(":")[2].lower() if isinstance(value, str) else ""


def _picture_around(node: LexborNode) -> str | None:
    """The address of the one picture of the figure, or of the described image, that an element stands in."""
    for around in _upwards(node):
        if around.tag == "figure" or _type_name(around.attributes.get("itemtype")) in _PICTURES:
            inside = islice(around.traverse(), _CONTEXT_NODES)
            found = [inner.attributes.get("src") for inner in inside if inner.tag == "img"]
            return found[0] if len(found) == 1 else None
    return None


def _note_picture(source: str, names: list[str], url: str, pictures: dict[str, str]) -> None:
    absolute = join_url(url, source)
    known = [name for name in names if name != OTHER]
    if absolute is not None and known and len(pictures) < MAX_PICTURES:
        before = [pictures[absolute]] if absolute in pictures else []
        pictures[absolute] = strictest([*before, *known])


# JSON-LD


def _json_ld(parser: LexborHTMLParser, url: str, pictures: dict[str, str]) -> Iterator[_Claim]:
    for script in parser.css('script[type*="ld+json" i]')[:MAX_CLAIMS]:
        text = script.first_child.text_content if script.first_child is not None else None
        if not text or '"license"' not in text or len(text) > MAX_JSON:
            continue
        try:
            value = json.loads(text, strict=False)
        except (ValueError, RecursionError):
            continue
        yield from _described(value, url, pictures)


def _described(value: Any, url: str, pictures: dict[str, str]) -> Iterator[_Claim]:
    """What a graph of things says of the page, and of pictures; the things within a thing are others."""
    waiting, seen = [value], 0
    while waiting and seen < MAX_JSON_NODES:
        here = waiting.pop()
        seen += 1
        if isinstance(here, list):
            waiting += reversed(here)
        elif isinstance(here, dict):
            waiting += [v for k, v in reversed(here.items()) if isinstance(v, (dict, list)) and k != "license"]
            if "license" in here:
                yield from _of_thing(here, url, pictures)


def _of_thing(thing: dict[str, Any], url: str, pictures: dict[str, str]) -> Iterator[_Claim]:
    types = {_type_name(kind) for kind in _listed(thing.get("@type"))}
    said = [text for value in _listed(thing["license"]) if (text := _address_of(value))]
    names = [(name, text) for text in said for name in _names(text, "")]
    if types & _PICTURES:
        source = next((s for key in ("contentUrl", "url") for s in _listed(thing.get(key)) if isinstance(s, str)), None)
        if source is not None:
            _note_picture(source, [name for name, _ in names], url, pictures)
    elif types and not types & _PARTS:
        yield from (_Claim(name, "json_ld", _stored(text)) for name, text in names)


def _listed(value: Any) -> list[Any]:
    return value[:MAX_CLAIMS] if isinstance(value, list) else [] if value is None else [value]


def _address_of(value: Any) -> str | None:
    """An address, or a name, as it stands or in a thing of its own (a CreativeWork)."""
    if isinstance(value, dict):
        value = next((value[key] for key in ("@id", "url", "name") if isinstance(value.get(key), str)), None)
    return value.strip()[:MAX_URL] or None if isinstance(value, str) else None


# Plain links


def _plain(links: list[LexborNode]) -> list[_Claim]:
    """The links that are about the page. A page with links to many licences is about licences."""
    named = [(node, name, href) for node in links[:MAX_CLAIMS] if (found := _of_link(node)) for name, href in [found]]
    if len({name for _, name, _ in named}) > _ABOUT_LICENCES:
        return []
    return [_Claim(name, "link", _stored(href)) for node, name, href in named if _about_page(node)]


_ABOUT_LICENCES = 3


def _of_link(node: LexborNode) -> tuple[str, str] | None:
    href = node.attributes.get("href") or ""
    name = licence_of_url(href)
    return None if name is None else (name, href)


def _about_page(node: LexborNode) -> bool:
    """Whether a plain link's words say that it is the page's, or that it stands in the page's footer."""
    in_foot = False
    for level, around in enumerate(_upwards(node)):
        if around.tag in _OTHER_THINGS:
            return False
        marks = _marks(around.attributes) if level <= _NEAR_FOOT and around.tag != "body" else 0
        if 0 < level <= _NEAR and marks & _OTHERS_MARKS and not marks & _FOOT:
            return False
        in_foot = in_foot or around.tag == "footer" or bool(marks & _FOOT)
    before, after = _words_around(node)
    if _OF_A_PART.search(before[-_CLOSE:]) and not _OF_THE_PAGE.search(before[-_CLOSE:]):
        return False
    return in_foot or (_SAYS_LICENCE.search(before + " " + after) is not None and not _ARCHIVES.search(after))


def _words_around(node: LexborNode) -> tuple[str, str]:
    """What stands before a link in its block, and the link with what follows it; some hundred characters each."""
    attributes = node.attributes
    own = [_text_of(node), attributes.get("title") or "", attributes.get("aria-label") or ""]
    own += [image.attributes.get("alt") or "" for image in node.css("img")[:2]]
    before = " ".join(reversed([*_beside(node, forward=False)]))[-_CONTEXT:]
    return before, " ".join([*own, *_beside(node, forward=True)])[:_CONTEXT]


def _beside(node: LexborNode, forward: bool) -> Iterator[str]:
    """The texts before or after a node, away from it, up to the end of its block or to another block."""
    here, characters = node, 0
    for _ in range(_CONTEXT_NODES):
        beside = here.next if forward else here.prev
        if beside is None:
            around = here.parent
            if around is None or around.tag in _BLOCKS:
                return
            here = around
            continue
        here = beside
        if here.tag in _BLOCKS or characters > _CONTEXT:
            return
        text = _text_of(here)
        characters += len(text)
        yield text


def _text_of(node: LexborNode) -> str:
    """The text within a node, some hundred characters of it."""
    if node.tag_id == TEXT:
        return (node.text_content or "")[-_CONTEXT:]
    texts: list[str] = []
    for inner in islice(node.traverse(include_text=True), _CONTEXT_NODES):
        if inner.tag_id == TEXT:
            texts.append((inner.text_content or "")[:_CONTEXT])
    return " ".join(texts)[:_CONTEXT]


def _address(text: str) -> str | None:
    """What of a statement is stored as the licence's address."""
    return _stored(text) if licence_of_url(text) else None


def _stored(target: str) -> str | None:
    text = target.strip()[:MAX_URL]
    return text or None
