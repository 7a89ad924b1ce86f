"""A data table as text: one row a line, cells separated by tabs."""

from __future__ import annotations

from dataclasses import dataclass, field

from selectolax.lexbor import LexborNode

from obelics_pipeline.extract import default_rules as rules
from obelics_pipeline.extract.tags import FIRST_UNKNOWN, TEXT, by_id, tag_id

_LAYOUT = frozenset(by_id({True: rules.LAYOUT_SIGNS}))
_DROPPED = frozenset(by_id({True: (*rules.TAGS[rules.DROP], *rules.TAGS[rules.BUTTON], "noscript")}))
_INLINE = frozenset(by_id({True: (*rules.TAGS[rules.INLINE], *rules.TAGS[rules.LINK])}))
_ROW = tag_id("tr")
_CELLS = frozenset({tag_id("td"), tag_id("th")})
_CAPTION = tag_id("caption")


@dataclass(slots=True)
class TableText:
    """The text of a data table; the caption is None where there is none."""

    caption: str | None = None
    rows: list[list[str]] = field(default_factory=list)

    def text(self) -> str:
        """Rows on lines, cells by tabs; empty rows are left out, empty cells keep their place."""
        lines = ["\t".join(row).rstrip("\t") for row in self.rows]
        return "\n".join(line for line in lines if line.strip())


def read_table(table: LexborNode) -> TableText | None:
    """The text of a data table, or None for a layout table.

    Stops at the first sign of a layout. A nested table is such a sign, so that each node is read at most once here
    however deeply tables are nested.
    """
    result = TableText()
    cell: list[str] | None = None
    longest = 0
    stack: list[LexborNode] = []
    node = table.first_child
    while node is not None:
        tag = node.tag_id
        child = None
        if tag == TEXT:
            if cell is not None:
                cell.append(node.text_content or "")
        elif tag in _LAYOUT or tag >= FIRST_UNKNOWN:
            return None
        elif tag not in _DROPPED:
            if tag == _ROW:
                result.rows.append([])
            elif tag in _CELLS or tag == _CAPTION:
                cell = []
            elif cell is not None and tag not in _INLINE:
                cell.append(" ")
            child = node.first_child
        if child is not None:
            stack.append(node)
            node = child
            continue
        while True:
            tag = node.tag_id
            if cell is not None and (tag in _CELLS or tag == _CAPTION):
                text = " ".join("".join(cell).split())
                cell = None
                longest = max(longest, len(text))
                if tag == _CAPTION:
                    result.caption = text or None
                elif result.rows:
                    result.rows[-1].append(text)
            following = node.next
            if following is not None or not stack:
                break
            node = stack.pop()
        node = following
    return result if _is_data(result.rows) and longest <= rules.MAX_CELL else None


def _is_data(rows: list[list[str]]) -> bool:
    """Whether at least two rows have at least two cells that say something."""
    return sum(sum(map(bool, row)) >= 2 for row in rows) >= 2
