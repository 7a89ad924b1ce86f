"""Pages that would take the parser itself hours or gigabytes are refused before it sees them.

The HTML5 algorithm is not linear: a start tag looks through all open elements for one to close, an element's
attributes are compared pairwise, and formatting elements that a block has closed are opened again at the next text.
Lexbor needs 40 s for 100,000 nested divs, 60 s for 200,000 attributes, and cannot be interrupted. Ordinary pages pass
on counts made at the speed of memory; the rest are scanned tag by tag, which bounds the work from above.
"""

from __future__ import annotations

import re

from obelics_pipeline.config.extraction import ExtractionConfig
from obelics_pipeline.extract.tag_scan import most_attributes, scan_tags
from obelics_pipeline.extract.walk import PageRejected

# Bounds on the parser's work, from measurements with Lexbor (selectolax 1.0): about 4 ns a step, 190 bytes a node.
MAX_STEPS = 500_000_000  # about 2 s
MAX_REOPENED = 1_000_000  # nodes that reopening formatting elements may add: about 190 MB
MAX_ATTRIBUTE_PAIRS = 300_000_000  # about 1 s

# Pages below these cannot exceed the bounds, whatever they hold.
_FEW_TAGS = 2_000  # 1,000 formatting elements reopened 1,000 times
_HARMLESS_TAGS = 20_000  # nested: 200 million steps
_FEW_QUOTES = 20_000  # attribute values that may hide a ">": 10,000 attributes at most
_LONG = 4_096  # bytes without ">": a tag that long may hold too many attributes
_MANY_ATTRIBUTES = 1_500

_PLAIN_FORMATTING = 36  # 12 names, each reopened three times at most if its tags are all alike
_ALIKE = 3
# A formatting tag that has attributes. (a and nobr are formatting elements too, but close themselves.)
_FORMATTING_TAG = re.compile(
    rb"<(?=[bcefistuBCEFISTU])(?:[bBiIsSuU]|[eE][mM]|[tT][tT]|[bB][iI][gG]|[cC][oO][dD][eE]|[fF][oO][nN][tT]|"
    rb"[sS](?:[mM][aA][lL][lL]|[tT][rR](?:[iI][kK][eE]|[oO][nN][gG])))[\s/][^>]*"
)


def check_parse_cost(source: bytes, config: ExtractionConfig) -> None:
    """Raises `PageRejected` (too_many_nodes, too_deep) for a page whose tree may exceed the bounds."""
    tags = source.count(b"<")
    if tags > config.max_nodes:
        raise PageRejected("too_many_nodes")
    if _looks_cheap(source, tags):
        return
    cost = scan_tags(source, MAX_STEPS)
    if cost.attribute_pairs > MAX_ATTRIBUTE_PAIRS or cost.reopened > MAX_REOPENED:
        raise PageRejected("too_many_nodes")
    if cost.steps > MAX_STEPS:
        raise PageRejected("too_deep")


def _looks_cheap(source: bytes, tags: int) -> bool:
    """Whether counts alone show that the page is within the bounds."""
    if tags > _HARMLESS_TAGS or _has_long_tag(source):
        return False
    if len(source) > 8 * _FEW_QUOTES and source.count(b'"') + source.count(b"'") > 2 * _FEW_QUOTES:
        return False
    return tags <= _FEW_TAGS or _most_reopened(source) * tags <= MAX_REOPENED


def _most_reopened(source: bytes) -> int:
    """How many formatting elements may wait to be reopened at once, if none is ever closed."""
    written: list[bytes] = _FORMATTING_TAG.findall(source)
    cut = sum(b'"' in tag and tag.count(b'"') % 2 for tag in written)  # a ">" in a value: they may differ after it
    return _PLAIN_FORMATTING + _ALIKE * len(set(written)) + cut


def _has_long_tag(source: bytes) -> bool:
    """Whether some stretch without ">" may be one tag with thousands of attributes.

    Stretches are found by looking at whole blocks, which no stretch of twice their length can hide between.
    """
    end = 0
    for block in range(0, len(source), _LONG):
        if block < end or source.find(b">", block, block + _LONG) >= 0:
            continue
        start = source.rfind(b">", 0, block) + 1
        end = source.find(b">", block)
        end = len(source) if end < 0 else end
        if most_attributes(source[start:end], _MANY_ATTRIBUTES) > _MANY_ATTRIBUTES:
            return True
    return False
