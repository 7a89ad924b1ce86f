"""Pages that show a line while scripts load: what they hold for those without scripts, or hidden, is the page."""

from __future__ import annotations

from selectolax.lexbor import LexborHTMLParser

from obelics_pipeline.stages.extract.rebuild.panels import HIDDEN, is_popup, show

SPLASH = 1_000  # a page of fewer characters may be what is shown while scripts load
# How many times what it shows such a page holds at least. Of half of the domains of WCXB and of 893 other pages, none
# held twice to 300 times as much; on the other half hidden text was at least 3.6 times as long, or at most once.
HIDDEN_MORE, UNSEEN_MORE = 3, 10
NOTICE = 200  # characters; a page that only scripts fill says in no more that they are needed


def is_page(held: int, shown: int, more: int) -> bool:
    """Whether a page that shows `shown` characters is rather what it holds: `more` times as many besides."""
    return shown < SPLASH and held - shown > max(NOTICE, more * shown)


def opened(source: bytes) -> bytes:
    """The page with what only parsers without scripts see, noscript and template, as blocks."""
    for name in (b"noscript", b"template"):
        source = source.replace(b"<" + name, b"<x-" + name).replace(b"</" + name, b"</x-" + name)
    return source


def show_hidden(parser: LexborHTMLParser) -> None:
    """Show all that is hidden, but what pops up."""
    for node in parser.css(HIDDEN):
        if not is_popup(node.attributes):
            show(node)
