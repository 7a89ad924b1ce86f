"""What each text of a simplified tree is by the elements around it: compiled where that was built, else in Python."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from obelics_pipeline.stages.extract import default_rules as rules
from obelics_pipeline.stages.extract.tags import by_id, tag_id
from obelics_pipeline.stages.extract.tree import END, TAG

try:
    from obelics_pipeline.stages.extract import _outline
except ImportError:
    COMPILED = False
else:
    COMPILED = True
    compiled = _outline

# What is at a row: an element or a text that is left out, a text, one that belongs to an earlier one, an image, a text
# whose role is known, an element that says nothing.
OUT, SHOWN, JOINED, IMAGE, TOLD, SILENT = range(6)

# What happens at a row. Beside it are two numbers: the level of a title; the row of the element of code; how deep an
# item is nested, from 0, and its mark; the number of the post that begins, -1 for none. Others have 0.
PARAGRAPH, TITLE, CODE, CAPTION, ITEM, QUOTE, PICTURE, KNOWN, TABLE, LIST_ENDS, POST = range(11)
NO_MARK, BULLET = -2, -1  # of an item; else its number

Event = list[int]  # what happens, its row, two numbers

_TELLING = (rules.HEADING, rules.LIST, rules.ITEM, rules.DETAIL, rules.PREFORMATTED, rules.QUOTE, rules.CAPTION)
_ORDERED, _TABLE = tag_id("ol"), tag_id("table")
_KINDS = {tag: action for tag, action in by_id(rules.TAGS).items() if action in _TELLING}  # of elements, by tag
_LEVELS = {tag_id(f"h{level}"): level for level in range(1, 7)}
# The compiled kinds: their place in _TELLING from 1 on; those of tables and of lists with numbers, and levels above.
_IS_TABLE, _IS_ORDERED = 8, 9


def _entries() -> bytes:
    entries = bytearray(1 + max(_TABLE, *_KINDS))
    for tag, kind in _KINDS.items():
        entries[tag] = 1 + _TELLING.index(kind) + (_LEVELS.get(tag, 0) << 4)
    entries[_TABLE], entries[_ORDERED] = _IS_TABLE, _IS_ORDERED
    return bytes(entries)


_ENTRIES = _entries()


def outline(
    rows: NDArray[np.int32],
    states: NDArray[np.uint8],
    posts: NDArray[np.int32] | None,
    takes_table: Callable[[int], bool],
) -> list[Event]:
    """What happens in the rows of a tree, in their order.

    `states` says what is at each row, `posts` the number of the post that it is in, -1 for none. `takes_table` is asked
    at each table with something shown outside of preformatted text: where it says yes, nothing else happens in it.
    """
    if not COMPILED:
        return list(outline_in_python(rows, states, posts, takes_table))
    events = compiled.outline(rows, states, posts, takes_table, _ENTRIES)
    found: list[Event] = np.frombuffer(events, np.int32).reshape(-1, 4).tolist()
    return found


def outline_in_python(
    rows: NDArray[np.int32],
    states: NDArray[np.uint8],
    posts: NDArray[np.int32] | None,
    takes_table: Callable[[int], bool],
) -> Iterator[Event]:
    """What `outline` says, in Python."""
    around, after_table, post = _Around(), 0, -1
    shown = np.cumsum((states != OUT) & (states != SILENT))
    for row, (tag, end, state) in enumerate(zip(*rows[:, [TAG, END]].T.tolist(), states.tolist(), strict=True)):
        is_out = state in (OUT, SILENT)
        if row < after_table or (is_out and (tag not in _KINDS and tag != _TABLE)):
            continue
        if is_out and shown[end - 1] == shown[row]:
            continue
        if around.close(row):
            yield [LIST_ENDS, row, 0, 0]
        if posts is not None and posts[row] != post:
            post = int(posts[row])
            yield [POST, row, post, 0]
        if state == IMAGE:
            yield [PICTURE, row, 0, 0]
        elif state == TOLD:
            yield [KNOWN, row, 0, 0]
        elif state == SHOWN:
            yield around.text(row)
        elif tag == _TABLE:
            if not around.depths[rules.PREFORMATTED] and takes_table(row):
                after_table = end
                yield [TABLE, row, 0, 0]
        elif state == OUT:
            around.open(row, tag, end)


class _Around:
    """The open elements that say what a text in them is."""

    def __init__(self) -> None:
        self.depths = dict.fromkeys(_TELLING, 0)  # how many of each kind are open
        self._open: list[tuple[int, int]] = []  # end and kind
        self._levels: list[int] = []  # of the headings
        self._numbers: list[int | None] = []  # of the last item in each list, None where it has bullets
        self._code = 0  # row of the last preformatted element
        self._mark = NO_MARK  # of an item that has begun and has no text yet

    def open(self, row: int, tag: int, end: int) -> None:
        """An element begins that ends before row `end`."""
        kind = _KINDS[tag]
        self._open.append((end, kind))
        self.depths[kind] += 1
        if kind == rules.LIST:
            self._numbers.append(0 if tag == _ORDERED else None)
        elif kind == rules.PREFORMATTED:
            self._code = row
        elif kind == rules.HEADING:
            self._levels.append(_LEVELS[tag])
        elif kind in (rules.ITEM, rules.DETAIL):
            self._mark = self._next_mark()

    def close(self, row: int) -> bool:
        """End the elements that ended before a row; whether a list in no other did."""
        has_list = bool(self._numbers)
        while self._open and self._open[-1][0] <= row:
            _, kind = self._open.pop()
            self.depths[kind] -= 1
            if kind == rules.HEADING:
                self._levels.pop()
            elif kind == rules.LIST:
                self._numbers.pop()
        return has_list and not self._numbers

    def text(self, row: int) -> Event:
        """What a text is: it follows from the innermost of the elements below, in their order."""
        depths = self.depths
        if depths[rules.PREFORMATTED]:
            return [CODE, row, self._code, 0]
        if depths[rules.HEADING]:
            return [TITLE, row, self._levels[-1], 0]
        if depths[rules.CAPTION]:
            return [CAPTION, row, 0, 0]
        if depths[rules.LIST]:
            mark, self._mark = self._mark, NO_MARK
            return [ITEM, row, depths[rules.LIST] - 1 + (depths[rules.DETAIL] > 0), mark]
        return [QUOTE if depths[rules.QUOTE] else PARAGRAPH, row, 0, 0]

    def _next_mark(self) -> int:
        if not self._numbers or (number := self._numbers[-1]) is None:
            return BULLET
        self._numbers[-1] = number + 1
        return number + 1
