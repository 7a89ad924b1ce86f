"""What a page must be searched for before it is simplified: one compiled walk over its tree tells what it cannot have.

A search by a selector takes up to a fifth of the parser's time, and most pages have nothing that it finds. Where the
walk was not built, or selectolax is another than it knows (see `simplify`), a page is searched for everything.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import selectolax
from selectolax import lexbor

from obelics_pipeline.stages.extract import tags
from obelics_pipeline.stages.extract.rebuild import calls
from obelics_pipeline.stages.extract.rebuild.left_open import FRAMES as FRAME_TAGS
from obelics_pipeline.stages.extract.rebuild.panels import TITLES
from obelics_pipeline.stages.extract.simplify import is_tested

FRAMES = 1  # a main element in a frame of the page (left_open.py)
STREAMED = 2  # places for parts that come later (streamed.py)
PANELS = 4  # hidden panels (panels.py)
FORMULAS = 8
SIGNS = 16  # anchors.py
CODE = 32  # preformatted text
_ALL = 63

# Kinds of tags that something is asked of, and what else is said of a tag, as bits (_survey.c).
_KINDS = (FRAME_TAGS, ["main"], ["template"], ["math"], ["script"], ["img"], ["a"], ["input"], ["pre"], ["form"])
_FLAGS = {16: TITLES, 32: calls.INLINE, 64: calls.SILENT, 128: calls.OF_BUTTON, 256: calls.TOLD}
_TABLED = 1024  # tags


@dataclass(frozen=True, slots=True)
class Survey:
    """What a page may have, as bits. `calls` has the addresses of the nodes that may be calls; None: not looked for."""

    bits: int
    calls: list[int] | None

    def may_have(self, bits: int) -> bool:
        """Whether there may be one of these. A search for what there may not be finds nothing."""
        return bool(self.bits & bits)


def _set_up() -> Any:
    """The compiled walk, told the rules; None where it was not built, or cannot be used."""
    if not is_tested(selectolax.__version__):
        return None
    try:
        walk = import_module("obelics_pipeline.stages.extract.rebuild._survey")
        inline, of_button = _unnumbered(calls.INLINE), _unnumbered(calls.OF_BUTTON)
        walk.set_up(lexbor.__file__, _table(), tags.TEXT, inline, of_button, calls.is_button_class)
    except (ImportError, OSError):
        return None
    return walk


def _table() -> bytes:
    table = array("H", bytes(2 * _TABLED))
    for kind, names in enumerate(_KINDS, start=1):
        for number in tags.by_id({kind: names}):
            table[number] = kind
    for flag, names in _FLAGS.items():
        for number in tags.by_id({flag: names}):
            table[number] |= flag
    return table.tobytes()


def _unnumbered(names: frozenset[str]) -> frozenset[str]:
    return frozenset(tags.by_name({True: names}))


_walk = _set_up()
COMPILED = _walk is not None


def survey(root: lexbor.LexborNode) -> Survey:
    """What the page under `root` may have."""
    return Survey(_ALL, None) if _walk is None else Survey(*_walk.survey(root.mem_id))


def hide_calls(parser: lexbor.LexborHTMLParser, found: Survey) -> None:
    """Hide the calls of a page (see `calls.hide_calls`). Since it was surveyed no node of it may have been freed."""
    if found.calls is None:
        calls.hide_calls(parser.css(calls.CALLS))
    elif found.calls:
        _walk.hide_calls(found.calls)
