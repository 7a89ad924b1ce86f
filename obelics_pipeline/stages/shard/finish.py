"""The last cleaning of a document: stages 10 and 13 of the reference, as marks on its nodes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, Protocol

from obelics_pipeline.core.config.filtering import Threshold
from obelics_pipeline.core.config.sharding import FinishConfig
from obelics_pipeline.core.document import Document, ImageNode, Node, TextNode, kept_texts

REPEATED_IMAGE, EMPTY, MARKER = "repeated_image", "empty_text", "end_of_document"
NO_TEXT, IMAGE_COUNT = "no_text", "image_count"


class ParagraphScore(Protocol):
    """Measures one paragraph by a filter's name: `score(name, text, language, options)`; None if not measurable."""

    def __call__(self, name: str, text: str, language: str | None, options: Mapping[str, Any], /) -> float | None:
        """The score."""


def finish(document: Document, config: FinishConfig, score: ParagraphScore) -> None:
    """Stage 13 of the reference, up to the decision: each node that must go gets its reason.

    Reasons: repeated_image, the name of a paragraph filter, end_of_document, empty_text.
    """
    if config.drop_repeated_images:
        drop_repeated_images(document.nodes)
    drop_paragraphs(document, config, score)
    drop_markers(document.nodes, config.end_of_document_token)
    clean(document.nodes)


def clean(nodes: Sequence[Node]) -> None:
    """Stage 10 of the reference: texts without a character go; `interleave` then joins those that meet."""
    for node in kept_texts(nodes):
        if not node.text:
            node.reason = EMPTY


def lack(document: Document, min_images: int, max_images: int, token: str | None = None) -> str | None:
    """What is wrong with the amount of text or images of a document: no_text, image_count, or None.

    Text that holds only markers is no text (reference, stage 13 step 7).
    """
    if all(is_marker(node, token) for node in kept_texts(document.nodes)):
        return NO_TEXT
    if not min_images <= len(document.images()) <= max_images:
        return IMAGE_COUNT
    return None


def drop_repeated_images(nodes: Sequence[Node]) -> None:
    """Keep the first node of each image URL (reference, stage 13 step 1)."""
    seen: set[str] = set()
    for node in nodes:
        if isinstance(node, ImageNode) and node.reason is None:
            if node.src in seen:
                node.reason = REPEATED_IMAGE
            seen.add(node.src)


def drop_paragraphs(document: Document, config: FinishConfig, score: ParagraphScore) -> None:
    """Apply `config.paragraph` in its order; the first filter that fails names the reason. Markers are exempt."""
    for node in kept_texts(document.nodes):
        if node.text and not is_marker(node, config.end_of_document_token):
            node.reason = _paragraph_reason(node, document.language, config.paragraph, score)


def drop_markers(nodes: Sequence[Node], token: str | None) -> None:
    """Markers that follow a marker within one text go, and the one that ends the document (steps 4 to 6)."""
    for run in texts_between_images(nodes):
        for before, node in pairwise(run):
            if is_marker(before, token) and is_marker(node, token):
                node.reason = MARKER
    last = next((n for n in reversed(nodes) if n.reason is None and not (isinstance(n, TextNode) and not n.text)), None)
    if isinstance(last, TextNode) and is_marker(last, token):
        last.reason = MARKER


def texts_between_images(nodes: Sequence[Node]) -> Iterator[list[TextNode]]:
    """The kept, non-empty text nodes, grouped as they will form one text each."""
    run: list[TextNode] = []
    for node in nodes:
        if node.reason is not None:
            continue
        if isinstance(node, TextNode):
            if node.text:
                run.append(node)
        elif run:
            yield run
            run = []
    if run:
        yield run


def is_marker(node: TextNode, token: str | None) -> bool:
    """Whether a paragraph marks the end of a document within a page: by its role, or by the configured token."""
    return node.role == "end_of_document" or (token is not None and node.text == token)


def _paragraph_reason(
    node: TextNode, language: str | None, thresholds: Mapping[str, Threshold], score: ParagraphScore
) -> str | None:
    for name, threshold in thresholds.items():
        bounds = threshold.bounds_for(language)
        if bounds is None or (threshold.roles is not None and node.role not in threshold.roles):
            continue
        value = score(name, node.text, language, threshold.options)
        if value is None:
            continue
        node.scores[name] = value
        if not bounds.holds(value):
            return name
    return None
