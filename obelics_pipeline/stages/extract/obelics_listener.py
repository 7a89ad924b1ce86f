"""The `obelics` rule set at work: the reference's stages 2b and 2c in a single pass."""

from __future__ import annotations

from selectolax.lexbor import LexborNode

from obelics_pipeline.core.document import PARAGRAPH_SEPARATOR, Node, TextNode
from obelics_pipeline.stages.extract import obelics_rules as rules
from obelics_pipeline.stages.extract.obelics_images import image_node, image_source, page_netloc
from obelics_pipeline.stages.extract.obelics_texts import JoinedText, format_run
from obelics_pipeline.stages.extract.tags import by_id, tag_id
from obelics_pipeline.stages.extract.walk import INLINE, SKIP

KEPT = 2  # codes for `leave`
KEPT_DATE = 3

_UNWRAP, _BREAK, _IMAGE, _DROP = -1, -2, -3, -4  # beside the strengths 0, 2 and 3 of the kept tags
_ACTIONS: dict[int, int] = by_id(
    {
        _UNWRAP: rules.UNWRAPPED,
        _BREAK: [rules.LINE_BREAK],
        _IMAGE: [rules.IMAGE],
        **{strength: [n for n, s in rules.KEPT.items() if s == strength] for strength in (0, 2, 3)},
    }
)
_TELLING = (*rules.REMOVED_CLASSES, rules.END_OF_DOCUMENT_CLASS)
_DIV, _HTML = tag_id("div"), tag_id("html")
_DIGITS = str.maketrans("", "", "0123456789")
_MARK = "\0"  # stands for the end-of-document token; no page text holds it, for HTML has no U+0000


class ObelicsListener:
    """Collects the nodes of one page by the reference's rules."""

    def __init__(self, url: str) -> None:
        self.nodes: list[Node] = []
        self._netloc = page_netloc(url)
        self._line: list[str] = []  # the text since the last tag that stays, or since the last <br>
        self._lines: list[list[str]] = []  # the lines that were ended by a <br> before that
        self._text = JoinedText()  # the texts since the last image
        self._open: list[int] = []  # strengths of the open kept elements
        self._common = 0  # how many of them were open at the last text and still are
        self._closed = 0  # the strongest of those that were open then and are closed
        self._space = False  # white space was seen between two kept tags
        self._muted: list[bool] = [False]  # whether an open kept element loses its own text (the date rule)

    def enter(self, node: LexborNode, tag: int) -> int:
        """Apply the rules to an element, in the reference's order."""
        action = _ACTIONS.get(tag, _DROP)
        attributes = node.attributes
        classes = attributes.get("class")
        if classes and any(map(classes.__contains__, _TELLING)) and tag != _HTML:
            tokens = classes.split()
            if not rules.REMOVED_CLASSES.isdisjoint(tokens):
                return SKIP
            if rules.END_OF_DOCUMENT_CLASS in tokens:
                self.text(f"\n\n{_MARK}\n\n")
                return SKIP
        if action == _UNWRAP:
            return INLINE
        if action == _BREAK:
            if not self._muted[-1]:
                self._lines.append(self._line)
                self._line = []
            return SKIP
        if action == _IMAGE:
            self._image(attributes)
            return SKIP
        if action == _DROP:
            name = node.tag or ""
            if name in rules.UNWRAPPED:
                return INLINE  # one that Lexbor does not number
            if name.translate(_DIGITS) not in rules.KEPT:
                return SKIP
            action = 0  # such as h7: kept, but it separates nothing
        if tag == _DIV and not rules.SPECIAL_DIV_VALUES.isdisjoint(map(attributes.get, rules.SPECIAL_DIV_ATTRIBUTES)):
            return SKIP
        if self._line or self._lines:
            self._end_run()
        self._open.append(action)
        self._muted.append(tag == _DIV and classes is not None and rules.DATE_IN_CLASS in classes)
        return KEPT

    def leave(self, code: int) -> None:
        """A kept element ends."""
        if self._line or self._lines:
            self._end_run()
        self._muted.pop()
        strength = self._open.pop()
        if len(self._open) < self._common:
            self._common = len(self._open)
            self._closed = max(self._closed, strength)

    def text(self, text: str) -> None:
        """Text belongs to the innermost kept element."""
        if self._muted[-1]:
            return
        if self._line or self._lines or not text.isspace():
            self._line.append(text)
        else:
            self._space = True

    def finish(self) -> list[Node]:
        """The nodes of the page, once the walk is over."""
        self._end_run()
        self._end_text()
        return self.nodes

    def _image(self, attributes: dict[str, str | None]) -> None:
        source = image_source(attributes)
        if source is None:
            return  # an empty leaf: the texts around it become one
        self._end_run()
        image = image_node(attributes, source, self._netloc)
        if image is not None:
            self._end_text()
            self.nodes.append(image)

    def _end_run(self) -> None:
        """A tag that stays: the text before it is complete, and joins the text before that."""
        if not self._line and not self._lines:
            return
        text = format_run([*self._lines, self._line])
        self._line, self._lines = [], []
        if not text.strip() and "\n" not in text:
            self._space = self._space or text != ""
            return
        between = max(self._closed, max(self._open[self._common :], default=0), int(self._space))
        self._text.add(text, between)
        self._common, self._closed, self._space = len(self._open), 0, False

    def _end_text(self) -> None:
        """An image, or the end of the page: what was joined is cut into paragraphs."""
        self._space = False
        if self._text.empty:
            return
        for paragraph in self._text.take().split(PARAGRAPH_SEPARATOR):
            if _MARK not in paragraph:
                if paragraph.strip():
                    self.nodes.append(TextNode(paragraph))
                continue
            for place, piece in enumerate(paragraph.split(_MARK)):
                if place:
                    self.nodes.append(TextNode(rules.END_OF_DOCUMENT_TOKEN, "end_of_document"))
                if piece.strip():
                    self.nodes.append(TextNode(piece.strip()))
