"""The language of preformatted text, named by its element: a page names it for what colours the code, in many ways."""

from __future__ import annotations

import re
from collections.abc import Iterator

from selectolax.lexbor import LexborHTMLParser, LexborNode

from obelics_pipeline.stages.extract.tree import LANGUAGE

_NAME = re.compile(r"[a-z0-9+#-]{1,20}")
_NO_LANGUAGES = frozenset("auto default none nohighlight no-highlight".split())
_ATTRIBUTES = (LANGUAGE, "data-lang")
# Of the element or its code (HTML, 4.5.15; Prism, highlight.js, SyntaxHighlighter, Org), and of what stands around:
# Jekyll and MkDocs, GitHub, Sphinx, which also says notranslate.
_OF_CODE = re.compile(r"(?:^|\s)(?:lang(?:uage)?-|src-|brush:\s*)([^\s;]+)")
_OF_AROUND = re.compile(
    r"(?:^|\s)(?:language-|highlight-(?:source|text)-)([^\s;]+)|(?:^|\s)highlight-(\S+)(?=.*\bnotranslate\b)"
)
_MOST_ABOVE, _MOST_BEFORE, _LONGEST = 3, 3, 1_000  # levels above; nodes before the code; characters of a class


def name_languages(parser: LexborHTMLParser) -> None:
    """Set the attribute `LANGUAGE` of each pre to the name of its language, and remove it where no name is known."""
    for pre in parser.css("pre"):
        name = next(_names(pre), None)
        if name is not None:
            pre.attrs[LANGUAGE] = name
        elif LANGUAGE in pre.attributes:
            del pre.attrs[LANGUAGE]


def _names(pre: LexborNode) -> Iterator[str]:
    """What is said, the nearest first."""
    for node in (pre, _code(pre)):
        if node is not None:
            yield from _said(node, _OF_CODE)
    above = pre.parent
    for _ in range(_MOST_ABOVE):
        if above is None or above.tag == "body":
            return
        yield from _said(above, _OF_AROUND)
        above = above.parent


def _code(pre: LexborNode) -> LexborNode | None:
    node = pre.first_child
    for _ in range(_MOST_BEFORE):
        if node is None or node.tag == "code":
            return node
        node = node.next
    return None


def _said(node: LexborNode, pattern: re.Pattern[str]) -> Iterator[str]:
    attributes = node.attributes
    written = [attributes.get(name) for name in _ATTRIBUTES]
    if match := pattern.search((attributes.get("class") or "")[:_LONGEST]):
        written.append(match[match.lastindex or 0])
    for name in written:
        if name and _NAME.fullmatch(name.lower()) and name.lower() not in _NO_LANGUAGES:
            yield name.lower()
