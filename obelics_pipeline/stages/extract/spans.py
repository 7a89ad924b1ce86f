"""Ranges of characters of a document's text, as ranges of its paragraphs."""

from __future__ import annotations

from collections.abc import Sequence

from obelics_pipeline.core.document import PARAGRAPH_SEPARATOR, TextNode
from obelics_pipeline.filters.spans import Span


def spans_by_node(nodes: Sequence[TextNode], spans: Sequence[Span]) -> list[list[Span]]:
    """A list for each node. The spans are of the texts of the nodes joined by a blank line, rising, not overlapping.

    A span over several paragraphs becomes one in each of them, and what it has of a blank line is left out.
    """
    found: list[list[Span]] = []
    begin = done = 0
    for node in nodes:
        end = begin + len(node.text)
        while done < len(spans) and spans[done][1] <= begin:
            done += 1
        after = done
        while after < len(spans) and spans[after][0] < end:
            after += 1
        inside = spans[done:after] if node.text else []
        found.append([(max(first, begin) - begin, min(last, end) - begin) for first, last in inside])
        begin = end + len(PARAGRAPH_SEPARATOR)
    return found
