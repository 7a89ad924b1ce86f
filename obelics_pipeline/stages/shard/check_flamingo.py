"""Whether a document in open_flamingo's form is the plain record it was made of, and reads in the right order."""

from __future__ import annotations

import hashlib
import io
import re
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from typing import Any

from obelics_pipeline.core.document import to_json
from obelics_pipeline.core.shards.check_record import NotJson, parse_json, record_problems
from obelics_pipeline.core.shards.flamingo_record import Parts, file_names, take_apart, without_special
from obelics_pipeline.core.shards.manifest import Promises
from obelics_pipeline.core.shards.record import content_sha256
from obelics_pipeline.core.shards.tar import Member
from obelics_pipeline.stages.shard.check_picture import picture_problems

MAX_JSON = 2**30  # bytes of a JSON member that are read: it holds all images of its document
LOADER_MARK = re.compile(r"_!_IMAGE\d+_!_")  # what the loader looks for; it does not read the number

Read = list[tuple[str, str]]  # ("text", words of a text, one space between) or ("image", sha256), in reading order


def flamingo_problems(members: Iterator[Member], row: Mapping[str, Any], promises: Promises) -> Iterator[str]:
    """Check one document of such a shard. Holds all its images in memory."""
    key = row["doc_id"]
    first = next(members)
    if first.name != f"{key}.json" or first.size > MAX_JSON:
        yield f"its first member must be {key}.json of at most {MAX_JSON} bytes, found {first.name!a} of {first.size}"
        return
    try:
        parts = take_apart(first.stream.read())
        names = file_names(parts)
    except NotJson as error:
        yield f"{first.name}: {error}"
        return
    yield from (f"{member.name!a}: a member beside its JSON" for member in members)
    problems = list(record_problems(parts.plain, row, names, promises))
    yield from problems
    images = dict(zip(names, parts.images, strict=True))
    if find_spec("PIL"):
        about = _by_file(parts.plain) if not problems else {}
        for name in about:
            yield from (f"{name}: {problem}" for problem in picture_problems(io.BytesIO(images[name]), about[name]))
    if content_sha256(_hashes(key, parts, images)) != row["content_sha256"]:
        yield "its content is not what the index has the sha256 of"
    if not problems and as_loaded(parts.example, parts.images) != as_recorded(parts.plain, images):
        yield "open_flamingo's loader would read other texts, images or another order than the record has"


def as_loaded(example: str, images: tuple[bytes, ...]) -> Read:
    """The images and texts that the trainer's loader would read: it takes the first mark for the first image, and so
    on.
    """
    pieces = LOADER_MARK.split(example)
    out: Read = []
    for number, piece in enumerate(pieces):
        if number:
            out.append(("image", hashlib.sha256(images[number - 1]).hexdigest() if number <= len(images) else "none"))
        if words := " ".join(piece.split()):
            out.append(("text", words))
    return out if len(pieces) - 1 == len(images) else [*out, ("image", "without a mark")]


def as_recorded(plain: Mapping[str, Any], images: Mapping[str, bytes]) -> Read:
    """The images and texts of the record: texts without the trainer's marks, and images that have files."""
    out: Read = []
    for text, file in zip(plain["texts"], plain["files"], strict=True):
        if file is not None:
            out.append(("image", hashlib.sha256(images[file]).hexdigest()))
        elif text is not None and (words := " ".join(without_special(text).split())):
            if out and out[-1][0] == "text":  # an image without a file stood between
                words = f"{out.pop()[1]} {words}"
            out.append(("text", words))
    return out


def _by_file(plain: Mapping[str, Any]) -> dict[str, Any]:
    metadata = parse_json(plain["metadata"])
    return {name: about for name, about in zip(plain["files"], metadata, strict=True) if name is not None}


def _hashes(key: str, parts: Parts, images: Mapping[str, bytes]) -> Iterator[tuple[str, str]]:
    yield f"{key}.json", hashlib.sha256(to_json(parts.plain).encode()).hexdigest()
    for name, data in images.items():
        yield f"{key}.{name}", hashlib.sha256(data).hexdigest()
