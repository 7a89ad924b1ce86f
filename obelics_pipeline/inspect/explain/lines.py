"""An explanation as plain, aligned lines for a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from obelics_pipeline.core.document import Document, ImageNode, Node
from obelics_pipeline.core.html.visible import on_a_line
from obelics_pipeline.inspect.explain.explanation import Explanation
from obelics_pipeline.inspect.explain.facts import Facts, facts_of, facts_of_document, verdict_on

_WIDTH = 100  # characters shown of a text or a value


def lines_of(explanation: Explanation) -> Iterator[str]:
    """The tables of `facts_of`, then each document with its scores and its nodes, one a line."""
    for facts in facts_of(explanation):
        yield from _table(facts)
    for document in explanation.documents:
        for facts in facts_of_document(explanation, document):
            yield from _table(facts)
        yield from _table(
            Facts("nodes", [_node(node, document, explanation) for node in explanation.ended(document).nodes])
        )
    for notice in explanation.notices:
        yield f"note: {notice}"


def _node(node: Node, document: Document, explanation: Explanation) -> tuple[str, ...]:
    verdict = (node.reason or "kept") + (f" (first in {node.duplicate_of})" if node.duplicate_of else "")
    what = f"image {node.role or ''}".strip() if isinstance(node, ImageNode) else node.role
    what += "" if node.post is None else f", post {node.post}"
    if isinstance(node, ImageNode):
        return verdict, what, f"{_found(node)}{node.src} {node.alt_text or ''}".strip()
    why = verdict_on(node, document, explanation.config.filters)
    return verdict, what, (f"({why}) " if why else "") + node.text


def _found(image: ImageNode) -> str:
    """The fetched image: size in pixels, format, bytes, what was measured of its pixels; empty without an image."""
    if image.original_width is None or image.original_height is None:
        return ""
    size = f", {image.n_bytes:,} bytes" if image.n_bytes is not None else ""
    measured = "".join(f", {name} {value:.4g}" for name, value in image.scores.items())
    return f"({image.original_width}x{image.original_height} {image.format or ''}".rstrip() + f"{size}{measured}) "


def _table(facts: Facts) -> Iterator[str]:
    """A title, then the rows, indented, columns aligned; the last column is cut, what is from the web made safe."""
    yield facts.title
    rows = [[on_a_line(cell) for cell in row] for row in facts.rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)][:-1]
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
        yield ("  " + "  ".join([*cells, on_a_line(row[-1], _WIDTH)])).rstrip()
    yield ""
