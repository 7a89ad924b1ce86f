"""Values of a row, each untrusted: what they must be, or a `RowError` that says what they are."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from obelics_pipeline.core.document import IMAGE_ROLES
from obelics_pipeline.core.shards.check_record import NotJson, parse_json
from obelics_pipeline.stages.rows.row_error import BROKEN_METADATA, LENGTHS_DIFFER, NOT_ALIGNED, WRONG_TYPE, RowError

LARGEST = 2**31 - 1  # of a number of pixels, characters or bytes, as documents are stored
_SHARE = re.compile(r"\d{1,9}(?:\.\d{1,9})?%")  # a declared size that is no number of pixels
_FORMAT = re.compile(r"[a-z0-9]{1,10}")


def string(value: Any) -> str:
    """A string, empty where a value is something else."""
    return value if isinstance(value, str) else ""


def integer(value: Any) -> int:
    """A number of bytes or rows, 0 where a value is no such number."""
    return value if type(value) is int and 0 <= value < 2**63 else 0


def strings(name: str, values: Any) -> Sequence[str | None] | None:
    """A list of strings and nulls, None where it is null. Raises RowError."""
    if values is None:
        return None
    if not isinstance(values, list):
        raise RowError(WRONG_TYPE, f"{name} is {kind(values)}, not a list")
    for i, value in enumerate(values):
        if not isinstance(value, str | None):
            raise RowError(WRONG_TYPE, f"{name} at place {i} is {kind(value)}, not a string")
    return values


def listed(name: str, value: Any) -> list[Any] | None:
    """A list, or the JSON of one; None where it is null. Raises RowError."""
    found: list[Any] | None = _parsed(name, value, list, "a list")
    return found


def mapped(name: str, value: Any) -> dict[str, Any]:
    """An object, or the JSON of one; empty where it is null. Raises RowError."""
    found: dict[str, Any] | None = _parsed(name, value, dict, "an object")
    return {} if found is None else found


def _parsed(name: str, value: Any, wanted: type, called: str) -> Any:
    if isinstance(value, str):
        try:
            value = parse_json(value)
        except NotJson as error:
            raise RowError(BROKEN_METADATA, f"{name}: {str(error).partition(': ')[2]}") from None
    if value is not None and not isinstance(value, wanted):
        raise RowError(WRONG_TYPE, f"{name} is {kind(value)}, not {called}")
    return value


def refuse_unequal(**lists: Sequence[Any] | None) -> None:
    """Raise RowError where lists that have one place for each element of a document are not of one length."""
    there = {name: len(values) for name, values in lists.items() if values is not None}
    if len(set(there.values())) > 1:
        raise RowError(LENGTHS_DIFFER, ", ".join(f"{name} {length}" for name, length in there.items()))


def places(texts: Sequence[str | None], images: Sequence[str | None]) -> Iterator[tuple[int, str | None, str | None]]:
    """Place, text and image of lists of one length, exactly one of the two. Raises RowError."""
    for i, (text, image) in enumerate(zip(texts, images, strict=True)):
        if (text is None) == (image is None):
            raise RowError(NOT_ALIGNED, f"place {i} has {'neither text nor image' if text is None else 'both'}")
        yield i, text, image


def image_facts(about: Mapping[str, Any]) -> dict[str, Any]:
    """What the metadata of an image in our form say of it, as an `ImageNode` takes it; what cannot be is left out."""
    facts: dict[str, Any] = {}
    for name in ("alt_text", "formatted_filename"):
        if isinstance(about.get(name), str):
            facts[name] = about[name]
    for name in ("position", "post", "original_width", "original_height", "rendered_width", "rendered_height"):
        if type(about.get(name)) is int and 0 <= about[name] <= LARGEST:
            facts[name] = about[name]
    for name in ("rendered_width", "rendered_height"):
        if isinstance(about.get(name), str) and _SHARE.fullmatch(about[name]):
            facts[name] = about[name]
    for name in ("similarity", "unsafe"):
        if type(about.get(name)) in (int, float) and -1 <= about[name] <= 1:
            facts[name] = float(about[name])
    if isinstance(about.get("format"), str) and _FORMAT.fullmatch(about["format"]):
        facts["format"] = about["format"]
    return facts | ({"role": about["role"]} if string(about.get("role")) in IMAGE_ROLES else {})


def kind(value: Any) -> str:
    """What a value of JSON is called."""
    names = {str: "a string", list: "a list", dict: "an object", bool: "a boolean", int: "a number", float: "a number"}
    return names.get(type(value), "null" if value is None else type(value).__name__)
