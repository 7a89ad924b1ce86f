"""The paragraphs of a text that stands between two images."""

from __future__ import annotations

from obelics_pipeline.core.document import PARAGRAPH_SEPARATOR, TextNode


def paragraphs(text: str, caption: str | None = None) -> list[TextNode]:
    """A node per paragraph; joined again, they are the text, letter by letter.

    A piece without a visible character stays with the paragraph before it, or else after it. Where the text begins with
    the paragraph `caption`, that is the caption of the image before it.
    """
    pieces: list[str] = []
    for piece in text.replace("\0", "").split(PARAGRAPH_SEPARATOR):
        if pieces and (not piece.strip() or not pieces[-1].strip()):
            pieces[-1] += PARAGRAPH_SEPARATOR + piece
        else:
            pieces.append(piece)
    nodes = [TextNode(piece) for piece in pieces]
    if caption is not None and nodes[0].text == caption:
        nodes[0].role = "caption"
    return nodes
