"""From a parsed page to its simplified tree, in one bounded walk: what the compiled walk must do too."""

from __future__ import annotations

import numpy as np
from selectolax.lexbor import LexborNode

from obelics_pipeline.core.config.extraction import ExtractionConfig
from obelics_pipeline.stages.extract import default_rules as rules
from obelics_pipeline.stages.extract.default_texts import LINE_BREAK, code, squeeze
from obelics_pipeline.stages.extract.default_visibility import is_hidden
from obelics_pipeline.stages.extract.image_source import Attributes, figure_source
from obelics_pipeline.stages.extract.marks import marks_of
from obelics_pipeline.stages.extract.tags import COMMENT, CUSTOM, FIRST_UNKNOWN, TEXT, by_id, by_name, tag_id
from obelics_pipeline.stages.extract.text_counts import count_linked, count_text
from obelics_pipeline.stages.extract.tree import END, LANGUAGE, MARKS, WIDTH, SimplifiedTree
from obelics_pipeline.stages.extract.walk import SKIP, walk

_ACTIONS: dict[int, int] = by_id(rules.TAGS)
_NAMED_ACTIONS: dict[str, int] = by_name(rules.TAGS)
_SOURCE, _ASIDE, _HEADER, _TABLE, _DIV, _IMG = map(tag_id, ("source", "aside", "header", "table", "div", "img"))
_ATTACHED = frozenset(map(tag_id, rules.ATTACHED_TAGS))
_MAY_BE_EMPTY = frozenset(map(tag_id, rules.CELL_TAGS))
FIRST_WIDE = "\u2e80"  # from here on scripts are written without spaces
_NAMING_ATTRIBUTES = ("class", "id", "itemprop")

_IN_LINE = frozenset({rules.INLINE, rules.LINK, rules.DROP})  # what an element that is part of a line may hold

# Codes of open elements, beside SKIP of the walk.
_INLINE = 2
_LINK = 3
_ROW = 4
_PICTURE_ROW = 5  # a row that does not end the text around it
_NOSCRIPT_ROW = 6
_HEADING_ROW = 7
_CODE_ROW = 8
_FIGURE_ROW = 9


def simplify(root: LexborNode, config: ExtractionConfig) -> SimplifiedTree:
    """The simplified tree of the page under `root`. Raises `PageRejected` beyond the bounds of the config."""
    simplifier = _Simplifier()
    walk(root, simplifier, config)
    return simplifier.finish()


