"""What is around an element, and the words in it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from selectolax.lexbor import LexborNode

from obelics_pipeline.stages.extract.marks import BITS, marks_of
from obelics_pipeline.stages.extract.tags import TEXT

MAX_ANCESTORS = 60
MAX_NODES = 200  # that are looked at beside or within one
CONTEXT = 300  # characters of the words around an element that say what it is about
NEAR = 3  # ancestors whose names are believed: those of outer ones say what kind of page it is

OTHER_THINGS = frozenset({"figure", "figcaption", "blockquote", "object", "video", "audio", "picture", "template"})
OTHERS_MARKS = BITS["caption"] | BITS["comment"] | BITS["related"] | BITS["advert"] | BITS["avatar"]


def upwards(node: LexborNode) -> Iterator[LexborNode]:
    """A node and what is around it, from within."""
    here: LexborNode | None = node
    for _ in range(MAX_ANCESTORS):
        if here is None:
            return
        yield here
        here = here.parent


def marks_at(attributes: dict[str, str | None]) -> int:
    """The marks (see `extract.marks`) of an element's class and id."""
    names = attributes.get("class"), attributes.get("id")
    return marks_of(" ".join(name for name in names if name))


def text_of(node: LexborNode) -> str:
    """The text within a node, some hundred characters of it."""
    if node.tag_id == TEXT:
        return (node.text_content or "")[-CONTEXT:]
    texts: list[str] = []
    for inner in islice(node.traverse(include_text=True), MAX_NODES):
        if inner.tag_id == TEXT:
            texts.append((inner.text_content or "")[:CONTEXT])
    return " ".join(texts)[:CONTEXT]
