"""A data table of the simplified tree: its caption and its cells."""

from __future__ import annotations

from dataclasses import dataclass, field

from obelics_pipeline.stages.extract import default_rules as rules
from obelics_pipeline.stages.extract.tags import CUSTOM, TEXT, by_id, tag_id
from obelics_pipeline.stages.extract.tree import END, TAG, SimplifiedTree

_LAYOUT = frozenset(by_id({True: rules.LAYOUT_SIGNS}))
_FLOW = frozenset(by_id({True: rules.CELL_TEXT}))
_HEAD_CELL = tag_id("th")
_ROW = tag_id("tr")
_CELLS = frozenset(map(tag_id, rules.CELL_TAGS))
_CAPTION = tag_id("caption")


@dataclass(slots=True)
class Table:
    """The text of a data table, white space squeezed; `caption` has no value (None) if the table lacks one."""

    caption: str | None = None
    rows: list[list[str]] = field(default_factory=list)


def read_table(tree: SimplifiedTree, row: int) -> Table | None:
    """The data table at a row of the tree, or None for a layout table.

    Stops at the first sign of a layout; where there are head cells, paragraphs and lists are none. A nested table is
    such a sign, so that each row is read at most once here however deeply tables are nested.
    """
    result = Table()
    cell: list[str] | None = None
    end = cell_end = int(tree.rows[row, END])
    longest = 0
    tags, ends = tree.rows[row + 1 : end, TAG].tolist(), tree.rows[row + 1 : end, END].tolist()
    layout = _LAYOUT - _FLOW if _HEAD_CELL in tags else _LAYOUT
    in_caption = False
    for offset, tag in enumerate([*tags, _ROW]):
        if cell is not None and row + 1 + offset >= cell_end:
            text = " ".join(" ".join(cell).split())
            longest = max(longest, len(text))
            if in_caption:
                result.caption = text or None
            elif result.rows:
                result.rows[-1].append(text)
            cell = None
        if offset == len(tags):
            break
        if tag == TEXT:
            if cell is not None:
                cell.append(str(tree.values[row + 1 + offset]))
        elif tag in layout or tag == CUSTOM:
            return None
        elif tag == _ROW:
            result.rows.append([])
        elif tag in _CELLS or tag == _CAPTION:
            cell, cell_end, in_caption = [], ends[offset], tag == _CAPTION
    return result if _is_data(result.rows) and longest <= rules.MAX_CELL else None


def _is_data(rows: list[list[str]]) -> bool:
    """Whether at least two rows have at least two cells that say something."""
    return sum(sum(map(bool, row)) >= 2 for row in rows) >= 2
