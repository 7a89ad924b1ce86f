"""From what is kept of a simplified tree to the nodes of a document."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from obelics_pipeline.core.document import ImageNode, Node, TextNode
from obelics_pipeline.stages.extract import default_rules as rules
from obelics_pipeline.stages.extract import outline as happens
from obelics_pipeline.stages.extract.headline import HEADLINE
from obelics_pipeline.stages.extract.image_source import Attributes
from obelics_pipeline.stages.extract.markup import Item, Markup
from obelics_pipeline.stages.extract.outline import outline
from obelics_pipeline.stages.extract.rebuild.formulas import is_formula
from obelics_pipeline.stages.extract.table import Table, read_table
from obelics_pipeline.stages.extract.tags import TEXT
from obelics_pipeline.stages.extract.tree import CHARS, END, JOIN, LANGUAGE, PARENT, TAG, SimplifiedTree


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
    shown = kept & (tree.rows[:, TAG] == TEXT)
    shown[list(images)] = True
    whole = _whole_texts(tree, shown, images)
    tables: dict[int, Table] = {}

    def takes_table(row: int) -> bool:
        table = read_table(tree, row)
        if table is not None:
            tables[row] = table
        return table is not None

    events = outline(tree.rows, _states(tree, shown, whole, images, roles or {}, posts), posts, takes_table)
    values, composer = tree.values, _Composer(markup)
    for what, row, first, second in events:
        if what == happens.LIST_ENDS:
            composer.end_list()
        elif what == happens.POST:
            composer.enter_post(first)
        elif what == happens.PICTURE:
            composer.image(images[row])
        elif what == happens.TABLE:
            if _is_mostly_kept(tree, kept, row, int(tree.rows[row, END])):
                composer.table(tables[row])
        else:
            text = whole.get(row) or str(values[row])
            if what == happens.ITEM:
                composer.item(text, first, second)
            elif what == happens.PARAGRAPH:
                composer.text(text, "formula" if is_formula(text) else "paragraph")
            elif what == happens.TITLE:
                composer.text(markup.heading(text, first), "heading")
            elif what == happens.KNOWN:
                role = (roles or {})[row]
                composer.text(markup.heading(text, 1) if role == HEADLINE else text, role)
            elif what == happens.CAPTION:
                composer.text(text, "caption")
            elif what == happens.QUOTE:
                composer.text(markup.quote(text), "quote")
            else:
                composer.text(markup.code(text, _language(values[first])), "code")
    return composer.finish()


def _states(
    tree: SimplifiedTree,
    shown: NDArray[np.bool_],
    whole: Mapping[int, str | None],
    images: Mapping[int, ImageNode],
    roles: Mapping[int, str],
    posts: NDArray[np.int32] | None,
) -> NDArray[np.uint8]:
    """What is at each row, as `outline` takes it."""
    states = shown.astype(np.uint8)
    if posts is not None:
        states[[row for row in _rows_of_posts(tree, posts) if row >= 0 and not shown[row]]] = happens.SILENT
    states[[row for row in roles if shown[row]]] = happens.TOLD
    states[[row for row, text in whole.items() if text is None]] = happens.JOINED
    states[list(images)] = happens.IMAGE
    return states


def _rows_of_posts(tree: SimplifiedTree, posts: NDArray[np.int32]) -> set[int]:
    """The elements that are posts, and the one around them: posts that are laid out as a list are none."""
    begins = np.flatnonzero((np.diff(posts, prepend=-1) != 0) & (posts >= 0))
    return {*begins.tolist(), *tree.rows[begins, PARENT].tolist()}


def _whole_texts(
    tree: SimplifiedTree, shown: NDArray[np.bool_], images: Mapping[int, ImageNode]
) -> dict[int, str | None]:
    """The kept texts that were cut by an image that is left out, by row: whole where they began, None further on."""
    texts: dict[int, str | None] = {}

    def kept(row: int) -> str | None:
        value = texts.get(row, tree.values[row] if shown[row] else None)
        return value if isinstance(value, str) else None

    pieces: dict[int, list[str]] = {}  # of each text that goes on, by the row where it began
    beginnings: dict[int, int] = {}  # where the text of a row began
    for row in np.flatnonzero(tree.rows[:, JOIN]).tolist():
        before = row - 1
        while not isinstance(tree.values[before], str) and before not in images:
            before -= 1
        text, beginning = kept(row), beginnings.get(before, before)
        if text is None or (begun := kept(beginning)) is None:
            continue  # what is before it is left out, or an image that is kept
        beginnings[row] = beginning
        pieces.setdefault(beginning, [begun]).append(" " * (tree.rows[row, JOIN] - 1) + text)
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
    """Hears of texts, images and the ends of lists, and collects nodes."""

    def __init__(self, markup: Markup) -> None:
        self._nodes: list[Node] = []
        self._markup = markup
        self._items: list[Item] = []  # of the list at hand
        self._post: int | None = None

    def enter_post(self, number: int) -> None:
        """What follows is in the post of this number, -1 for none."""
        self.end_list()
        self._post = None if number < 0 else number

    def text(self, text: str, role: str) -> None:
        """A text that is not one of a list."""
        if self._items:
            self.end_list()
        self._nodes.append(TextNode(text, role, post=self._post))

    def item(self, text: str, depth: int, mark: int) -> None:
        """A text of a list: how deep it is nested, and its mark, as `outline` says it."""
        written = f"{mark}." if mark > 0 else "-" if mark == happens.BULLET else ""
        self._items.append(Item(depth, text, written))

    def image(self, image: ImageNode) -> None:
        """An image."""
        self.end_list()
        self._put(image)

    def table(self, table: Table) -> None:
        """A data table."""
        if table.caption:
            self.text(table.caption, "caption")
        self.text(self._markup.table(table.rows), "table")

    def finish(self) -> list[Node]:
        """The nodes, once all is heard."""
        self.end_list()
        return self._nodes

    def _put(self, node: Node) -> None:
        node.post = self._post
        self._nodes.append(node)

    def end_list(self) -> None:
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
