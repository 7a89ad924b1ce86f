"""One document as open_flamingo's trainer reads it: a single JSON member with the images inside, in reading order.

Its loader has two forms. This is the one that it calls `is_gpt`: the text of the whole document with a mark where each
image stands, and a map from marks to images. Nothing is assigned by similarity, so every version of it puts each image
where the document has it (docs/decisions/0010-open-flamingo.md; open_flamingo 2.0.1, `train/data.py`).
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from obelics_pipeline.core.config.sharding import Format
from obelics_pipeline.core.document import to_json
from obelics_pipeline.core.shards.check_record import GIVEN, KEYS, NotJson, parse_json
from obelics_pipeline.core.shards.record import ReadFile, Record, record_size

ADDED = ("is_gpt", "example", "image_map")  # keys that follow those of every record
IMAGE = "base64_image"
MARK = "_!_IMAGE{}_!_"  # numbered from 1 in reading order: the loader takes images by number, not by the text

# What its loader or the tokenizers used with it would take for a mark of theirs. It stays in `texts`, not in `example`.
SPECIAL = re.compile(r"_!_IMAGE\d+_!_|<image>|<\|endofchunk\|>|<PAD>|<\|endoftext\|>|</s>")


@dataclass(frozen=True, slots=True)
class FlamingoRecord(Record):
    """A record whose only member is its JSON: the plain record's keys, then `is_gpt`, `example` and `image_map`.

    `files` name the images as in the plain record, and `content_sha256` is that of the plain record, so the same
    document has the same hash in both forms. Writing one holds all its images in memory, as reading it does.
    """

    example: str

    @property
    def size(self) -> int:
        """See `Record.size`."""
        images = sum(-(-file.n_bytes // 3) * 4 for file in self.files)
        return record_size([len(b"".join(self._json(b"" for _ in self.files))) + images])

    def members(self, read: ReadFile) -> Iterator[tuple[str, bytes]]:
        """See `Record.members`."""
        yield "json", b"".join(self._json(base64.b64encode(read(file)) for file in self.files))

    def _json(self, images: Iterable[bytes]) -> Iterator[bytes]:
        yield self.json.removesuffix(b"}")
        yield b',"is_gpt":true,"example":' + to_json(self.example).encode() + b',"image_map":{'
        for number, image in enumerate(images, 1):
            comma = b"," if number > 1 else b""
            yield comma + f'"{MARK.format(number)}":{{"{IMAGE}":"'.encode() + image + b'"}'
        yield b"}}"


def shaped(record: Record, format_: Format) -> Record:
    """A plain record in the form of a run's shards."""
    if format_ == "webdataset":
        return record
    value = json.loads(record.json)
    example = example_of(value["texts"], value["files"])
    return FlamingoRecord(record.doc_id, record.json, record.files, record.n_texts, record.n_images, example)


def example_of(texts: Sequence[str | None], files: Sequence[str | None]) -> str:
    """A document's text with a mark for each image that has a file; `texts` and `files` are those of the record."""
    parts: list[str] = []
    number = 0
    for text, file in zip(texts, files, strict=True):
        if file is not None:
            number += 1
            parts.append(MARK.format(number))
        elif text is not None and (plain := without_special(text)).strip():
            parts.append(plain)
    return " ".join(parts)


def without_special(text: str) -> str:
    """A text without what would be read as a mark; removing one must not make another (`<im<image>age>`)."""
    while SPECIAL.search(text):
        text = SPECIAL.sub("", text)
    return text


@dataclass(frozen=True, slots=True)
class Parts:
    """What the JSON member of a `FlamingoRecord` holds: the plain record, the text with marks, the images' bytes."""

    plain: dict[str, Any]
    example: str
    images: tuple[bytes, ...]


def take_apart(data: bytes) -> Parts:
    """The inverse of writing one. Raises NotJson where it is not that form; the message is what is wrong."""
    value = parse_json(data)
    keys = tuple(value) if isinstance(value, dict) else ()
    if keys not in ((*KEYS, *ADDED), (*KEYS, GIVEN, *ADDED)):
        found = ascii(list(keys) or type(value).__name__)[:200]
        raise NotJson(f"its JSON must have the keys {', '.join((*KEYS, *ADDED))}, found {found}")
    if value["is_gpt"] is not True or not isinstance(value["example"], str):
        raise NotJson("is_gpt must be true and example a string")
    plain = {key: value[key] for key in keys if key not in ADDED}
    return Parts(plain, value["example"], tuple(_images(value["image_map"])))


def _images(image_map: Any) -> Iterator[bytes]:
    expected = [MARK.format(number + 1) for number in range(len(image_map))] if isinstance(image_map, dict) else None
    if expected is None or list(image_map) != expected:
        raise NotJson(f"image_map must have the keys {MARK.format(1)}, {MARK.format(2)}, ... in this order")
    for mark, image in image_map.items():
        if not isinstance(image, dict) or list(image) != [IMAGE] or not isinstance(image[IMAGE], str):
            raise NotJson(f"image_map: {mark} must have {IMAGE}, a string, and nothing else")
        try:
            yield base64.b64decode(image[IMAGE], validate=True)
        except ValueError as error:
            raise NotJson(f"image_map: {mark} is not base64: {error}") from None


def plain_members(members: Mapping[str, bytes]) -> Mapping[str, bytes]:
    """The members of a document, by name after its key, as the plain record has them, whichever form they are in.

    Raises NotJson for a JSON member of that form that is damaged.
    """
    if set(members) != {"json"} or b'"is_gpt":' not in members["json"]:  # in a text the quote would be escaped
        return members
    parts = take_apart(members["json"])
    return {"json": to_json(parts.plain).encode(), **dict(zip(file_names(parts), parts.images, strict=True))}


def file_names(parts: Parts) -> list[str]:
    """What the plain record calls the images. Raises NotJson where they are not as many as the images."""
    files = parts.plain["files"]
    names = [name for name in files if isinstance(name, str)] if isinstance(files, list) else []
    if len(names) != len(parts.images):
        raise NotJson(f"files names {len(names)} images, image_map holds {len(parts.images)}")
    return names
