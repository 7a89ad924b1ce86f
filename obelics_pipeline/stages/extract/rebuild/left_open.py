"""Elements whose end is missing and that swallow the page: an iframe in a noscript, a frame around the main element."""

from __future__ import annotations

from selectolax.lexbor import LexborHTMLParser

from obelics_pipeline.stages.extract.find import find

FRAMES = frozenset("aside footer header nav".split())  # no main may stand in one of these (HTML, 4.4.14)
_MOST_MAINS, _DEEPEST = 10, 64  # bounds of the work on a hostile page


def close_iframes(source: bytes) -> bytes:
    """The page with an end for each iframe that is open where its noscript ends.

    All that follows it is raw text to a parser that reads noscript, up to the next iframe's end or the page's.
    """
    pieces, done = [], 0
    at = find(source, b"<noscript", 0)
    while at >= 0:
        end = find(source, b"</noscript", at)
        if end < 0:
            break
        opened = source.rfind(b"<iframe", at, end)
        if opened >= 0 and source.find(b"</iframe", opened, end) < 0:
            pieces += [source[done:end], b"</iframe>"]
            done = end
        at = find(source, b"<noscript", end)
    return b"".join([*pieces, source[done:]]) if pieces else source


def unwrap_frames(parser: LexborHTMLParser) -> None:
    """Take away frames of the page that stand around its main element."""
    for main in parser.tags("main")[:_MOST_MAINS]:
        node = main.parent
        for _ in range(_DEEPEST):
            if node is None:
                break
            above = node.parent
            if node.tag in FRAMES:
                node.unwrap()
            node = above
