"""Signs that link a heading, a definition or a footnote to itself or back: a pilcrow, a number sign, an arrow.

They are no part of the text beside them. Documentation and weblogs are full of them.
"""

from __future__ import annotations

from selectolax.lexbor import LexborHTMLParser

_ANCHOR = 'a[href^="#"]'  # a link within the page


def drop_signs(parser: LexborHTMLParser) -> None:
    """Take out each link within the page that has text, and no letter or digit in it."""
    for node in parser.css(_ANCHOR):
        text = node.text().strip()
        if text and not any(map(str.isalnum, text)) and node.css_first("img, svg") is None:
            node.decompose()
