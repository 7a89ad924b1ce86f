"""What a page declares about itself: title, language, base address, robots directives, its licence."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from selectolax.lexbor import LexborHTMLParser

from obelics_pipeline.stages.extract.image_source import Attributes
from obelics_pipeline.stages.extract.licence.page_licence import META_NAMES as LICENCE_NAMES
from obelics_pipeline.stages.extract.publication import META_NAMES
from obelics_pipeline.stages.extract.tags import tag_id

_BASE = tag_id("base")
_TDM_NAMES = frozenset({"tdm-reservation", "tdm-policy"})  # https://www.w3.org/community/reports/tdmrep/
_TITLE_NAMES = frozenset({"og:title", "twitter:title"})
_DESCRIPTION_NAMES = frozenset({"description", "og:description", "twitter:description"})
_IMAGE_NAMES = frozenset({"og:image", "og:image:url", "og:image:secure_url", "twitter:image", "twitter:image:src"})
_NAMES = {"robots", "og:site_name", "og:type"}.union(
    _TDM_NAMES, _TITLE_NAMES, _DESCRIPTION_NAMES, _IMAGE_NAMES, META_NAMES, LICENCE_NAMES
)


@dataclass(slots=True)
class Head:
    """Declarations, wherever in the page they stand: broken pages carry their metas in the body."""

    title: str | None = None
    shared_titles: list[str] = field(default_factory=list)  # for those who link to the page, as written
    site_name: str = ""
    kind: str = ""  # og:type, lower case
    descriptions: list[str] = field(default_factory=list)  # as written
    html_lang: str | None = None
    base_href: str | None = None  # the first one counts, as in a browser
    robots: set[str] = field(default_factory=set)  # lower case
    images: list[str] = field(default_factory=list)  # addresses, as written, of the pictures that stand for the page
    dates: list[str] = field(default_factory=list)  # of publication, as written
    licences: list[str] = field(default_factory=list)  # statements about the page's rights, as written
    tdm: dict[str, str] = field(default_factory=dict)  # of text and data mining, by the name of the meta; the first one

    @property
    def titles(self) -> list[str]:
        """All that the page says to be its title."""
        return [*self.shared_titles, *([self.title] if self.title else [])]

    def note_meta(self, attributes: dict[str, str | None]) -> None:
        """A meta element: directives for robots, a picture for those who link to the page, or its date."""
        name = (
            (attributes.get("name") or attributes.get("property") or attributes.get("itemprop") or "").strip().lower()
        )
        if name not in _NAMES:
            return
        content = attributes.get("content") or ""
        if name == "robots":
            self.robots.update(d for d in map(str.strip, content.lower().split(",")) if d)
        elif name in _IMAGE_NAMES and content.strip():
            self.images.append(content.strip())
        elif name in _TITLE_NAMES:
            self.shared_titles.append(content)
        elif name == "og:site_name":
            self.site_name = content
        elif name == "og:type":
            self.kind = content.strip().lower()
        elif name in _DESCRIPTION_NAMES:
            self.descriptions.append(content)
        elif name in META_NAMES and content.strip():
            self.dates.append(content.strip())
        elif name in LICENCE_NAMES and content.strip():
            self.licences.append(content.strip())
        elif name in _TDM_NAMES:
            self.tdm.setdefault(name, content.strip())

    def note_base(self, attributes: dict[str, str | None]) -> None:
        """A base element: the first with an address counts."""
        if self.base_href is None:
            self.base_href = (attributes.get("href") or "").strip() or None

    def note_body(self, declarations: Iterable[tuple[int, Attributes]]) -> None:
        """The meta and base elements found outside the head, by tag."""
        for tag, attributes in declarations:
            if tag == _BASE:
                self.note_base(attributes)
            else:
                self.note_meta(attributes)


def read_head(parser: LexborHTMLParser) -> Head:
    """Read the head element and the language of the root element."""
    head = Head()
    if parser.root is not None:
        head.html_lang = (parser.root.attributes.get("lang") or "").strip() or None
    if parser.head is None:
        return head
    for node in parser.head.iter():
        match node.tag:
            case "meta":
                head.note_meta(node.attributes)
            case "base":
                head.note_base(node.attributes)
            case "title" if head.title is None and node.first_child is not None:
                head.title = " ".join((node.first_child.text_content or "").split()) or None
    return head
