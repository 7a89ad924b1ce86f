"""Plain links to licences of Creative Commons: they are about the page where their words or their place say so."""

from __future__ import annotations

import re
from collections.abc import Iterator

from selectolax.lexbor import LexborNode

from obelics_pipeline.policy.opt_outs.licence_id import licence_of_url
from obelics_pipeline.stages.extract.licence.around import (
    CONTEXT,
    MAX_NODES,
    NEAR,
    OTHER_THINGS,
    OTHERS_MARKS,
    marks_at,
    text_of,
    upwards,
)
from obelics_pipeline.stages.extract.licence.claim import MAX_CLAIMS, Claim, stored
from obelics_pipeline.stages.extract.marks import BITS

_CLOSE = 80  # characters before a link that may name a part of the page
_FOOT = BITS["foot"]
_NEAR_FOOT = 12
_ABOUT_LICENCES = 3  # different ones: a page with links to more is about licences
_BLOCKS = frozenset(
    "p div li td th dd dt section article footer aside main body figure figcaption header nav ul ol table tr form "
    "blockquote address center fieldset".split()
)
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


def plain_links(links: list[LexborNode]) -> list[Claim]:
    """The links that are about the page. A page with links to many licences is about licences."""
    named = [(node, name, href) for node in links[:MAX_CLAIMS] if (found := _of_link(node)) for name, href in [found]]
    if len({name for _, name, _ in named}) > _ABOUT_LICENCES:
        return []
    return [Claim(name, "link", stored(href)) for node, name, href in named if _about_page(node)]


def _of_link(node: LexborNode) -> tuple[str, str] | None:
    href = node.attributes.get("href") or ""
    name = licence_of_url(href)
    return None if name is None else (name, href)


def _about_page(node: LexborNode) -> bool:
    """Whether a plain link's words say that it is the page's, or that it stands in the page's footer."""
    in_foot = False
    for level, around in enumerate(upwards(node)):
        if around.tag in OTHER_THINGS:
            return False
        marks = marks_at(around.attributes) if level <= _NEAR_FOOT and around.tag != "body" else 0
        if 0 < level <= NEAR and marks & OTHERS_MARKS and not marks & _FOOT:
            return False
        in_foot = in_foot or around.tag == "footer" or bool(marks & _FOOT)
    before, after = _words_around(node)
    if _OF_A_PART.search(before[-_CLOSE:]) and not _OF_THE_PAGE.search(before[-_CLOSE:]):
        return False
    return in_foot or (_SAYS_LICENCE.search(before + " " + after) is not None and not _ARCHIVES.search(after))


def _words_around(node: LexborNode) -> tuple[str, str]:
    """The text before a link in its block, and the link with the text after it; about a hundred characters each."""
    attributes = node.attributes
    own = [text_of(node), attributes.get("title") or "", attributes.get("aria-label") or ""]
    own += [image.attributes.get("alt") or "" for image in node.css("img")[:2]]
    before = " ".join(reversed([*_beside(node, forward=False)]))[-CONTEXT:]
    return before, " ".join([*own, *_beside(node, forward=True)])[:CONTEXT]


def _beside(node: LexborNode, forward: bool) -> Iterator[str]:
    """The texts before or after a node, away from it, up to the end of its block or to another block."""
    here, characters = node, 0
    for _ in range(MAX_NODES):
        beside = here.next if forward else here.prev
        if beside is None:
            around = here.parent
            if around is None or around.tag in _BLOCKS:
                return
            here = around
            continue
        here = beside
        if here.tag in _BLOCKS or characters > CONTEXT:
            return
        text = text_of(here)
        characters += len(text)
        yield text
