"""A document as a person reads it: text and images in place, and what was dropped with its reason."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from obelics_pipeline.core.document import Document, ImageNode, TextNode
from obelics_pipeline.core.html.visible import visible
from obelics_pipeline.filters.spans import Span

LONGEST = 20_000  # characters of a paragraph that are shown: one word may be a megabyte
Spans = Callable[[TextNode], Sequence[Span]]  # ranges of characters to mark


def readable(document: Document, images: Mapping[str, str], spans: Spans) -> list[dict[str, Any]]:
    """The nodes of a document in order, for a page to show. `images` are the sha256 of stored images by URL."""
    return [_text(node, spans(node)) if isinstance(node, TextNode) else _image(node, images) for node in document.nodes]


def _text(node: TextNode, spans: Sequence[Span]) -> dict[str, Any]:
    return {
        "kind": "text",
        "role": node.role,
        "reason": node.reason,
        "duplicate_of": node.duplicate_of,
        "scores": node.scores,
        "parts": [{"text": visible(text), "marked": marked} for text, marked in _parts(node.text[:LONGEST], spans)],
        "cut": max(0, len(node.text) - LONGEST),
    }


def _parts(text: str, spans: Sequence[Span]) -> list[tuple[str, bool]]:
    """The text in pieces, and whether each is marked. `spans` rise and do not overlap."""
    parts, at = [], 0
    for start, end in spans:
        if start >= len(text):
            break
        parts += [(text[at:start], False), (text[start:end], True)]
        at = end
    parts.append((text[at:], False))
    return [(part, marked) for part, marked in parts if part]


def _image(node: ImageNode, images: Mapping[str, str]) -> dict[str, Any]:
    sha256 = node.sha256 or images.get(node.src)
    return {
        "kind": "image",
        "role": node.role,
        "reason": node.reason,
        "duplicate_of": node.duplicate_of,
        "url": visible(node.src[:2000]),
        "alt": visible((node.alt_text or "")[:2000]),
        "sha256": sha256,
        "width": node.original_width,
        "height": node.original_height,
        "format": node.format,
        "similarity": node.similarity,
        "unsafe": node.unsafe,
        "scores": node.scores,
    }
