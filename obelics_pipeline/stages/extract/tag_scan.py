"""An upper estimate of what the HTML5 tree construction will cost, from one linear scan of the tags.

`_tag_scan.c` does the same, compiled. Where a scan cannot know whether the parser takes something as text (a script in
a page that has an open svg, say), start tags in it count and end tags do not.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_VOID = frozenset(
    b"area base basefont bgsound br col embed frame hr image img input keygen link meta param source track wbr".split()
)
# Elements that the parser closes by itself when the next of their kind begins: they nest only with others between.
_SELF_CLOSING = frozenset(
    b"p li dt dd tr td th tbody thead tfoot caption colgroup option optgroup rb rt rtc rp body html head a nobr "
    b"h1 h2 h3 h4 h5 h6 button".split()
)
_ALONE = _VOID | _SELF_CLOSING
_FORMATTING = frozenset(b"b big code em font i s small strike strong tt u".split())
_RAW = frozenset(b"script style textarea title xmp iframe noembed noframes".split())
_FOREIGN = frozenset({b"svg", b"math"})
_SHAPES = frozenset(
    b"circle ellipse g image line path polygon polyline rect stop use symbol defs lineargradient animate "
    b"animatetransform clippath filter fegaussianblur feoffset feblend fecolormatrix feflood mask".split()
)
# Of the void and self-closing ones and those most often seen, the names at which the parser leaves svg and math
# ("any other start tag" of https://html.spec.whatwg.org/multipage/parsing.html#parsing-main-inforeign).
_LEAVES_FOREIGN = frozenset(
    b"b big blockquote body br center code dd div dl dt em embed h1 h2 h3 h4 h5 h6 head hr i img li listing menu meta "
    b"nobr ol p pre ruby s small span strong strike sub sup table tt u ul var".split()
)
_ALIKE = 3  # formatting elements that differ in nothing are reopened at most this many times ("Noah's Ark clause")

# Opens a comment, what the parser takes as one up to the next ">", or a tag.
_TOKEN = re.compile(rb"<(?:(!--)|([!?]|/(?![a-zA-Z]))|(/?)([a-zA-Z][^\t\n\f\r />\x00]*))")
_COMMENT_END = re.compile(rb"--!?>")
_ATTRIBUTE = re.compile(
    rb"[\t\n\f\r /]*([^\t\n\f\r />][^\t\n\f\r />=]*)"
    rb"(?:[\t\n\f\r ]*=[\t\n\f\r ]*(?:\"[^\"]*\"|'[^']*'|[^\t\n\f\r >]*))?"
)
_TAG_END = re.compile(rb"[\t\n\f\r /]*>?")
_RAW_END = {name: re.compile(rb"</" + name + rb"[\t\n\f\r />]", re.IGNORECASE) for name in _RAW}
# The script's states: https://html.spec.whatwg.org/multipage/parsing.html#script-data-double-escaped-state
_SCRIPT = re.compile(rb"<!--|-->|<(/?)script[\t\n\f\r />]", re.IGNORECASE)


class ParseCost(NamedTuple):
    """Steps through the stack of open elements, nodes added by reopening, and pairs of attributes compared."""

    steps: int
    reopened: int
    attribute_pairs: int


def scan_tags(source: bytes, max_steps: int) -> ParseCost:
    """Estimate the cost of parsing a page; never far below the truth, and above it for pages with unclosed tags.

    Stops once `max_steps` is exceeded.
    """
    steps = reopened = pairs = 0
    opened: dict[bytes, int] = {}  # open elements by name
    alike: dict[bytes, int] = {}  # open formatting elements by tag as written
    written: dict[bytes, list[bytes]] = {}  # and as written by name, the last opened last
    depth = formatting = position = 0
    drawing = False  # no tag since the last <svg> or <math> has made the parser leave it
    doubtful = 0  # what begins before this place may be text
    while steps <= max_steps and (found := _TOKEN.search(source, position)) is not None:
        start, position = found.start(), found.end()
        foreign = any(opened.get(n) for n in _FOREIGN)
        if found[1] or found[2]:
            if foreign and start >= doubtful and source.startswith(b"<![CDATA[", start):
                doubtful = _after(source, b"]]>", start)
            position = _comment_end(source, start) if found[1] else _after(source, b">", start + 2)
        else:
            name = found[4].lower()
            attributes, closed, position = _attributes(source, position)
            pairs += attributes * attributes // 2
            steps += depth
            if found[3]:
                if opened.get(name) and start >= doubtful:
                    opened[name] -= 1
                    depth -= 1
                    if name in _FORMATTING:
                        tag = written[name].pop()
                        alike[tag] -= 1
                        formatting -= alike[tag] < _ALIKE
            else:
                steps += formatting
                reopened += formatting
                drawing = (drawing or name in _FOREIGN) and name not in _LEAVES_FOREIGN
                if name in _RAW and not foreign and start >= doubtful:
                    position = _raw_end(source, name, position)
                    continue
                if name in _RAW and position >= doubtful:
                    doubtful = _raw_end(source, name, position)
                html = name in _LEAVES_FOREIGN or not foreign
                childless = (html and name in _ALONE) or (drawing and closed and name in _SHAPES)
                if not childless:
                    opened[name] = opened.get(name, 0) + 1
                    depth += 1
                    if name in _FORMATTING:
                        tag = source[start:position]
                        written.setdefault(name, []).append(tag)
                        alike[tag] = alike.get(tag, 0) + 1
                        formatting += alike[tag] <= _ALIKE
        if start < doubtful < position:  # the text ends within: what follows counts, and so does what is hidden
            position, doubtful = doubtful, position
    return ParseCost(steps, reopened, pairs)


def _attributes(source: bytes, position: int) -> tuple[int, bool, int]:
    """How many attributes a tag has, whether it ends in "/>", and where it ends."""
    count = 0
    while (found := _ATTRIBUTE.match(source, position)) is not None:
        count += 1
        position = found.end()
    end = _TAG_END.match(source, position)
    assert end is not None  # it may be empty
    return count, end[0].endswith(b"/>"), end.end()


def _after(source: bytes, mark: bytes, position: int) -> int:
    """The place after the next mark, or the end of the page."""
    found = source.find(mark, position)
    return len(source) if found < 0 else found + len(mark)


def _comment_end(source: bytes, start: int) -> int:
    """Where a comment ends: `<!-->` is one, `<!--!>` is not."""
    if source.startswith((b"<!-->", b"<!--->"), start):
        return source.index(b">", start) + 1
    end = _COMMENT_END.search(source, start + 4)
    return end.end() if end else len(source)


def _raw_end(source: bytes, name: bytes, position: int) -> int:
    """Where the text of a script, style and the like ends: at its end tag, or at the end of the page."""
    if name == b"script":
        return _script_end(source, position)
    end = _RAW_END[name].search(source, position)
    return end.start() if end else len(source)


def _script_end(source: bytes, position: int) -> int:
    """As `_raw_end`, for a script: a script within a comment within it has an end tag of its own."""
    escaped = double = False
    while (found := _SCRIPT.search(source, position)) is not None:
        position = found.end()
        if found[1] is None:
            escaped = found[0] == b"<!--"
            double = double and escaped
            position -= 2 * escaped  # <!--> is both
        elif not found[1]:
            double = escaped
        elif double:
            double = False
        else:
            return found.start()
    return len(source)