class _Simplifier:
    """Hears of a page's nodes in document order and writes rows."""

    def __init__(self) -> None:
        self._rows: list[list[int]] = []
        self._values: list[str | Attributes | None] = []
        self._hrefs: dict[int, str] = {}
        self._declarations: list[tuple[int, Attributes]] = []
        self._open: list[tuple[int, str | None]] = []  # open rows, and of figures the picture their attributes tell of
        self._last_image = -1  # row of the last image
        self._inline: list[int] = [0]  # marks of the open inline elements of the row at hand, added up
        self._links: list[str] = []  # addresses of the open links
        self._all_links: list[tuple[str, str | None]] = []
        self._depths = dict.fromkeys((_PICTURE_ROW, _NOSCRIPT_ROW, _HEADING_ROW, _CODE_ROW), 0)
        self._pieces: list[tuple[str, bool, int]] = []  # text of the paragraph at hand: text, in a link, marks
        self._link_end = -1  # number of pieces at which a link ended
        self._end = self._touch = -1  # and at which an inline element or link ended, and another began right behind it
        self._continues = False  # whether text that follows belongs to the paragraph before the last image
        self._space = False  # and white space was seen between them

    # -- the walk ---------------------------------------------------------------------------------------------

    def enter(self, node: LexborNode, tag: int) -> int:
        """Decide whether an element is kept, and how."""
        action = _action(node, tag)
        if action is None:
            action = rules.INLINE if _stands_in_line(node) else rules.BLOCK
        if action == rules.DROP:
            if tag == _SOURCE and self._depths[_PICTURE_ROW]:
                self._leaf(tag, 0, node.attributes)
            return SKIP
        if action == rules.BREAK:
            self._break()
            return SKIP
        attributes = node.attributes
        if not rules.TELLING_ATTRIBUTES.isdisjoint(attributes):
            if is_hidden(attributes, tag):
                return SKIP
            tag = _tag_of_role(attributes, tag)
        match action:
            case rules.META | rules.BASE:
                self._declarations.append((tag, attributes))
                return SKIP
            case rules.DIALOG if "open" not in attributes:
                return SKIP
            case rules.BUTTON:
                return self._begin_inline(tag, 0) if self._depths[_HEADING_ROW] else SKIP
        marks = _marks(attributes)
        match action:
            case rules.INLINE:
                return self._begin_inline(tag, marks)
            case rules.LINK:
                return self._begin_link(attributes, marks)
            case rules.IMAGE:
                self._end_run()
                self._leaf(tag, marks, attributes)
                return SKIP
        return self._begin_row(tag, action, marks, attributes)

    def leave(self, code: int) -> None:
        """An element that was entered with this code ends."""
        if code == _INLINE:
            self._inline.pop()
            self._end = len(self._pieces)
        elif code == _LINK:
            self._inline.pop()
            self._links.pop()
            self._link_end = self._end = len(self._pieces)
        else:
            self._end_row(code)

    def text(self, text: str) -> None:
        """Text of the paragraph at hand; white space at its beginning, and all text in noscript, goes."""
        if self._depths[_NOSCRIPT_ROW]:
            return
        if self._pieces:
            met = self._touch == len(self._pieces) and not self._depths[_CODE_ROW]
            if met and _words_meet(self._pieces[-1][0], text):
                self._pieces.append((" ", False, 0))
            self._pieces.append((text, bool(self._links), self._inline[-1]))
        elif text.isspace():
            self._space = True
        else:
            self._space = self._space or text[:1].isspace()
            self._pieces.append((text, bool(self._links), self._inline[-1]))

    def finish(self) -> SimplifiedTree:
        """The tree, once the walk is over."""
        self._end_paragraph()
        rows = np.array(self._rows, np.int32).reshape(len(self._rows), WIDTH)
        return SimplifiedTree(rows, self._values, self._hrefs, self._declarations, self._all_links)

    # -- elements ---------------------------------------------------------------------------------------------

    def _begin_inline(self, tag: int, marks: int) -> int:
        if self._end == len(self._pieces) and tag not in _ATTACHED:
            self._touch = self._end
        self._inline.append(self._inline[-1] | marks)
        return _INLINE

    def _begin_link(self, attributes: Attributes, marks: int) -> int:
        """Two links that touch are two words, for pages set them apart by style."""
        pieces = self._pieces
        if pieces and self._link_end == len(pieces) and pieces[-1][0][-1:] < FIRST_WIDE:
            pieces.append((" ", False, 0))
        if self._end == len(pieces):
            self._touch = self._end
        self._inline.append(self._inline[-1] | marks)
        self._links.append((attributes.get("href") or "").strip())
        self._all_links.append((self._links[-1], attributes.get("rel")))
        return _LINK

    def _begin_row(self, tag: int, action: int, marks: int, attributes: Attributes) -> int:
        kind = _KINDS.get(action, _ROW)
        if kind in (_PICTURE_ROW, _NOSCRIPT_ROW):
            self._end_run()
        else:
            self._end_paragraph()
        if kind in self._depths:
            self._depths[kind] += 1
        self._row(tag, marks | self._inline[-1])
        language = attributes.get(LANGUAGE) if kind == _CODE_ROW else None
        self._values.append(None if language is None else {LANGUAGE: language})
        hint = figure_source(attributes) if kind == _FIGURE_ROW else None
        self._open.append((len(self._rows) - 1, hint))
        self._inline.append(0)
        return kind

    def _end_row(self, kind: int) -> None:
        """Close a row; one in which nothing is left goes."""
        if kind in (_PICTURE_ROW, _NOSCRIPT_ROW):
            self._end_run()
        else:
            self._end_paragraph()
        if kind in self._depths:
            self._depths[kind] -= 1
        number, hint = self._open[-1]
        if hint is not None and self._last_image < number:
            self._leaf(_IMG, 0, {"src": hint})
        self._inline.pop()
        self._open.pop()
        row = self._rows[number]
        if len(self._rows) == number + 1 and row[0] not in _MAY_BE_EMPTY:
            self._rows.pop()
            self._values.pop()
        else:
            row[END] = len(self._rows)

    def _leaf(self, tag: int, marks: int, attributes: Attributes) -> None:
        """An image, or a source of a picture."""
        if self._links:
            self._hrefs[len(self._rows)] = self._links[-1]
        self._row(tag, marks | self._inline[-1])
        self._values.append(attributes)
        self._last_image = len(self._rows) - 1

    def _row(self, tag: int, marks: int) -> list[int]:
        parent = self._open[-1][0] if self._open else -1
        row = [min(tag, CUSTOM), parent, len(self._rows) + 1, marks] + [0] * (WIDTH - MARKS - 1)
        self._rows.append(row)
        return row

    # -- text -------------------------------------------------------------------------------------------------

    def _break(self) -> None:
        if self._pieces:
            self._pieces.append((LINE_BREAK, False, 0))
        else:
            self._continues = False

    def _end_run(self) -> None:
        """An image interrupts the paragraph, which may go on behind it."""
        if not self._pieces:
            return
        last = next((text for text, _, _ in reversed(self._pieces) if not text.isspace()), "")
        space = self._pieces[-1][0][-1:].isspace()
        before, continued, spaced = len(self._rows), self._continues, self._space
        self._flush()
        wrote = len(self._rows) > before  # nothing, where nothing is seen of the text: then what was before goes on
        self._continues = (wrote or continued) and last != LINE_BREAK and not self._depths[_CODE_ROW]
        self._space = space or (spaced and not wrote)

    def _end_paragraph(self) -> None:
        """A block begins or ends: the text before it is complete."""
        if self._pieces:
            self._flush()
        self._continues = False

    def _flush(self) -> None:
        pieces, self._pieces = self._pieces, []
        self._link_end = self._end = self._touch = -1
        join = 0 if not self._continues else 2 if self._space else 1
        self._continues = self._space = False
        if self._depths[_CODE_ROW]:
            text = code([piece for piece, _, _ in pieces])
            if text:
                self._text(text, pieces, 0)
            return
        for text, paragraph in _paragraphs(pieces):
            self._text(text, paragraph, join)
            join = 0

    def _text(self, text: str, pieces: list[tuple[str, bool, int]], join: int) -> None:
        """A text row. The marks of inline elements count if they hold for all of the text."""
        said = [marks for piece, _, marks in pieces if piece != LINE_BREAK and not piece.isspace()]
        marks = said[0] if said else 0
        for more in said:
            marks &= more
        row = self._row(TEXT, marks)
        self._values.append(text)
        linked = sum(count_linked(piece) for piece, in_link, _ in pieces if in_link)
        row[MARKS + 1 :] = (join, *count_text(text, linked))


