"""Putting members into a JSON object without touching a character of the others: numbers stay as they were written.

Each function is given a valid JSON object as text, and members whose values are JSON.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from json import JSONDecoder, JSONEncoder

_SPACE = re.compile(r"[ \t\n\r]*")
_value_at = JSONDecoder().raw_decode
as_json = JSONEncoder(ensure_ascii=False).encode  # made once: json.dumps with settings makes one for each value


def append_members(text: str, members: Mapping[str, str]) -> str:
    """The object with further members at its end; it must not have them yet."""
    body = text.rstrip().removesuffix("}").rstrip()
    mark = "," if members and not body.endswith("{") else ""
    return body + mark + ",".join(f"{as_json(key)}:{value}" for key, value in members.items()) + "}"


def replace_members(text: str, members: Mapping[str, str]) -> str:
    """The object with these members in place of those of the same name; what it lacks comes at its end."""
    parts: list[str] = []
    at, placed = 0, set()
    for key, start, end in _members(text):
        if key in members:
            parts += [text[at:start], members[key]]
            at = end
            placed.add(key)
    replaced = "".join(parts) + text[at:]
    return append_members(replaced, {key: value for key, value in members.items() if key not in placed})


def _members(text: str) -> Iterator[tuple[str, int, int]]:
    """The members of an object: key, and where its value begins and ends."""
    at = _skip(text, _skip(text, 0) + 1)
    while text[at] != "}":
        key, at = _value_at(text, at)
        start = _skip(text, _skip(text, at) + 1)  # beyond the colon
        _, end = _value_at(text, start)
        yield key, start, end
        at = _skip(text, end)
        if text[at] == ",":
            at = _skip(text, at + 1)


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at
