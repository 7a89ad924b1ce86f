"""From the decoded HTML of a page to its nodes: the one entrance to extraction."""

from __future__ import annotations

from dataclasses import dataclass

from selectolax.lexbor import LexborHTMLParser, SelectolaxError

from obelics_pipeline.config.extraction import ExtractionConfig
from obelics_pipeline.document import Node
from obelics_pipeline.extract.default_extraction import choose, nodes_of
from obelics_pipeline.extract.head import read_head
from obelics_pipeline.extract.obelics_listener import ObelicsListener
from obelics_pipeline.extract.parse_cost import check_parse_cost
from obelics_pipeline.extract.simplify import simplify
from obelics_pipeline.extract.walk import PageRejected, walk

__all__ = ["ExtractedPage", "PageRejected", "extract_page"]


@dataclass(frozen=True, slots=True)
class ExtractedPage:
    """What a page says: its nodes in document order, and what its head declares.

    `title` and `html_lang` are as written, white space squeezed; `robots` holds the directives of its robots metas
    in lower case, such as noai and noimageai, which the caller obeys. `main_content_confidence` is in 0 … 1 (see
    `MainContent`), None where no main content was looked for.
    """

    nodes: list[Node]
    title: str | None
    html_lang: str | None
    robots: frozenset[str]
    main_content_confidence: float | None = None


def extract_page(html: str, url: str, config: ExtractionConfig) -> ExtractedPage:
    """Extract a page by the configured rule set. `url` is the page's own URL, against which images are resolved.

    Any string terminates within the config's bounds. Raises `PageRejected` and nothing else.
    """
    if "\0" in html:
        html = html.replace("\0", "")  # browsers ignore it in text; our rule sets may use it as a mark
    source = html.encode("utf-8", "replace")
    check_parse_cost(source, config)
    try:
        parser = LexborHTMLParser(source)
    except SelectolaxError:
        raise PageRejected("parser_error") from None
    root = parser.root
    if root is None:
        return ExtractedPage([], None, None, frozenset())
    head = read_head(parser)
    if config.rules == "obelics":
        listener = ObelicsListener(url)
        walk(root, listener, config)
        return ExtractedPage(listener.finish(), head.title, head.html_lang, frozenset(head.robots))
    tree = simplify(root, config)
    head.note_body(tree.declarations)
    kept = choose(tree, url, head, config)
    nodes = nodes_of(tree, kept, config)
    return ExtractedPage(nodes, head.title, head.html_lang, frozenset(head.robots), kept.confidence)
