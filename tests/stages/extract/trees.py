"""Simplified trees of snippets of HTML."""

from selectolax.lexbor import LexborHTMLParser

from obelics_pipeline.core.config.extraction import ExtractionConfig
from obelics_pipeline.stages.extract.simplify import simplify
from obelics_pipeline.stages.extract.tree import SimplifiedTree


def tree_of(html: str) -> SimplifiedTree:
    root = LexborHTMLParser(html).root
    assert root is not None
    return simplify(root, ExtractionConfig(max_depth=50_000))


def row_of(tree: SimplifiedTree, text: str) -> int:
    """The first row whose text or image's address begins so."""
    for row, value in enumerate(tree.values):
        said = value if isinstance(value, str) else (value or {}).get("src") or ""
        if said.startswith(text):
            return row
    raise AssertionError(f"no row {text}")
