"""The types of schema.org that a page declares, as JSON-LD or microdata: the vocabulary's own names."""

from __future__ import annotations

import re
from collections import Counter

from obelics_pipeline.stages.extract.find import find

_VOCABULARY = b"schema.org"
_ITEM = re.compile(rb"itemtype\s{0,3}=\s{0,3}[\"']?https?://(?:www\.)?\Z", re.IGNORECASE)
_ITEM_NAME = re.compile(rb"/([A-Za-z]{1,40})")
_LINKED_NAME = re.compile(rb"\"@type\"\s{0,9}:\s{0,9}\[?\s{0,9}\"(?:https?://schema\.org/)?([A-Za-z]{1,40})\"")
_LONGEST = 40  # bytes of an attribute before the vocabulary's name
_MOST = 500  # mentions of the vocabulary that are looked at
_MOST_BYTES = 1_000_000  # of a page that are looked at


def declared_types(source: bytes) -> Counter[str]:
    """How often a page declares each type, within its first `_MOST_BYTES`."""
    found: Counter[str] = Counter()
    done = 0  # up to here JSON-LD was read
    at = find(source, _VOCABULARY, 0)
    for _ in range(_MOST):
        if not 0 <= at <= _MOST_BYTES - len(_VOCABULARY):
            break
        end = at + len(_VOCABULARY)
        if _ITEM.search(source, max(0, at - _LONGEST), at):
            name = _ITEM_NAME.match(source, end)
            found.update([name[1].decode()] if name else [])
        else:  # of a script with JSON-LD: all of it
            start = max(done, source.rfind(b">", done, at))
            done = end = _end_of_script(source, end)
            found.update(name.decode() for name in _LINKED_NAME.findall(source, start, done))
        at = find(source, _VOCABULARY, end)
    return found


def _end_of_script(source: bytes, at: int) -> int:
    end = source.find(b"</", at, _MOST_BYTES)
    return _MOST_BYTES if end < 0 else end
