"""Declarations by JSON-LD, of schema.org."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from selectolax.lexbor import LexborHTMLParser

from obelics_pipeline.stages.extract.licence.claim import MAX_CLAIMS, Claim, names_of, note_picture, stored
from obelics_pipeline.stages.extract.licence.things import OTHER_WORKS, PARTS, PICTURES, type_name

MAX_JSON = 256 * 2**10  # characters of one script of JSON-LD
MAX_JSON_NODES = 20_000


def json_ld(parser: LexborHTMLParser, url: str, pictures: dict[str, str]) -> Iterator[Claim]:
    """Licences of the page that JSON-LD scripts declare. Those of its pictures are added to `pictures`."""
    for script in parser.css('script[type*="ld+json" i]')[:MAX_CLAIMS]:
        text = script.first_child.text_content if script.first_child is not None else None
        if not text or '"license"' not in text or len(text) > MAX_JSON:
            continue
        try:
            value = json.loads(text, strict=False)
        except (ValueError, RecursionError):
            continue
        yield from _described(value, url, pictures)


def _described(value: Any, url: str, pictures: dict[str, str]) -> Iterator[Claim]:
    """Licences of the page and of its pictures in a graph of schema.org things. Works that the page only refers to are
    left out.
    """
    waiting, seen = [(value, True)], 0
    while waiting and seen < MAX_JSON_NODES:
        here, is_page = waiting.pop()
        seen += 1
        if isinstance(here, list):
            waiting += [(inner, is_page) for inner in reversed(here)]
        elif isinstance(here, dict):
            waiting += [
                (inner, is_page and key.lower() not in OTHER_WORKS)
                for key, inner in reversed(here.items())
                if isinstance(inner, (dict, list)) and key != "license"
            ]
            if "license" in here:
                claims = _of_thing(here, url, pictures)
                yield from claims if is_page else ()


def _of_thing(thing: dict[str, Any], url: str, pictures: dict[str, str]) -> list[Claim]:
    types = {type_name(kind) for kind in _listed(thing.get("@type"))}
    said = [text for value in _listed(thing["license"]) if (text := _address_of(value))]
    names = [(name, text) for text in said for name in names_of(text, "")]
    if types & PICTURES:
        source = next((s for key in ("contentUrl", "url") for s in _listed(thing.get(key)) if isinstance(s, str)), None)
        if source is not None:
            note_picture(source, [name for name, _ in names], url, pictures)
    elif types and not types & PARTS:
        return [Claim(name, "json_ld", text) for name, text in names]
    return []


def _listed(value: Any) -> list[Any]:
    return value[:MAX_CLAIMS] if isinstance(value, list) else [] if value is None else [value]


def _address_of(value: Any) -> str | None:
    """An address, or a name, given directly or in a thing of its own (a CreativeWork)."""
    if isinstance(value, dict):
        value = next((value[key] for key in ("@id", "url", "name") if isinstance(value.get(key), str)), None)
    return stored(value) if isinstance(value, str) else None
