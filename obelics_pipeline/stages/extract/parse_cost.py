"""Pages that would take the parser itself hours or gigabytes are refused before it sees them.

The HTML5 algorithm is not linear: a start tag looks through all open elements for one to close, an element's
attributes are compared pairwise, and formatting elements that a block has closed are opened again at the next text.
Lexbor needs 40 s for 100,000 nested divs, 60 s for 200,000 attributes, and cannot be interrupted. A scan of the tags
bounds the work from above; compiled, it takes a sixth of the parser's time.
"""

from __future__ import annotations

from obelics_pipeline.core.config.extraction import ExtractionConfig
from obelics_pipeline.stages.extract.walk import PageRejected

try:
    from obelics_pipeline.stages.extract._tag_scan import scan_tags

    COMPILED = True
except ImportError:
    from obelics_pipeline.stages.extract.tag_scan import scan_tags

    COMPILED = False

# Bounds on the parser's work, from measurements with Lexbor (selectolax 1.0): about 4 ns a step, 190 bytes a node.
MAX_STEPS = 500_000_000  # about 2 s
MAX_REOPENED = 1_000_000  # nodes that reopening formatting elements may add: about 190 MB
MAX_ATTRIBUTE_PAIRS = 300_000_000  # about 1 s


def check_parse_cost(source: bytes, config: ExtractionConfig) -> None:
    """Raises `PageRejected` (too_many_nodes, too_deep) for a page whose tree may exceed the bounds."""
    if len(source) > config.max_nodes and source.count(b"<") > config.max_nodes:
        raise PageRejected("too_many_nodes")
    steps, reopened, attribute_pairs = scan_tags(source, MAX_STEPS)
    if attribute_pairs > MAX_ATTRIBUTE_PAIRS or reopened > MAX_REOPENED:
        raise PageRejected("too_many_nodes")
    if steps > MAX_STEPS:
        raise PageRejected("too_deep")
