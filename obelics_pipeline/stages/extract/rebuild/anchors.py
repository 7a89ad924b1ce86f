"""Signs that link a heading, a definition or a footnote to itself or back: a pilcrow, a number sign, an arrow.

They are no part of the text beside them. Documentation and weblogs are full of them.
"""

from __future__ import annotations

from collections.abc import Sequence

from selectolax.lexbor import LexborNode

SIGN = 'a[href^="#"]'  # links within the page


def hide_signs(found: Sequence[LexborNode]) -> None:
    """Hide each link within the page that has text, and no letter or digit in it.

    `found` is what the selector `SIGN` finds of a page, and may be more. No node is freed.
    """
    for node in found:
        if node.tag == "a" and (node.attributes.get("href") or "").startswith("#"):
            text = node.text().strip()
            if text and not any(map(str.isalnum, text)) and node.css_first("img, svg") is None:
                node.attrs["hidden"] = ""
