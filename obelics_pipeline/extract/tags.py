"""Tag names as the integers that Lexbor gives them, so that the walk never decodes a tag name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeVar

from selectolax.lexbor import LexborHTMLParser

T = TypeVar("T")

_document = LexborHTMLParser("x")


def tag_id(name: str) -> int:
    """The id of an HTML tag. The ids belong to the loaded version of Lexbor; never store one."""
    return _document.create_node(name).tag_id


def by_id(actions: Mapping[T, Iterable[str]]) -> dict[int, T]:
    """Turn {action: tag names} into {tag id: action}. A tag named under two actions raises ValueError."""
    table: dict[int, T] = {}
    for action, names in actions.items():
        for name in names:
            number = tag_id(name)
            if number in table:
                raise ValueError(f"tag {name} has two actions")
            table[number] = action
    return table


def _text_id() -> int:
    body = _document.body
    assert body is not None
    assert body.first_child is not None
    return body.first_child.tag_id


TEXT = _text_id()
COMMENT = LexborHTMLParser("<body><!--x-->").css("body")[0].first_child.tag_id  # type: ignore[union-attr]
