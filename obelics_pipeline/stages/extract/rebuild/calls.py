"""Calls to act are hidden: forms that ask for an e-mail address, and links that are drawn as buttons and stand alone.

They are known by their elements, in any language. On the 1,225 pages of WCXB 90 of 119 texts of such links in the main
content, and 27 of 29 of such forms, were no content.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from selectolax.lexbor import LexborNode

from obelics_pipeline.stages.extract import default_rules as rules

CALLS = "a[class*=btn i], a[class*=button i], a[role=button], input[type=email]"
_BUTTON = re.compile(r"(?:^|[\s_-])(?:btn|button)(?:$|[\s_-])", re.I)
_OPENS = frozenset(("aria-expanded", "aria-controls", "data-toggle", "data-bs-toggle"))  # of tabs and accordions
INLINE = frozenset(rules.TAGS[rules.INLINE])
SILENT = frozenset(("br", "svg", "button", "script", "style", "template", "noscript"))
_SHAPES = frozenset("path g use circle rect line polyline polygon ellipse defs title".split())  # of an icon
# None of them is found by the selector: what is emptied holds no node that is still to be looked at.
OF_BUTTON = INLINE | SILENT | _SHAPES
# Of the text around a button what is more than its block: a heading, an item, a cell of a table.
TOLD = frozenset("h1 h2 h3 h4 h5 h6 li dt dd td th figcaption summary".split())
# Bounds of the work on a hostile page: buttons and fields of a page; nodes that are looked at around and in a button.
_MOST_CALLS, _MOST_SIBLINGS, _MOST_ABOVE, _MOST_INSIDE = 2_000, 20, 5, 50
_DEEPEST, _LONGEST_FORM = 30, 1_500  # levels of a form; characters, for some pages are one form


def hide_calls(found: Sequence[LexborNode]) -> None:
    """Hide the calls of a page, up to `_MOST_CALLS`.

    `found` is what the selector `CALLS` finds of it, and may be more. Nodes inside buttons are freed, no link or input.
    """
    named = [(node, tag) for node in found if (tag := node.tag) in ("a", "input")]
    for node, tag in named[:_MOST_CALLS]:
        if tag == "input":
            form = _form(node)
            if form is not None and not _is_longer(form):
                form.attrs["hidden"] = ""
        elif _is_button(node) and _is_plain(node) and _stands_alone(node):
            node.inner_html = ""  # the link stays, for what a page links to tells of it


def _form(node: LexborNode) -> LexborNode | None:
    above = node.parent
    for _ in range(_DEEPEST):
        if above is None or above.tag == "form":
            return above
        above = above.parent
    return None


def _is_longer(form: LexborNode) -> bool:
    left = _LONGEST_FORM
    for node in form.traverse(include_text=True):
        left -= len((node.text_content or "").strip()) if node.is_text_node else 1
        if left < 0:
            return True
    return False


def _is_button(node: LexborNode) -> bool:
    """Whether a link is drawn as a button, and leads to another page."""
    attributes = node.attributes
    if not _OPENS.isdisjoint(attributes) or (attributes.get("href") or "#").startswith(("#", "javascript:")):
        return False
    return attributes.get("role") == "button" or is_button_class(attributes.get("class") or "")


def is_button_class(names: str) -> bool:
    """Whether one of the names in a class, or a part of one, is that of a button."""
    return _BUTTON.search(names) is not None


def _is_plain(link: LexborNode) -> bool:
    """Whether a link holds a line of text and nothing else."""
    for number, node in enumerate(link.traverse()):
        if number > _MOST_INSIDE or (number and node.tag not in OF_BUTTON):
            return False
    return True


def _stands_alone(link: LexborNode) -> bool:
    """Whether its block has no other text than that of buttons."""
    node = link
    for _ in range(_MOST_ABOVE):
        if not all(map(_is_silent, _siblings(node))):
            return False
        above = node.parent
        if above is None or above.tag not in INLINE:
            return above is not None and above.tag not in TOLD
        node = above
    return False


def _siblings(node: LexborNode) -> Iterator[LexborNode]:
    for step in ("prev", "next"):
        beside = getattr(node, step)
        for _ in range(_MOST_SIBLINGS):
            if beside is None:
                break
            yield beside
            beside = getattr(beside, step)


def _is_silent(node: LexborNode) -> bool:
    if node.is_text_node:
        return not (node.text_content or "").strip()
    return not node.is_element_node or node.tag in SILENT or (node.tag == "a" and _is_button(node))
