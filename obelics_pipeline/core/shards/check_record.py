"""Whether one record says what it must: the alignment of its lists, its provenance, and its files. Pure."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NoReturn

from obelics_pipeline.core.shards.manifest import Promises
from obelics_pipeline.core.shards.record import extension

KEYS = ("doc_id", "texts", "images", "metadata", "general_metadata", "files", "scores", "language")
GIVEN = "given"  # which texts are read and not learned: see models/packed_flamingo/document_tokens.py
PROVENANCE = ("url", "warc_filename", "warc_record_offset", "warc_record_length")


class NotJson(Exception):
    """Bytes that should be JSON are not; the message is why."""


def parse_json(data: str | bytes) -> Any:
    """JSON as the standard has it: UTF-8, no NaN. Raises NotJson."""
    try:
        return json.loads(data if isinstance(data, str) else data.decode("utf-8"), parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise NotJson(f"{type(error).__name__}: {str(error)[:100]}") from None


def record_problems(value: Any, row: Mapping[str, Any], members: Sequence[str], promises: Promises) -> Iterator[str]:
    """What is wrong with a record, beside its JSON value `row` of the index and the names of its image members."""
    if not isinstance(value, dict) or tuple(value) not in (KEYS, (*KEYS, GIVEN)):
        found = ascii(list(value) if isinstance(value, dict) else type(value).__name__)[:200]
        yield f"its JSON must have the keys {', '.join(KEYS)}, found {found}"
        return
    yield from _different("doc_id", value["doc_id"], row["doc_id"])
    yield from _different("language", value["language"], row["language"])
    yield from _score_problems(value["scores"], row, promises.score_names)
    yield from _general_problems(value["general_metadata"], row)
    lists = [value[key] for key in ("texts", "images", "files")]
    if not all(isinstance(x, list) and all(isinstance(item, str | None) for item in x) for x in lists):
        yield "texts, images and files must be lists of strings and nulls"
        return
    given = value.get(GIVEN) or [False] * len(value["texts"])
    if len(given) != len(value["texts"]) or not all(isinstance(item, bool) for item in given):
        yield f"{GIVEN} must be a list of true and false, one for each text"
    metadata = _parsed(value["metadata"])
    if not isinstance(metadata, list):
        yield "metadata is not the JSON of a list"
        return
    if len({len(x) for x in [*lists, metadata]}) != 1:
        lengths = ", ".join(str(len(x)) for x in [*lists, metadata])
        yield f"texts, images, files and metadata differ in length: {lengths}"
        return
    yield from _alignment_problems(value, metadata, promises)
    yield from _count_problems(value, row, promises)
    if [name for name in value["files"] if name is not None] != list(members):
        yield f"files names {ascii(value['files'])[:100]}, the tar has {ascii(list(members))[:100]}"


def _alignment_problems(value: Mapping[str, Any], metadata: Sequence[Any], promises: Promises) -> Iterator[str]:
    places = zip(value["texts"], value["images"], value["files"], metadata, strict=True)
    before = None
    for i, (text, image, file, about) in enumerate(places):
        if (text is None) == (image is None):
            yield f"position {i}: exactly one of text and image must be null"
        elif text is not None:
            if text == "" or before is not None:
                yield f"position {i}: " + ("an empty text" if text == "" else "two texts in a row")
            if about is not None or file is not None:
                yield f"position {i}: a text with metadata or a file"
        else:
            yield from (f"position {i}: {problem}" for problem in _image_problems(i, image, file, about, promises))
        before = text


def _image_problems(i: int, image: str, file: str | None, about: Any, promises: Promises) -> Iterator[str]:
    if not isinstance(about, dict):
        yield "an image without metadata"
        return
    if about.get("src") != image:
        yield f"metadata.src is {ascii(about.get('src'))[:80]}, the image {ascii(image)[:80]}"
    if file is None:
        if promises.fetched:
            yield "an image without a file"
        return
    try:
        expected = f"{i:03d}.{extension(about.get('format'))}"
    except (ValueError, TypeError):
        expected = f"{i:03d}.<format>"
    if file != expected:
        yield f"its file must be named {expected}, found {ascii(file)[:80]}"


def _count_problems(value: Mapping[str, Any], row: Mapping[str, Any], promises: Promises) -> Iterator[str]:
    texts, images, files = ([x for x in value[key] if x is not None] for key in ("texts", "images", "files"))
    yield from _different("number of texts", len(texts), row["n_texts"])
    yield from _different("number of images", len(images), row["n_images"])
    yield from _different("number of files", len(files), row["n_files"])
    if not texts:
        yield "no text"
    if not promises.min_images <= len(images) <= promises.max_images:
        yield f"{len(images)} images, promised are {promises.min_images} to {promises.max_images}"
    if promises.distinct_images and len(set(images)) != len(images):
        yield "an image URL twice"


def _score_problems(scores: Any, row: Mapping[str, Any], names: Sequence[str]) -> Iterator[str]:
    if not isinstance(scores, dict) or list(scores) != list(names):
        yield f"scores must be {', '.join(names) or 'empty'}, found {ascii(scores)[:120]}"
        return
    for name in names:
        yield from _different(f"score {name}", scores[name], row.get(name))


def _general_problems(text: Any, row: Mapping[str, Any]) -> Iterator[str]:
    general = _parsed(text)
    if not isinstance(general, dict):
        yield "general_metadata is not the JSON of an object"
        return
    for key in (*PROVENANCE, *(key for key in ("page_type",) if key in row)):
        yield from _different(f"general_metadata.{key}", general.get(key), row[key])


def _different(what: str, found: Any, indexed: Any) -> Iterator[str]:
    if type(found) is not type(indexed) or found != indexed:
        yield f"{what} is {ascii(found)[:80]}, in the index {ascii(indexed)[:80]}"


def _parsed(text: Any) -> Any:
    """The value of a JSON string, or NaN if the text is not JSON."""
    try:
        return parse_json(text) if isinstance(text, str) else math.nan
    except NotJson:
        return math.nan


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
