"""From a parsed page to its simplified tree: by the compiled walk where it is at hand, else by the one in Python."""

from __future__ import annotations

import time
from importlib import import_module
from typing import Any

import numpy as np
import selectolax
from selectolax import lexbor

from obelics_pipeline.core.config.extraction import ExtractionConfig
from obelics_pipeline.stages.extract import default_rules as rules
from obelics_pipeline.stages.extract import simplify_pure, tags, text_counts
from obelics_pipeline.stages.extract.default_texts import INVISIBLE, SOFT_HYPHEN
from obelics_pipeline.stages.extract.image_source import figure_source
from obelics_pipeline.stages.extract.marks import MODIFIER, VOCABULARY
from obelics_pipeline.stages.extract.tree import WIDTH, SimplifiedTree
from obelics_pipeline.stages.extract.walk import CLOCK_EVERY, PageRejected

# The compiled walk asks the Lexbor in selectolax for its nodes, by functions and an address that are no part of
# selectolax's interface: so it is used with the versions that it was tested with, and by itself with no other.
TESTED = ("1.0",)  # the bounds in setup.py are the same
SELECTOLAX: str = selectolax.__version__

# What the compiled walk does with an element (_simplify.c): its actions, and the bits beside them.
_SKIP, _SOURCE, _BREAK, _DECLARATION, _DIALOG, _BUTTON, _IMAGE, _INLINE, _LINK, _ROW = range(10)
_FIGURE, _PICTURE, _NOSCRIPT, _HEADING, _CODE = range(10, 15)
_SHOWN, _DECORATIVE, _MAY_BE_EMPTY, _ATTACHED = 16, 32, 64, 128
_ACTIONS = {
    rules.DROP: _SKIP,
    rules.BREAK: _BREAK,
    rules.META: _DECLARATION,
    rules.BASE: _DECLARATION,
    rules.DIALOG: _DIALOG,
    rules.BUTTON: _BUTTON,
    rules.IMAGE: _IMAGE,
    rules.INLINE: _INLINE,
    rules.LINK: _LINK,
    rules.FIGURE: _FIGURE,
    rules.PICTURE: _PICTURE,
    rules.NOSCRIPT: _NOSCRIPT,
    rules.HEADING: _HEADING,
    rules.PREFORMATTED: _CODE,
}
_TAG_ENTRIES = 1024  # tags that the compiled walk has a table for
_DROPPED_ROLE, _LAYOUT_ROLE = -1, -2


def is_tested(version: str) -> bool:
    """Whether the compiled walk may be used with a version of selectolax."""
    return version.startswith(tuple(f"{tested}." for tested in TESTED))


def _set_up() -> Any:
    """The compiled walk, told the rules; None where it was not built, or cannot be used."""
    if not is_tested(SELECTOLAX):
        return None
    try:
        walk = import_module("obelics_pipeline.stages.extract._simplify")
        walk.set_up(
            lexbor.__file__,
            tags=_entries(),
            custom_tags={name: 1 + _ACTIONS.get(rule, _ROW) for name, rule in tags.by_name(rules.TAGS).items()},
            vocabulary=VOCABULARY,
            roles=_roles(),
            commas=text_counts.COMMAS,
            stops=text_counts.STOPS,
            ends=text_counts.SENTENCE_ENDS,
            closers=text_counts.CLOSERS,
            soft=SOFT_HYPHEN,
            invisible=INVISIBLE,
            wide_ranges=text_counts.WIDE_RANGES,
            first_wide=simplify_pure.FIRST_WIDE,
            text_tag=tags.TEXT,
            comment_tag=tags.COMMENT,
            first_unknown_tag=tags.FIRST_UNKNOWN,
            table_tag=tags.tag_id("table"),
            block_tag=tags.tag_id("div"),
            image_tag=tags.tag_id("img"),
            clock_every=CLOCK_EVERY,
            modifier=MODIFIER,
            figure_source=figure_source,
            rejected=PageRejected,
        )
    except (ImportError, OSError):
        return None
    return walk


def _entries() -> bytes:
    entries = bytearray([_ROW]) * _TAG_ENTRIES
    for number, rule in tags.by_id(rules.TAGS).items():
        entries[number] = _ACTIONS.get(rule, _ROW)
    entries[tags.tag_id("source")] = _SOURCE
    for bit, names in (
        (_SHOWN, rules.SHOWN_TAGS),
        (_DECORATIVE, rules.DECORATIVE_TAGS),
        (_MAY_BE_EMPTY, rules.CELL_TAGS),
        (_ATTACHED, rules.ATTACHED_TAGS),
    ):
        for name in names:
            entries[tags.tag_id(name)] |= bit
    return bytes(entries)


def _roles() -> dict[str, int]:
    return {
        **dict.fromkeys(rules.DROPPED_ROLES, _DROPPED_ROLE),
        **dict.fromkeys(rules.FRAME_ROLES, tags.tag_id("aside")),
        **dict.fromkeys(rules.HEADER_ROLES, tags.tag_id("header")),
        **dict.fromkeys(rules.LAYOUT_ROLES, _LAYOUT_ROLE),
    }


_walk = _set_up()
COMPILED = _walk is not None


def simplify(root: lexbor.LexborNode, config: ExtractionConfig) -> SimplifiedTree:
    """The simplified tree of the page under `root`. Raises `PageRejected` beyond the bounds of the config."""
    if _walk is None:
        return simplify_pure.simplify(root, config)
    table, values, hrefs, links, declarations = _walk.simplify(
        root.mem_id, config.max_nodes, config.max_depth, config.max_seconds, time.process_time
    )
    return SimplifiedTree(np.frombuffer(table, np.int32).reshape(-1, WIDTH), values, hrefs, declarations, links)
