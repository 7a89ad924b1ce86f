"""A document of a shard: the beginning of its text, and its pictures, small."""

from __future__ import annotations

import base64
import io
import json
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.shards.tar import Placed, TarDamaged, read_members
from obelics_pipeline.core.storage import location, size_of
from obelics_pipeline.training.diagnosis.plan_documents import Planned

CHARACTERS = 1200  # of a text that are shown
MOST_PICTURES = 8  # of a document that are shown
SIDE = 160  # pixels, of a picture as it is shown
LARGEST = 64 * 2**20  # bytes: of an image, and of the JSON, that are looked at


@dataclass(frozen=True)
class ShownPicture:
    """An image file of a document: pixels, bytes; `data` is a small copy, a data URL, None where it cannot be read."""

    name: str
    width: int | None
    height: int | None
    n_bytes: int
    data: str | None


@dataclass(frozen=True)
class Shown:
    """What a shard has of a document. The text is as it came from the web."""

    text: str
    characters: int  # of the whole text
    language: str | None
    pictures: Sequence[ShownPicture]
    more_pictures: int


def read_shown(document: Planned, pictures: bool = True) -> Shown:
    """Read one document of a shard; `pictures` says whether small copies are made.

    Raises UserError where the shard is gone, or has something else there.
    """
    where = location(document.shard)
    size = size_of(where)
    if size is None:
        raise UserError(f"{document.shard}: the shard is missing")
    try:
        with where.open("rb") as shard:
            head, files = _read(shard, document, size)
    except (OSError, TarDamaged) as error:
        raise UserError(f"{document.shard}: document {document.doc_id}: {error}") from None
    texts = head.get("texts") or []
    text = "\n".join("🖼" if one is None else str(one) for one in texts)
    shown = [_picture(name, content, pictures) for name, content in files[:MOST_PICTURES]]
    return Shown(text[:CHARACTERS], len(text), head.get("language"), shown, max(0, len(files) - MOST_PICTURES))


def _read(shard: Any, document: Planned, size: int) -> tuple[dict[str, Any], list[tuple[str, bytes]]]:
    """The record, and the images in the order of the tar. Raises TarDamaged where it is another document's."""
    head: dict[str, Any] | None = None
    files: list[tuple[str, bytes]] = []
    for member in read_members(shard, Placed(document.offset, document.length), size):
        key, _, name = member.name.partition(".")
        if key != document.doc_id:
            raise TarDamaged(f"the plan's place holds document {key[:64]!a}")
        if name == "json":
            try:
                value = json.loads(member.stream.read(LARGEST))
            except ValueError:
                value = None
            if not isinstance(value, dict):
                raise TarDamaged("its record is no JSON object")
            head = value
        elif member.size <= LARGEST:
            files.append((name, member.stream.read()))
    if head is None:
        raise TarDamaged("it has no record")
    return head, files


def _picture(name: str, content: bytes, copied: bool) -> ShownPicture:
    """Decoded and encoded again, so that a page shows pixels and not bytes from the web."""
    try:
        from PIL import Image

        from obelics_pipeline.models.pictures.decoding import decodable
        from obelics_pipeline.models.pictures.pixels import MAX_PIXELS
    except ImportError:  # the extra `images` is missing: names and sizes of files have to do
        return ShownPicture(name, None, None, len(content), None)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with Image.open(io.BytesIO(content), formats=decodable()) as image:
                width, height = image.size
                small = copied and width * height <= MAX_PIXELS
                return ShownPicture(name, width, height, len(content), _data_url(image) if small else None)
    except Exception:  # untrusted bytes in a decoder: whatever it raises, this picture alone is lost
        return ShownPicture(name, None, None, len(content), None)


def _data_url(image: Any) -> str:
    image.draft("RGB", (2 * SIDE, 2 * SIDE))
    small = image.convert("RGB")
    small.thumbnail((SIDE, SIDE))
    out = io.BytesIO()
    small.save(out, "JPEG", quality=70)
    return "data:image/jpeg;base64," + base64.b64encode(out.getvalue()).decode()
