"""An upper estimate of what the HTML5 tree construction will cost, from one linear scan of the tags."""

from __future__ import annotations

import re
from dataclasses import dataclass

_VOID = frozenset(
    b"area base basefont bgsound br col embed frame hr image img input keygen link meta param source track wbr".split()
)
# Elements that the parser closes by itself when the next of their kind begins: they nest only with others between.
_SELF_CLOSING = frozenset(
    b"p li dt dd tr td th tbody thead tfoot caption colgroup option optgroup rb rt rtc rp body html head a nobr "
    b"h1 h2 h3 h4 h5 h6 button".split()
)
_FORMATTING = frozenset(b"b big code em font i s small strike strong tt u".split())
_RAW = frozenset(b"script style textarea title xmp iframe noembed noframes".split())
_FOREIGN = frozenset({b"svg", b"math"})
_SHAPES = frozenset(
    b"circle ellipse g image line path polygon polyline rect stop use symbol defs lineargradient animate "
    b"animatetransform clippath filter fegaussianblur feoffset feblend fecolormatrix feflood mask".split()
)
_ALIKE = 3  # formatting elements that differ in nothing are reopened at most this many times ("Noah's Ark clause")

_TAG = re.compile(rb"<(?:(!--)|(/?)([a-zA-Z][^\s/>\x00]*))")
_ATTRIBUTE = re.compile(rb"[\s/]*([^\s/>][^\s/>=]*)(?:\s*=\s*(?:\"[^\"]*\"|'[^']*'|[^\s>]*))?")
_TAG_END = re.compile(rb"[\s/]*>?")
_SEPARATORS = b" \t\n\r\f/\"'"  # one of them stands before every attribute


@dataclass(slots=True)
class ParseCost:
    """Steps through the stack of open elements, nodes added by reopening, and pairs of attributes compared."""

    steps: int = 0
    reopened: int = 0
    attribute_pairs: int = 0


def scan_tags(source: bytes, max_steps: int) -> ParseCost:
    """Estimate the cost of parsing a page; never far below the truth, and above it for pages with unclosed tags.

    Stops once `max_steps` is exceeded.
    """
    cost = ParseCost()
    opened: dict[bytes, int] = {}  # open elements by name
    alike: dict[bytes, int] = {}  # open formatting elements by tag as written
    written: dict[bytes, list[bytes]] = {}  # and as written by name, the last opened last
    depth = formatting = position = 0
    while cost.steps <= max_steps and (found := _TAG.search(source, position)) is not None:
        position = found.end()
        if found[1]:
            end = source.find(b"-->", found.start() + 2)
            if end < 0:
                break
            position = end + 3
            continue
        name = found[3].lower()
        if found[2]:
            cost.steps += depth
            if opened.get(name):
                opened[name] -= 1
                depth -= 1
                if name in _FORMATTING:
                    tag = written[name].pop()
                    alike[tag] -= 1
                    formatting -= alike[tag] < _ALIKE
            continue
        attributes, position = _attributes(source, position)
        cost.attribute_pairs += attributes * attributes // 2
        cost.steps += depth + formatting
        cost.reopened += formatting
        foreign = any(opened.get(n) for n in _FOREIGN)
        if name in _VOID or name in _SELF_CLOSING or (foreign and name in _SHAPES):
            continue
        if name in _RAW and not foreign:
            position = _raw_end(source, name, position)
            continue
        opened[name] = opened.get(name, 0) + 1
        depth += 1
        if name in _FORMATTING:
            tag = source[found.start() : position]
            written.setdefault(name, []).append(tag)
            alike[tag] = alike.get(tag, 0) + 1
            formatting += alike[tag] <= _ALIKE
    return cost


def most_attributes(stretch: bytes, enough: int, tags_at_most: int = 50) -> int:
    """The attributes of the tag that has most, wherever in the stretch a tag may begin; 0 if surely not `enough`.

    More tags than `tags_at_most` count as one with many attributes.
    """
    start = stretch.find(b"<")
    if start < 0 or len(stretch) - start - len(stretch[start:].translate(None, _SEPARATORS)) <= enough:
        return 0
    most = 0
    for number, tag in enumerate(_TAG.finditer(stretch)):
        most = max(most, _attributes(stretch, tag.end())[0]) if number < tags_at_most else len(stretch)
    return most


def _attributes(source: bytes, position: int) -> tuple[int, int]:
    """How many attributes a tag has, and where it ends."""
    count = 0
    while (found := _ATTRIBUTE.match(source, position)) is not None:
        count += 1
        position = found.end()
    end = _TAG_END.match(source, position)
    return count, end.end() if end else position


def _raw_end(source: bytes, name: bytes, position: int) -> int:
    """Where the text of a script, style and the like ends: at its end tag, or at the end of the page."""
    end = re.compile(rb"</" + name + rb"[\s/>]", re.IGNORECASE).search(source, position)
    return end.start() if end else len(source)
