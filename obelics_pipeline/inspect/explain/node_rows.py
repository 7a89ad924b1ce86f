"""Which rows of the simplified tree each node of a page was made of."""

from __future__ import annotations

import re
from dataclasses import replace

from obelics_pipeline.core.config.extraction import ExtractionConfig
from obelics_pipeline.core.document import TextNode
from obelics_pipeline.stages.extract.default_extraction import nodes_of
from obelics_pipeline.stages.extract.page import SimplifiedPage

_FIRST = 0x10000  # a mark is the character with this number and the row's: max_nodes leaves room for all of them
_MARKS = re.compile(f"[{chr(_FIRST)}-\U0010ffff]")


def node_rows(page: SimplifiedPage, config: ExtractionConfig) -> list[list[int]]:
    """The rows of the texts or the image in each of the nodes that `nodes_of` makes of a page, in their order.

    The nodes are made once more, of texts that begin with a mark of their row and are as long as the real ones, since
    lengths decide what is a list and what is a table. So nothing has to be kept for this while pages are extracted.
    """
    values = [_marked(row, v) if isinstance(v, str) else v for row, v in enumerate(page.tree.values)]
    images = {id(picture.image): picture.row for picture in page.kept.pictures}
    nodes = nodes_of(replace(page.tree, values=values), page.kept, config)
    return [
        [ord(mark) - _FIRST for mark in _MARKS.findall(node.text)] if isinstance(node, TextNode) else [images[id(node)]]
        for node in nodes
    ]


def _marked(row: int, text: str) -> str:
    return chr(_FIRST + row) + _MARKS.sub("x", text[1:])
