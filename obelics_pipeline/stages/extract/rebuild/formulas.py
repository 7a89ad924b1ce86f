"""Formulas are shown as TeX: `$…$` in a line, `$$…$$` on a line of its own.

A formula is drawn by an engine, which keeps the TeX it drew from: as an annotation of MathML, in a script that only it
reads, or as the text for those who do not see a picture. What the engine drew is hidden, so that it stands once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple
from urllib.parse import unquote_plus

from selectolax.lexbor import LexborHTMLParser, LexborNode

from obelics_pipeline.stages.extract.default_visibility import is_hidden
from obelics_pipeline.stages.extract.rebuild.mathml import MOST_NODES, to_tex

_TEX_ENCODINGS = ("application/x-tex", "application/x-latex", "tex", "latex")
# What engines draw in: MediaWiki, KaTeX, MathJax 3 and 4, MathJax 2. An element that has one of these classes or this
# name, at most so many levels above the math element (MathJax 2 has four).
_DRAWN_IN = frozenset("mwe-math-element katex MathJax MathJax_SVG MathJax_CHTML mjx-chtml".split())
_DRAWN_TAG, _MOST_ABOVE = "mjx-container", 5
_MOST_BESIDE = 8  # elements of semantics
_DISPLAYED = frozenset("mwe-math-element-block katex-display MathJax_Display MJXc-display".split())
_RENDERED = re.compile(r"MathJax|mjx-|MJXc")  # what MathJax 2 puts before its script

# Pictures of formulas: MediaWiki, its older versions, WordPress and QuickLaTeX.
FORMULA = (
    'math, script[type^="math/tex"], img[class*=mwe-math-fallback], img.tex, img.latex, img[class*=ql-img-], '
    'img[src*="latex.php?latex="], img[src*="latex.codecogs.com/"]'
)
_IN_ADDRESS = re.compile(r"latex\.php\?(?:[^#]*&)?latex=([^&#]+)|latex\.codecogs\.com/[a-z.]{3,10}\?([^#]+)")
_AS_TEX = re.compile(r"[\\^_{}=+<>/−-]|^.{1,3}$")

_DELIMITERS = (("$$", "$$", True), (r"\[", r"\]", True), (r"\(", r"\)", False), ("$", "$", False))
_STYLES = (r"{\displaystyle", r"{\textstyle")  # MediaWiki puts every formula in one
_COMMENT = re.compile(r"(?<!\\)%[^\n]*\n\s*")
_MARKS = (".", ",", ";", ":")  # that end a formula, and stay on its line
_ALONE = re.compile(r"\$[^$]+\$[.,;]?|\$\$[^$]+\$\$[.,;]?")
_MOST_FORMULAS, _LONGEST = 20_000, 10_000  # bounds of the work on a hostile page; characters of a formula


class _Formula(NamedTuple):
    tex: str
    display: bool


def is_formula(text: str) -> bool:
    """Whether a text is a formula and nothing else, but a mark that ends it."""
    return text.startswith("$") and _ALONE.fullmatch(text) is not None


def show_formulas(found: Sequence[LexborNode]) -> None:
    """Put the TeX of each formula before what was drawn of it, and hide that. One without TeX stays as it is.

    `found` is what the selector `FORMULA` finds of a page, and may be more. No node is freed.
    """
    drawn: set[int] = set()  # what is replaced
    budget = [MOST_NODES]
    named = [(node, node.tag) for node in found]
    for script in [node for node, tag in named if tag == "script"][:_MOST_FORMULAS]:
        _show_script(script)
    for math in [node for node, tag in named if tag == "math"][:_MOST_FORMULAS]:
        _replace(math, _of_math(math, budget), drawn)
    for picture in [node for node, tag in named if tag == "img"][:_MOST_FORMULAS]:
        _replace(picture, _of_picture(picture), drawn)


def _show_script(script: LexborNode) -> None:
    before = script.prev
    while before is not None and before.is_element_node and _RENDERED.search(before.attributes.get("class") or ""):
        before.attrs["hidden"] = ""
        before = before.prev
    _write(script, _tidy(_text(script), "display" in (script.attributes.get("type") or "")))


def _replace(node: LexborNode, formula: _Formula, drawn: set[int]) -> None:
    above = list(_around(node))
    if any(element.mem_id in drawn for element in above):
        return
    place = next((element for element in reversed(above) if _draws(element)), node)
    if not formula.tex or is_hidden(place.attributes, place.tag_id):
        return
    display = formula.display or any(not _DISPLAYED.isdisjoint(_classes(element)) for element in above)
    drawn.add(place.mem_id)
    _write(place, _Formula(formula.tex, display))
    place.attrs["hidden"] = ""


def _write(place: LexborNode, formula: _Formula) -> None:
    """Put a formula before an element; one that is displayed gets a line."""
    if not formula.tex:
        return
    if not formula.display:
        place.insert_before(f"${formula.tex}$")
        return
    place.insert_before(_line_break())
    place.insert_before(f"$${formula.tex}$$")
    following = place.next
    if following is None or not (following.text_content or "").lstrip().startswith(_MARKS):
        place.insert_before(_line_break())


def _line_break() -> LexborNode:
    return LexborHTMLParser("<br>").css("br")[0]


def _around(node: LexborNode) -> Iterator[LexborNode]:
    above: LexborNode | None = node
    for _ in range(_MOST_ABOVE + 1):
        if above is None or not above.is_element_node:
            return
        yield above
        above = above.parent


def _classes(node: LexborNode) -> list[str]:
    return (node.attributes.get("class") or "").split()


def _draws(node: LexborNode) -> bool:
    return node.tag == _DRAWN_TAG or not _DRAWN_IN.isdisjoint(_classes(node))


def _text(node: LexborNode) -> str:
    child = node.first_child
    return (child.text_content or "") if child is not None else ""


def _of_math(math: LexborNode, budget: list[int]) -> _Formula:
    attributes = math.attributes
    tex = _annotation(math) or attributes.get("data-latex") or attributes.get("alttext") or to_tex(math, budget)
    return _tidy(tex, attributes.get("display") == "block")


def _annotation(math: LexborNode) -> str:
    """The TeX that stands beside the presentation, in math > semantics."""
    semantics = next((child for child in islice(math.iter(), 1) if child.tag == "semantics"), None)
    for child in islice(semantics.iter(), _MOST_BESIDE) if semantics is not None else ():
        if child.tag == "annotation" and (child.attributes.get("encoding") or "").lower() in _TEX_ENCODINGS:
            return _text(child)
    return ""


def _of_picture(picture: LexborNode) -> _Formula:
    attributes = picture.attributes
    tex = attributes.get("alt") or ""
    if match := _IN_ADDRESS.search(attributes.get("src") or ""):
        tex = tex or unquote_plus(match[1] or match[2])
    display = any("display" in name for name in _classes(picture))
    return _tidy(tex, display) if _AS_TEX.search(tex) else _Formula("", False)


def _tidy(tex: str, display: bool) -> _Formula:
    """A formula on one line, without delimiters, comments and what MediaWiki puts around it."""
    if len(tex) > _LONGEST:
        return _Formula("", False)
    tex = " ".join(_COMMENT.sub("", tex).replace("\0", "").split())
    for begin, end, displays in _DELIMITERS:
        if tex.startswith(begin) and tex.endswith(end) and len(tex) > len(begin + end):
            tex, display = tex[len(begin) : -len(end)].strip(), display or displays
            break
    for style in _STYLES:
        if tex.startswith(style) and _closes_at_end(tex):
            tex = tex[len(style) : -1].strip()
    return _Formula(tex, display)


def _closes_at_end(tex: str) -> bool:
    """Whether the brace that begins a formula is closed by its last character."""
    depth = 0
    for place, character in enumerate(tex):
        if character in "{}" and tex[place - 1 : place] != "\\":
            depth += 1 if character == "{" else -1
            if not depth:
                return place == len(tex) - 1
    return False
