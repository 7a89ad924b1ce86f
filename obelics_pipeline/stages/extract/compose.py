"""From what is kept of a simplified tree to the nodes of a document."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from obelics_pipeline.core.document import ImageNode, Node, TextNode
from obelics_pipeline.stages.extract import default_rules as rules
from obelics_pipeline.stages.extract.headline import HEADLINE
from obelics_pipeline.stages.extract.image_source import Attributes
from obelics_pipeline.stages.extract.markup import Item, Markup
from obelics_pipeline.stages.extract.rebuild.formulas import is_formula
from obelics_pipeline.stages.extract.table import Table, read_table
from obelics_pipeline.stages.extract.tags import TEXT, by_id, flags, tag_id
from obelics_pipeline.stages.extract.tree import CHARS, END, JOIN, LANGUAGE, PARENT, TAG, SimplifiedTree, sums_before

_TELLING = (rules.HEADING, rules.LIST, rules.ITEM, rules.DETAIL, rules.PREFORMATTED, rules.QUOTE, rules.CAPTION)
_KINDS = {tag: action for tag, action in by_id(rules.TAGS).items() if action in _TELLING}  # of elements, by tag
_IS_TELLING = flags("table", *(name for action in _TELLING for name in rules.TAGS[action]))
_LEVELS = {tag_id(f"h{level}"): level for level in range(1, 7)}
_ORDERED, _TABLE = tag_id("ol"), tag_id("table")


def compose(
    tree: SimplifiedTree,
    kept: NDArray[np.bool_],
    images: Mapping[int, ImageNode],
    markup: Markup,
    roles: Mapping[int, str] | None = None,
    posts: NDArray[np.int32] | None = None,
) -> list[Node]:
    """The nodes of the texts whose row is kept and of the images, by row, in document order.

    `roles` has those of texts whose element does not tell, by row: the headline, for one. `posts` has the number of
    the post that each row is in, -1 for none.
    A data table is kept if most of its text is.
    """
    composer = _Composer(markup)
    shown = kept & (tree.rows[:, TAG] == TEXT)
    shown[list(images)] = True
    texts = _whole_texts(tree, shown, images)
    rows = _telling_rows(tree, shown)
    layout = set() if posts is None else _rows_of_posts(tree, posts)
    after_table = 0
    for row, tag, end in zip(rows.tolist(), *tree.rows[rows][:, [TAG, END]].T.tolist(), strict=True):
        if row < after_table:
            continue
        composer.close(row)
        if posts is not None:
            composer.enter_post(int(posts[row]))
        if row in images:
            composer.image(images[row])
        elif tag == TEXT:
            if (text := texts[row]) is not None:
                composer.text(text, roles.get(row) if roles else None)
        elif tag == _TABLE and composer.takes_tables and (table := read_table(tree, row)) is not None:
            after_table = end
            if _is_mostly_kept(tree, kept, row, end):
                composer.table(table)
        elif tag in _KINDS and row not in layout:
            composer.open(tag, end, _language(tree.values[row]))
    composer.close(len(tree.rows))
    return composer.finish()


def _rows_of_posts(tree: SimplifiedTree, posts: NDArray[np.int32]) -> set[int]:
    """The elements that are posts, and the one around them: posts that are laid out as a list are none."""
    begins = np.flatnonzero((np.diff(posts, prepend=-1) != 0) & (posts >= 0))
    return {*begins.tolist(), *tree.rows[begins, PARENT].tolist()}


def _telling_rows(tree: SimplifiedTree, shown: NDArray[np.bool_]) -> NDArray[np.intp]:
    """What is shown, and the elements around it that say what it is."""
    before = sums_before(shown)
    return np.flatnonzero(shown | (_IS_TELLING[tree.rows[:, TAG]] & (before[tree.rows[:, END]] > before[:-1])))


def _whole_texts(
    tree: SimplifiedTree, shown: NDArray[np.bool_], images: Mapping[int, ImageNode]
) -> dict[int, str | None]:
    """The kept texts by row; one that was cut by an image that is left out is whole again, where it began."""
    texts: dict[int, str | None] = {}
    for row in np.flatnonzero(shown).tolist():
        value = tree.values[row]
        texts[row] = value if isinstance(value, str) else None
    pieces: dict[int, list[str]] = {}  # of each text that goes on, by the row where it began
    beginnings: dict[int, int] = {}  # where the text of a row began
    for row in np.flatnonzero(tree.rows[:, JOIN]).tolist():
        before = row - 1
        while not isinstance(tree.values[before], str) and before not in images:
            before -= 1
        text, beginning = texts.get(row), beginnings.get(before, before)
        if text is None or texts.get(beginning) is None:
            continue  # what is before it is left out, or an image that is kept
        beginnings[row] = beginning
        pieces.setdefault(beginning, [texts[beginning] or ""]).append(" " * (tree.rows[row, JOIN] - 1) + text)
        texts[row] = None
    for beginning, parts in pieces.items():
        texts[beginning] = "".join(parts)
    return texts


def _is_mostly_kept(tree: SimplifiedTree, kept: NDArray[np.bool_], start: int, end: int) -> bool:
    characters = tree.rows[start:end, CHARS]
    return bool(2 * characters[kept[start:end]].sum() >= characters.sum())


def _language(value: str | Attributes | None) -> str:
    return (value.get(LANGUAGE) or "") if isinstance(value, dict) else ""


class _Composer:
    """Hears of texts, images and of the elements that say what a text is, and collects nodes."""

    def __init__(self, markup: Markup) -> None:
        self._nodes: list[Node] = []
        self._markup = markup
        self._open: list[tuple[int, int]] = []  # end and kind of the open elements
        self._depths = dict.fromkeys(_KINDS.values(), 0)
        self._levels: list[int] = []  # of the open headings
        self._numbers: list[int | None] = []  # of the last item in each open list, None where it has bullets
        self._language = ""  # of the preformatted text at hand
        self._mark = ""  # of an item that has begun and has no text yet
        self._items: list[Item] = []  # of the list at hand
        self._post: int | None = None

    @property
    def takes_tables(self) -> bool:
        """Whether a table here is one: preformatted text keeps its lines."""
        return not self._depths[rules.PREFORMATTED]

    def enter_post(self, number: int) -> None:
        """What follows is in the post of this number, -1 for none."""
        post = None if number < 0 else number
        if post != self._post:
            self._end_list()
            self._post = post

    def open(self, tag: int, end: int, language: str = "") -> None:
        """An element begins that ends before row `end`; `language` is that of preformatted text."""
        kind = _KINDS[tag]
        self._open.append((end, kind))
        self._depths[kind] += 1
        if kind == rules.LIST:
            self._numbers.append(0 if tag == _ORDERED else None)
        elif kind == rules.PREFORMATTED:
            self._language = language
        elif kind == rules.HEADING:
            self._levels.append(_LEVELS[tag])
        elif kind in (rules.ITEM, rules.DETAIL):
            self._mark = self._next_mark()

    def close(self, row: int) -> None:
        """End the elements that ended before a row."""
        while self._open and self._open[-1][0] <= row:
            _, kind = self._open.pop()
            self._depths[kind] -= 1
            if kind == rules.HEADING:
                self._levels.pop()
            elif kind == rules.LIST:
                self._numbers.pop()
                if not self._numbers:
                    self._end_list()

    def text(self, text: str, role: str | None = None) -> None:
        """A text; what it is follows from its role, else from the innermost of the elements below, in their order."""
        depths, markup = self._depths, self._markup
        if role is not None:
            self._add(markup.heading(text, 1) if role == HEADLINE else text, role)
        elif depths[rules.PREFORMATTED]:
            self._add(markup.code(text, self._language), "code")
        elif depths[rules.HEADING]:
            self._add(markup.heading(text, self._levels[-1]), "heading")
        elif depths[rules.CAPTION]:
            self._add(text, "caption")
        elif depths[rules.LIST]:
            self._items.append(Item(depths[rules.LIST] - 1 + (depths[rules.DETAIL] > 0), text, self._mark))
            self._mark = ""
        elif depths[rules.QUOTE]:
            self._add(markup.quote(text), "quote")
        else:
            self._add(text, "formula" if is_formula(text) else "paragraph")

    def image(self, image: ImageNode) -> None:
        """An image."""
        self._end_list()
        self._put(image)

    def table(self, table: Table) -> None:
        """A data table."""
        if table.caption:
            self._add(table.caption, "caption")
        self._add(self._markup.table(table.rows), "table")

    def finish(self) -> list[Node]:
        """The nodes, once all is heard."""
        self._end_list()
        return self._nodes

    def _next_mark(self) -> str:
        if not self._numbers or (number := self._numbers[-1]) is None:
            return "-"
        self._numbers[-1] = number + 1
        return f"{number + 1}."

    def _add(self, text: str, role: str) -> None:
        self._end_list()
        self._put(TextNode(text, role))

    def _put(self, node: Node) -> None:
        node.post = self._post
        self._nodes.append(node)

    def _end_list(self) -> None:
        """End the list, because what follows is not an item. A list of long items, such as posts, becomes a sequence of
        texts.
        """
        items, self._items = self._items, []
        if not items:
            return
        if sum(len(item.text) for item in items) > rules.LONG_ITEMS * len(items):
            for item in items:
                self._put(TextNode(item.text))
        else:
            self._put(TextNode(self._markup.items(items), "list"))
