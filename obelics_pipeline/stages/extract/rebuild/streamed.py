"""Pages that React streams: parts that come late in the source are shown where its scripts would put them.

React sends a page with a fallback ("Loading …") where a part is not ready yet, and the part later, hidden. Which part
belongs where is said by the ids alone, which end in the same number (react-dom/server, ReactDOMFizzServer):

    <!--$?--><template id="B:0"></template>fallback<!--/$-->    a boundary: the part replaces all between the comments
    <template id="P:1"></template>                              a placeholder: the part replaces it
    <div hidden id="S:0">the part</div>
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from selectolax.lexbor import LexborHTMLParser, LexborNode

from obelics_pipeline.stages.extract.find import find

_SIGN = re.compile(rb"""<template\s+id=["'][^"'>]*[BP]:[0-9a-f]+["']""")
_PLACE = re.compile(r"(.*)[BP](:[0-9a-f]+)", re.DOTALL)
_PART = re.compile(r"(.*)S(:[0-9a-f]+)", re.DOTALL)
_BEGINS, _END = ("$", "$?", "$!", "$~"), "/$"  # comments around a boundary
# Bounds of the work on a hostile page. The largest of 28 streamed pages of WCXB has 59 parts, none inside another.
_MOST_PARTS, _DEEPEST, _MOST_SIBLINGS = 1_000, 512, 10_000

Key = tuple[str, str]  # a page may hold several roots, whose ids begin differently


def is_streamed(source: bytes) -> bool:
    """Whether a page has places for parts that come later."""
    first = find(source, b"<template", 0)
    return first >= 0 and _SIGN.search(source, first) is not None


def show_parts(parser: LexborHTMLParser) -> None:
    """Show each part in its place, and hide it where it came. A part or a place without the other stays as it is.

    Nodes are copied and hidden, never freed: a hostile page may have its parts and places anywhere.
    """
    parts = _by_key(_PART, parser.css('[id*="S:"]'))
    places = _by_key(_PLACE, parser.css("template[id]"))
    if len(parts) > _MOST_PARTS:
        return
    wanted = {key: part for key, part in parts.items() if key in places and not _is_in_a_part(part)}
    open_places = [(key, place) for key, place in places.items() if key in wanted and not _is_in_a_part(place)]
    siblings = _MOST_SIBLINGS
    while open_places:
        key, place = open_places.pop()
        part = wanted.pop(key, None)
        if part is None:
            continue
        fallback = _fallback(place, siblings)
        siblings -= len(fallback)
        place.insert_before(part)  # a copy
        shown = place.prev
        _hide([part, *fallback])
        if shown is not None:
            open_places += _by_key(_PLACE, shown.css("template[id]")).items()
            shown.unwrap()


def _by_key(pattern: re.Pattern[str], nodes: Iterable[LexborNode]) -> dict[Key, LexborNode]:
    """The first node of each key; others' ids are no places or parts."""
    found: dict[Key, LexborNode] = {}
    for node in nodes:
        if match := pattern.fullmatch(node.id or ""):
            found.setdefault((match[1], match[2]), node)
    return found


def _is_in_a_part(node: LexborNode) -> bool:
    """Whether a part is around it. Its place is filled once that part is shown, so that no node is copied twice."""
    around = node.parent
    for _ in range(_DEEPEST):
        if around is None:
            return False
        if _PART.fullmatch(around.id or ""):
            return True
        around = around.parent
    return True


def _fallback(place: LexborNode, most: int) -> list[LexborNode]:
    """What stands after a place up to the end of its boundary; nothing where it is no boundary, or has no end.

    A placeholder may stand first in a part that fills a boundary, behind that boundary's comment.
    """
    before = place.prev
    if before is None or not before.is_comment_node or before.comment_content not in _BEGINS:
        return []
    if (place.id or "").rpartition(":")[0].endswith("P"):
        return []
    found: list[LexborNode] = []
    depth, node = 1, place.next
    while node is not None and len(found) < most:
        if node.is_comment_node:
            depth += (node.comment_content in _BEGINS) - (node.comment_content == _END)
            if not depth:
                return found
        found.append(node)
        node = node.next
    return []


def _hide(nodes: Iterable[LexborNode]) -> None:
    for node in nodes:
        if node.is_element_node:
            node.attrs["hidden"] = ""
        elif node.is_text_node:
            node.decompose()
