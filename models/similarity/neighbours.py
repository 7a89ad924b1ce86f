"""The texts on both sides of each image."""

from __future__ import annotations

from collections.abc import Iterable

from obelics_pipeline.core.document import PARAGRAPH_SEPARATOR, Node, TextNode


def neighbours(nodes: Iterable[Node]) -> list[tuple[str, str]]:
    """For each kept image, in order: the nearest text before it and the nearest after it, empty where no text is.

    A text is what the published columns call one: the kept paragraphs between two kept images, or an image and an end.
    Images without a text between them, as in a gallery, share their neighbours.
    """
    runs: list[list[str]] = [[]]
    for node in nodes:
        if node.reason is not None:
            continue
        if not isinstance(node, TextNode):
            runs.append([])
        elif node.text.strip():
            runs[-1].append(node.text)
    texts = [PARAGRAPH_SEPARATOR.join(run) for run in runs]
    return list(zip(_nearest(texts)[:-1], _nearest(texts[::-1])[-2::-1], strict=True))


def _nearest(texts: list[str]) -> list[str]:
    """Each text, or where it is empty, the last one in front of it that is not."""
    found, last = [], ""
    for text in texts:
        last = text or last
        found.append(last)
    return found
