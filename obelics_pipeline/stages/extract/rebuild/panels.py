"""Panels of tabs and accordions are shown: they are hidden until a reader opens them, so their text is the page's.

A panel is known by its role, by the label that opens it, by the heading above it, or by the names that style sheets
give it.
"""

from __future__ import annotations

import re

from selectolax.lexbor import LexborHTMLParser, LexborNode

from obelics_pipeline.stages.extract.image_source import Attributes

HIDDEN = '[hidden], [style*="none" i]'  # elements that may be hidden
_LABELLED_ROLES = ("", "region", "group")  # WAI-ARIA Authoring Practices: an accordion's panel, named by its heading
TITLES = frozenset("h2 h3 h4 h5 h6 dt".split())
# As Bootstrap, jQuery UI, WordPress blocks, Chakra and AEM name panels, and what else opens at a click.
_PANEL = re.compile(
    r"(?<![a-z])(?:tab[-_]*(?:pane|panel|content)|accordion|collapse|collapsi|expander|faq|toggle[-_]*content)", re.I
)
_POPUP = re.compile(r"(?<![a-z])(?:modal|popup|drawer|menu|dropdown|tooltip|dialog|lightbox|overlay)", re.I)
_MOST_SIBLINGS = 10  # white space and comments before a panel


def show_panels(parser: LexborHTMLParser) -> None:
    """Show each hidden panel."""
    for node in parser.css(HIDDEN):
        if _is_panel(node):
            show(node)


def show(node: LexborNode) -> None:
    """Take from an element what hides it."""
    attributes = node.attributes
    if "hidden" in attributes:
        del node.attrs["hidden"]
    if "display:none" in (attributes.get("style") or "").replace(" ", "").lower():
        del node.attrs["style"]


def is_popup(attributes: Attributes) -> bool:
    """Whether an element is named as one that pops up over the page."""
    return _POPUP.search(_names(attributes)) is not None


def _names(attributes: Attributes) -> str:
    return f"{attributes.get('class') or ''} {attributes.get('id') or ''}"


def _is_panel(node: LexborNode) -> bool:
    attributes = node.attributes
    if is_popup(attributes):
        return False
    role = (attributes.get("role") or "").strip().lower()
    if role == "tabpanel" or ("aria-labelledby" in attributes and role in _LABELLED_ROLES):
        return True
    return not role and (_PANEL.search(_names(attributes)) is not None or _follows_title(node))


def _follows_title(node: LexborNode) -> bool:
    before = node.prev
    for _ in range(_MOST_SIBLINGS):
        if before is None or before.is_element_node:
            break
        before = before.prev
    return before is not None and before.tag in TITLES
