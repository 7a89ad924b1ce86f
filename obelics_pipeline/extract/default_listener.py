"""The `default` rule set at work on one page."""

from __future__ import annotations

from selectolax.lexbor import LexborNode

from obelics_pipeline.document import Node, TextNode
from obelics_pipeline.extract import default_rules as rules
from obelics_pipeline.extract.default_images import ImageCollector
from obelics_pipeline.extract.default_texts import LINE_BREAK, ListText, code, paragraphs
from obelics_pipeline.extract.default_visibility import is_hidden
from obelics_pipeline.extract.head import Head
from obelics_pipeline.extract.image_source import Attributes
from obelics_pipeline.extract.picture import read_picture
from obelics_pipeline.extract.table import read_table
from obelics_pipeline.extract.tags import by_id, by_name, tag_id

_ACTIONS: dict[int, int] = by_id(rules.TAGS)
_NAMED_ACTIONS: dict[str, int] = by_name(rules.TAGS)
_H1 = tag_id("h1")
_NOSCRIPT = tag_id("noscript")
_FIRST_WIDE = "\u2e80"  # from here on scripts are written without spaces


class DefaultListener:
    """Collects the nodes of one page by the default rules."""

    def __init__(self, url: str, head: Head) -> None:
        self.nodes: list[Node] = []
        self._head = head
        self._images = ImageCollector(self.nodes, url, head)
        self._pieces: list[str] = []  # the text of the paragraph at hand
        self._list = ListText()
        self._depths = dict.fromkeys(range(rules.DIALOG, rules.TITLE_IN_HEADER + 1), 0)  # open elements by code
        self._link_end = -1  # number of pieces at which a link ended
        self._silent = False  # text and images are not kept: a page header
        self._noscript_parent = 0

    # -- the walk ---------------------------------------------------------------------------------------------

    def enter(self, node: LexborNode, tag: int) -> int:
        """Decide what becomes of an element, and do what its beginning asks for."""
        action = _ACTIONS.get(tag)
        if action is None:
            action = _NAMED_ACTIONS.get(node.tag or "", rules.BLOCK)
        if action == rules.DROP:
            return rules.DROP
        if action == rules.BREAK:
            self._pieces.append(LINE_BREAK)
            return rules.DROP
        attributes = node.attributes
        if not rules.TELLING_ATTRIBUTES.isdisjoint(attributes):
            if is_hidden(attributes, tag):
                return rules.DROP
            role = (attributes.get("role") or "").strip().lower()
            if role in rules.FRAME_ROLES:
                action = rules.FRAME
            elif role in rules.HEADER_ROLES:
                action = rules.HEADER
        if action == rules.INLINE:
            return rules.INLINE
        if action == rules.BLOCK:
            if self._pieces:
                self._end_paragraph()
            return rules.BLOCK
        if action == rules.LINK:
            self._separate_links()
            return rules.LINK
        if action < 0:
            return self._special(node, tag, action, attributes)
        return self._begin(node, tag, action)

    def leave(self, code: int) -> None:
        """An element that was entered with this code ends."""
        if code == rules.BLOCK:
            if self._pieces:
                self._end_paragraph()
            return
        if code == rules.LINK:
            self._link_end = len(self._pieces)
            return
        if code != rules.NOSCRIPT:
            self._end_paragraph()
        self._depths[code] -= 1
        if code == rules.LIST:
            if not self._depths[rules.LIST]:
                self._end_list()
        elif code == rules.PAGE_HEADER:
            self._silent = False
        elif code == rules.TITLE_IN_HEADER:
            self._depths[rules.HEADING] -= 1
            self._silent = True

    def text(self, text: str) -> None:
        """Text of the paragraph at hand."""
        if (self._pieces or not text.isspace()) and not self._silent and not self._depths[rules.NOSCRIPT]:
            self._pieces.append(text)

    def finish(self) -> list[Node]:
        """The nodes of the page, once the walk is over."""
        self._end_paragraph()
        self._end_list()
        return self.nodes

    # -- beginnings -------------------------------------------------------------------------------------------

    def _begin(self, node: LexborNode, tag: int, action: int) -> int:
        """An element with a code of its own begins."""
        if action == rules.NOSCRIPT:
            if self._depths[rules.NOSCRIPT]:
                return rules.INLINE
            parent = node.parent
            self._noscript_parent = parent.mem_id if parent is not None else 0
        else:
            self._end_paragraph()
        if action == rules.HEADING and self._depths[rules.PAGE_HEADER] and tag == _H1 and self._silent:
            self._silent = False
            self._depths[rules.HEADING] += 1
            action = rules.TITLE_IN_HEADER
        self._depths[action] += 1
        return action

    def _special(self, node: LexborNode, tag: int, action: int, attributes: Attributes) -> int:
        """An element that has no end, or of which the place decides what it is."""
        match action:
            case rules.IMAGE:
                self._image(node, attributes, [])
            case rules.PICTURE:
                image, sources = read_picture(node)
                self._image(node, image, sources)
            case rules.TABLE:
                return self._table(node, attributes)
            case rules.HEADER:
                return self._header()
            case rules.FRAME:
                if self._depths[rules.QUOTE] or self._depths[rules.FIGURE]:
                    self._end_paragraph()
                    return rules.BLOCK
            case rules.BUTTON:
                return rules.INLINE if self._depths[rules.HEADING] else rules.DROP
            case rules.DIALOG:
                if "open" in attributes:
                    self._end_paragraph()
                    return rules.BLOCK
            case rules.META:
                self._head.note_meta(attributes)
            case rules.BASE:
                self._head.note_base(attributes)
        return rules.DROP

    def _header(self) -> int:
        """A header of an article is text; of a page header only the title is."""
        self._end_paragraph()
        if self._depths[rules.CONTENT] or self._silent:
            return rules.BLOCK
        self._silent = True
        self._depths[rules.PAGE_HEADER] += 1
        return rules.PAGE_HEADER

    def _table(self, node: LexborNode, attributes: Attributes) -> int:
        self._end_paragraph()
        if self._depths[rules.NOSCRIPT] or self._silent or self._depths[rules.PREFORMATTED]:
            return rules.BLOCK
        table = read_table(node) if attributes.get("role") not in ("presentation", "none") else None
        if table is None:
            return rules.BLOCK
        self._end_list()
        if table.caption:
            self.nodes.append(TextNode(table.caption, "caption"))
        self.nodes.append(TextNode(table.text(), "table"))
        return rules.DROP

    def _image(self, node: LexborNode, image: Attributes, sources: list[Attributes]) -> None:
        if self._silent:
            return
        in_noscript = self._depths[rules.NOSCRIPT] > 0
        role = "figure" if self._depths[rules.FIGURE] else "inline"
        parent = node.parent
        identity = self._noscript_parent if in_noscript else parent.mem_id if parent is not None else 0
        found = self._images.candidate(image, sources, role, in_noscript=in_noscript)
        if found is not None:
            self._end_paragraph()
            self._end_list()
            self._images.add(*found, identity, in_noscript=in_noscript)

    # -- ends -------------------------------------------------------------------------------------------------

    def _separate_links(self) -> None:
        """Two links that touch are two words, for pages set them apart by style."""
        pieces = self._pieces
        if pieces and self._link_end == len(pieces) and pieces[-1][-1:] < _FIRST_WIDE:
            pieces.append(" ")

    def _end_paragraph(self) -> None:
        """A block begins or ends: the text before it is complete."""
        pieces = self._pieces
        self._link_end = -1
        if not pieces:
            return
        depths = self._depths
        if depths[rules.PREFORMATTED]:
            text = code(pieces)
            if text:
                self._end_list()
                self.nodes.append(TextNode(text, "code"))
        else:
            for text in paragraphs(pieces):
                self._add_text(text)
        pieces.clear()

    def _add_text(self, text: str) -> None:
        depths = self._depths
        if depths[rules.HEADING]:
            role = "heading"
        elif depths[rules.CAPTION]:
            role = "caption"
        elif depths[rules.LIST]:
            self._list.add(depths[rules.LIST] - 1 + (depths[rules.DETAIL] > 0), text)
            return
        else:
            role = "quote" if depths[rules.QUOTE] else "paragraph"
        if self._list.items:
            self._end_list()
        self.nodes.append(TextNode(text, role))

    def _end_list(self) -> None:
        """What follows is no item: the list so far is complete."""
        self.nodes.extend(self._list.take())
