"""What a page declares about itself: title, language, base address, robots directives."""

from __future__ import annotations

from dataclasses import dataclass, field

from selectolax.lexbor import LexborHTMLParser


@dataclass(slots=True)
class Head:
    """Declarations, wherever in the page they stand: broken pages carry their metas in the body."""

    title: str | None = None
    html_lang: str | None = None
    base_href: str | None = None  # the first one counts, as in a browser
    robots: set[str] = field(default_factory=set)  # lower case

    def note_meta(self, attributes: dict[str, str | None]) -> None:
        """A meta element: its directives count if its name is robots."""
        if (attributes.get("name") or "").strip().lower() == "robots":
            directives = (attributes.get("content") or "").lower().split(",")
            self.robots.update(d for d in map(str.strip, directives) if d)

    def note_base(self, attributes: dict[str, str | None]) -> None:
        """A base element: the first with an address counts."""
        if self.base_href is None:
            self.base_href = (attributes.get("href") or "").strip() or None


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
