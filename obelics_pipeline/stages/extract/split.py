"""Long pages become several documents instead of none: the reference drops what is longer than its limits."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate
from math import ceil

from obelics_pipeline.core.config.extraction import ExtractionConfig
from obelics_pipeline.core.document import ImageNode, Node, TextNode
from obelics_pipeline.filters import statistics

_NARROW = b"\xff" * (0x2E80 // 8)  # as by `filters.characters.bitmap`: scripts without spaces begin at U+2E80
ICON_SIDE = 150  # pixels: images declared smaller are dropped later (paper A.1.3), and need no document of their own
_WIDE_PER_WORD = 2  # their characters per word (Chinese and Japanese words have two on average)

# What a cut costs, as a share of the ideal length of a part that one may deviate to avoid it.
_BEFORE_HEADING, _BETWEEN_PARAGRAPHS, _AFTER_HEADING = 0.0, 0.5, 0.9


def split_nodes(nodes: list[Node], config: ExtractionConfig) -> list[list[Node]]:
    """Cut a page into parts of about equal size within `split_words` and `split_images`.

    Cuts before a heading where there is one near, else between paragraphs, never inside a node nor between an image
    and its caption; a part is longer than the limits only where that leaves no cut. The parts joined are the input.
    An empty page has no parts.
    """
    if not nodes:
        return []
    images = [0, *accumulate(_promising_images(nodes))]
    if images[-1] <= (config.split_images or images[-1]) and _are_few_words(nodes, config.split_words):
        return [nodes]
    words = [0, *accumulate(count_words(n.text) if isinstance(n, TextNode) else 0 for n in nodes)]
    max_words = config.split_words or max(words[-1], 1)
    max_images = config.split_images or max(images[-1], 1)
    if words[-1] <= max_words and images[-1] <= max_images:
        return [nodes]
    load = [w / max_words + i / max_images for w, i in zip(words, images, strict=True)]
    cuts = _cuts(nodes)
    parts: list[list[Node]] = []
    start = 0
    while True:
        needed = max(ceil((words[-1] - words[start]) / max_words), ceil((images[-1] - images[start]) / max_images))
        if needed <= 1:
            parts.append(nodes[start:])
            return parts
        ideal = (load[-1] - load[start]) / needed
        best: tuple[float, int] | None = None
        for end in range(start + 1, len(nodes)):
            cost = cuts[end]
            if cost is None:
                continue
            too_long = words[end] - words[start] > max_words or images[end] - images[start] > max_images
            if too_long and best is not None:
                break
            deviation = abs(load[end] - load[start] - ideal) / ideal
            if best is None or deviation + cost < best[0]:
                best = (deviation + cost, end)
            if too_long:
                break
        if best is None:
            parts.append(nodes[start:])
            return parts
        parts.append(nodes[start : best[1]])
        start = best[1]


def _are_few_words(nodes: list[Node], most: int | None) -> bool:
    """Whether all texts have no more words than so many: joined they have as many as apart, or a few more."""
    return not most or count_words("\n".join([n.text for n in nodes if isinstance(n, TextNode)])) <= most


def _promising_images(nodes: list[Node]) -> Iterator[int]:
    """1 for each node that is an image which may be kept: not seen before, and not declared to be an icon."""
    seen: set[str] = set()
    for node in nodes:
        if isinstance(node, TextNode) or node.src in seen or _is_icon(node):
            yield 0
        else:
            seen.add(node.src)
            yield 1


def _is_icon(image: ImageNode) -> bool:
    sides = (image.rendered_width, image.rendered_height)
    return any(isinstance(side, int) and 0 <= side < ICON_SIDE for side in sides)


def count_words(text: str) -> int:
    """Words set apart by white space; in scripts without spaces, two characters count as one."""
    words = text.count(" ") + text.count("\n") + 1
    if text.isascii():
        return words
    return words + (len(text) - statistics.count_characters(_NARROW, text)) // _WIDE_PER_WORD


def _cuts(nodes: list[Node]) -> list[float | None]:
    """The cost of a cut before each node; None where it would part an image from its caption."""
    costs: list[float | None] = []
    captioned = False  # the node before is an image, or a caption of one
    previous: Node | None = None
    for node in nodes:
        is_image, is_caption = isinstance(node, ImageNode), _has_role(node, "caption")
        if (is_caption and captioned) or (is_image and _has_role(previous, "caption") and not captioned):
            costs.append(None)
        elif _has_role(previous, "heading"):
            costs.append(_AFTER_HEADING)
        else:
            costs.append(_BEFORE_HEADING if _has_role(node, "heading") else _BETWEEN_PARAGRAPHS)
        captioned = is_image or (is_caption and captioned)
        previous = node
    return costs


def _has_role(node: Node | None, role: str) -> bool:
    return isinstance(node, TextNode) and node.role == role
