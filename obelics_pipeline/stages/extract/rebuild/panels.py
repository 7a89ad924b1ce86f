"""Panels of tabs and accordions are shown: they are hidden until a reader opens them, so their text is the page's.

A panel is known by its role, by the label that opens it, by the heading above it, or by the names that style sheets
give it.
"""

from __future__ import annotations

import re

from selectolax.lexbor import LexborHTMLParser, LexborNode

from obelics_pipeline.stages.extract.image_source import Attributes

_LABELLED_ROLES = ("", "region", "group")  # WAI-ARIA Authoring Practices: an accordion's panel, named by its heading
_TITLES = frozenset("h2 h3 h4 h5 h6 dt".split())
# As Bootstrap, jQuery UI, WordPress blocks, Chakra and AEM name panels, and what else opens at a click.
_PANEL = re.compile(
    r"(?<![a-z])(?:tab[-_]*(?:pane|panel|content)|accordion|collaps|expander|faq|toggle[-_]*content)", re.I
)
_POPUP = re.compile(r"(?<![a-z])(?:modal|popup|drawer|menu|dropdown|tooltip|dialog|lightbox|overlay)", re.I)
_MOST_SIBLINGS = 10  # white space and comments before a panel


def show_panels(parser: LexborHTMLParser) -> None:
    """Take from each hidden panel what hides it."""
    for node in parser.css('[hidden], [style*="none" i]'):
        attributes = node.attributes
        style = (attributes.get("style") or "").replace(" ", "").lower()
        undisplayed = "display:none" in style
        if (undisplayed or "hidden" in attributes) and _is_panel(node, attributes):
            for name, hides in (("hidden", "hidden" in attributes), ("style", undisplayed)):
                if hides:
                    del node.attrs[name]


def _is_panel(node: LexborNode, attributes: Attributes) -> bool:
    names = f"{attributes.get('class') or ''} {attributes.get('id') or ''}"
    if _POPUP.search(names):
        return False
    role = (attributes.get("role") or "").strip().lower()
    if role == "tabpanel" or ("aria-labelledby" in attributes and role in _LABELLED_ROLES):
        return True
    return not role and (_PANEL.search(names) is not None or _follows_title(node))


def _follows_title(node: LexborNode) -> bool:
    before = node.prev
    for _ in range(_MOST_SIBLINGS):
        if before is None or before.is_element_node:
            break
        before = before.prev
    return before is not None and before.tag in _TITLES
