"""Tag names as the integers that Lexbor gives them, so that the walk never decodes a tag name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from selectolax.lexbor import LexborHTMLParser

T = TypeVar("T")

_document = LexborHTMLParser("x")

FIRST_UNKNOWN = 1 << 16  # Lexbor numbers the tags of the standard from 1; any other id holds for one document only
CUSTOM = FIRST_UNKNOWN  # stands for all of these where a tag is stored


def tag_id(name: str) -> int:
    """The id of a tag of the standard. The ids belong to the loaded version of Lexbor; never store one."""
    return _document.create_node(name).tag_id


def by_id(actions: Mapping[T, Iterable[str]]) -> dict[int, T]:
    """Turn {action: tag names} into {tag id: action}, of the tags of the standard.

    Raises ValueError for a tag under two actions.
    """
    table: dict[int, T] = {}
    for action, names in actions.items():
        for name in names:
            number = tag_id(name)
            if number in table:
                raise ValueError(f"tag {name} has two actions")
            if number < FIRST_UNKNOWN:
                table[number] = action
    return table


def by_name(actions: Mapping[T, Iterable[str]]) -> dict[str, T]:
    """The rest: {tag name: action} of the tags that Lexbor has no fixed id for, such as amp-img or mrow."""
    return {name: action for action, names in actions.items() for name in names if tag_id(name) >= FIRST_UNKNOWN}


def _text_id() -> int:
    body = _document.body
    assert body is not None
    assert body.first_child is not None
    return body.first_child.tag_id


TEXT = _text_id()
COMMENT = LexborHTMLParser("<body><!--x-->").css("body")[0].first_child.tag_id  # type: ignore[union-attr]


def flags(*names: str) -> NDArray[np.bool_]:
    """A table by tag id, CUSTOM included: True at these tags of the standard."""
    table = np.zeros(CUSTOM + 1, np.bool_)
    table[[tag_id(name) for name in names]] = True
    return table
