"""The right column: the documents as a person reads them, what was dropped struck out, with its reason."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from obelics_pipeline.core.document import Document, ImageNode, Node, TextNode
from obelics_pipeline.core.html.markup import text
from obelics_pipeline.inspect.explain.explanation import Explanation
from obelics_pipeline.inspect.explain.facts import Facts, facts_of_document, outcome_of, verdict_on


def final_view(explanation: Explanation) -> str:
    """The documents as HTML; the reason where there are none."""
    if explanation.reason is not None:
        return f'<p class="verdict bad">dropped: {text(explanation.reason)}</p>'
    return "\n".join(_parts(explanation))


def table(facts: Facts) -> str:
    """A titled table."""
    rows = "".join("<tr>" + "".join(_cell(cell) for cell in row) + "</tr>" for row in facts.rows)
    return f"<table><caption>{text(facts.title)}</caption>{rows}</table>"


def _cell(cell: str) -> str:
    bad = ' class="bad"' if cell == "DROPS" or cell.startswith("dropped: ") else ""
    return f"<td{bad}>{text(cell)}</td>"


def _parts(explanation: Explanation) -> Iterator[str]:
    rows = iter(explanation.nodes())
    for document in explanation.documents:
        reason = explanation.ended(document).reason
        bad = "" if reason is None else " bad"
        facts = "".join(table(facts) for facts in facts_of_document(explanation, document))
        yield (f'<details class="verdict{bad}"><summary>{text(outcome_of(reason))}</summary>{facts}</details><article>')
        nodes = [next(rows) for _ in document.nodes]
        for post, of_post in groupby(nodes, lambda pair: pair[0].post):
            yield from _post(post, list(of_post), document, explanation)
        yield "</article>"


def _post(
    post: int | None, nodes: Sequence[tuple[Node, Sequence[int]]], document: Document, explanation: Explanation
) -> Iterator[str]:
    """Nodes that follow each other in one post, in a frame with its number; without one where they are in none."""
    shown = [_node(*node, document, explanation) for node in nodes]
    if post is None:
        yield from shown
        return
    no = " no" if all(node.reason for node, _ in nodes) else ""
    yield f'<div class="post{no}"><small>post {post}</small>'
    yield from shown
    yield "</div>"


def _node(node: Node, rows: Sequence[int], document: Document, explanation: Explanation) -> str:
    place = f' data-r="{" ".join(map(str, rows))}" tabindex="0"' if rows else ""
    no = " no" if node.reason else ""
    if isinstance(node, ImageNode):
        return f'<figure class="{no.strip()}"{place}>{_image(node)}</figure>'
    why = verdict_on(node, document, explanation.config.filters)
    label = node.role if node.reason is None else f"{node.role}, {node.reason} {why}".strip()
    return f'<div class="{node.role}{no}"{place}><small>{text(label)}</small>{_body(node)}</div>'


def _body(node: TextNode) -> str:
    tag = "pre" if node.role in ("code", "table") else "p"
    return f'<{tag} dir="auto">{text(node.text)}</{tag}>'


def _image(image: ImageNode) -> str:
    size = "×".join("?" if side is None else str(side) for side in (image.rendered_width, image.rendered_height))
    about = [f"image {image.role or ''}".strip()]
    about += [f"declared {size}"] if size != "?×?" else []
    about += [f"at character {image.position:,}"] if image.position is not None else []
    if image.original_width is not None:
        about.append(f"fetched {image.original_width}×{image.original_height} {image.format}")
    about += [f"{name} {value:.4g}" for name, value in image.scores.items()]
    if image.reason is not None:
        about.append(("failed: " if image.failed else "dropped: ") + image.reason)
    alt = f'<p dir="auto">{text(image.alt_text)}</p>' if image.alt_text else ""
    return f"<small>{text(', '.join(about))}</small>{alt}<code>{text(image.src)}</code>"