_KINDS = {
    rules.FIGURE: _FIGURE_ROW,
    rules.PICTURE: _PICTURE_ROW,
    rules.NOSCRIPT: _NOSCRIPT_ROW,
    rules.HEADING: _HEADING_ROW,
    rules.PREFORMATTED: _CODE_ROW,
}


def _action(node: LexborNode, tag: int) -> int | None:
    """What is done with an element; None for a tag of the page's own naming."""
    action = _ACTIONS.get(tag)
    if action is None:
        action = _NAMED_ACTIONS.get(node.tag or "", rules.BLOCK if tag < FIRST_UNKNOWN else None)
    return action


def _stands_in_line(node: LexborNode) -> bool:
    """Whether an element of the page's own naming is part of a line: it touches text and holds no block.

    Such an element in another one is taken for a part of that, set apart by style.
    """
    if node.parent is not None and node.parent.tag_id >= FIRST_UNKNOWN:
        return False
    if not _is_seen_text(node.prev) and not _is_seen_text(node.next):
        return False
    child = node.first_child
    while child is not None:
        if child.tag_id not in (TEXT, COMMENT) and _action(child, child.tag_id) not in _IN_LINE:
            return False
        child = child.next
    return True


def _is_seen_text(node: LexborNode | None) -> bool:
    return node is not None and node.tag_id == TEXT and bool((node.text_content or "").strip(rules.HTML_SPACE))


def _words_meet(before: str, after: str) -> bool:
    """Whether one word ends and another begins where two elements touch, for pages set them apart by style.

    Of some 640 such places on the pages of WCXB, its texts have one word at two, and two words at the others.
    """
    left, right = before[-2:], after[:2]
    if len(left) < 2 or not right or max(left[1], right[0]) >= FIRST_WIDE or left[0].isspace():
        return False
    if left[1].isalpha():
        return right[0].isupper() or right[0].isdecimal()
    return left[1].isdecimal() and right[0].isupper() and right[1:].isalpha()


def _tag_of_role(attributes: Attributes, tag: int) -> int:
    """An element whose role says what it is counts as the element that is made for it."""
    role = (attributes.get("role") or "").strip().lower()
    if role in rules.FRAME_ROLES:
        return _ASIDE
    if role in rules.HEADER_ROLES:
        return _HEADER
    return _DIV if role in rules.LAYOUT_ROLES and tag == _TABLE else tag


def _marks(attributes: Attributes) -> int:
    marks = 0
    for name in _NAMING_ATTRIBUTES:
        value = attributes.get(name)
        if value:
            marks |= marks_of(value)
    return marks


def _paragraphs(pieces: list[tuple[str, bool, int]]) -> list[tuple[str, list[tuple[str, bool, int]]]]:
    """The paragraphs of a block and their pieces: a line break ends a line, two or more end a paragraph."""
    lines: list[list[tuple[str, bool, int]]] = [[]]
    for piece in pieces:
        if piece[0] == LINE_BREAK:
            lines.append([])
        else:
            lines[-1].append(piece)
    found: list[tuple[list[str], list[tuple[str, bool, int]]]] = [([], [])]
    for line in lines:
        text = squeeze("".join(piece for piece, _, _ in line))
        if text:
            found[-1][0].append(text)
            found[-1][1].extend(line)
        elif found[-1][0]:
            found.append(([], []))
    return [("\n".join(texts), parts) for texts, parts in found if texts]
