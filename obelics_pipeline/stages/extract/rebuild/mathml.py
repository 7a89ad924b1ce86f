"""Presentation MathML without its TeX, written as TeX: a small set of elements, of others what is in them."""

from __future__ import annotations

import re

from selectolax.lexbor import LexborNode

# Bounds of the work on a hostile page. The deepest formula of a page of MathJax's documentation has 14 levels.
_DEEPEST, MOST_NODES = 60, 100_000  # elements, of a page

_ACCENTS = {"¯": r"\bar", "‾": r"\overline", "^": r"\hat", "ˆ": r"\hat", "~": r"\tilde", "˜": r"\tilde"} | {
    "→": r"\vec",
    "˙": r"\dot",
    "¨": r"\ddot",
}
_SPECIAL = re.compile(r"[#$%&_{}]")  # of TeX; a backslash is written as a command
_UNSEEN = re.compile("[\u2061-\u2064\u200b\ufeff]")  # applied, times, separated, added: said to machines alone
_TIGHT = frozenset("()[]|!'′,.;:/")  # operators that stand close to what is beside them


def to_tex(math: LexborNode, budget: list[int]) -> str:
    """A `math` element as TeX; empty where it is too large or too deep. Takes from the elements that are left."""
    try:
        return _row(math, budget, 0).strip()
    except _TooLarge:
        return ""


class _TooLarge(Exception):
    """The element is left as it is."""


def _children(node: LexborNode) -> list[LexborNode]:
    return [child for child in node.iter() if child.is_element_node]


def _row(node: LexborNode, budget: list[int], depth: int) -> str:
    return "".join(_tex(child, budget, depth + 1) for child in _children(node))


def _tex(node: LexborNode, budget: list[int], depth: int) -> str:
    budget[0] -= 1
    if budget[0] < 0 or depth > _DEEPEST:
        raise _TooLarge
    name = node.tag or ""
    if name in ("mi", "mn", "mo", "mtext", "ms"):
        return _token(name, node)
    if name in ("annotation", "annotation-xml", "mspace", "mphantom"):
        return ""
    if name == "mtable":
        rows = [" & ".join(_row(cell, budget, depth + 2).strip() for cell in _children(row)) for row in _children(node)]
        return r"\begin{matrix} " + r" \\ ".join(rows) + r" \end{matrix}"
    if name == "msqrt":
        return rf"\sqrt{{{_row(node, budget, depth).strip()}}}"
    if name == "mfenced":
        inside = ", ".join(_tex(child, budget, depth + 1) for child in _children(node))
        return (node.attributes.get("open") or "(") + inside + (node.attributes.get("close") or ")")
    if name in _ARGUMENTS and len(children := _children(node)) == _ARGUMENTS[name]:
        return _with_arguments(name, [_tex(child, budget, depth + 1).strip() for child in children])
    return _row(node, budget, depth)


_ARGUMENTS = {"mfrac": 2, "mroot": 2, "msup": 2, "mover": 2, "msub": 2, "munder": 2, "msubsup": 3, "munderover": 3}


def _with_arguments(name: str, parts: list[str]) -> str:
    base, *others = parts
    if name == "mfrac":
        return rf"\frac{{{base}}}{{{others[0]}}}"
    if name == "mroot":
        return rf"\sqrt[{others[0]}]{{{base}}}"
    if name == "mover" and others[0] in _ACCENTS:
        return f"{_ACCENTS[others[0]]}{{{base}}}"
    signs = "^" if name in ("msup", "mover") else "_^"
    base = base if len(base) == 1 else f"{{{base}}}"
    return base + "".join(f"{sign}{{{other}}}" for sign, other in zip(signs, others, strict=False))


def _token(name: str, node: LexborNode) -> str:
    child = node.first_child
    text = " ".join(_UNSEEN.sub("", (child.text_content or "") if child is not None else "").split())
    tex = _SPECIAL.sub(r"\\\g<0>", text.replace("\\", "")) if "\\" not in text else r"\backslash "
    if name in ("mtext", "ms"):
        return rf"\text{{{tex}}}" if tex else ""
    if name == "mi" and len(text) > 1:
        return rf"\operatorname{{{tex}}}"
    return f" {tex} " if name == "mo" and text and text not in _TIGHT and not _SPECIAL.search(text) else tex
