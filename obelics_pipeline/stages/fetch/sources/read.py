"""What a file of img2dataset holds: its images as they are noted, and a reason for each that is of no use."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any

import pyarrow as pa

from obelics_pipeline.core.ranged import Ranged
from obelics_pipeline.core.storage import Location, names_in, open_parquet, size_of
from obelics_pipeline.stages.fetch.sources.found import TAR
from obelics_pipeline.stages.fetch.sources.held_image import BAD_NOTES, FORMATS, NO_IMAGE, NOTES, Noted, noted
from obelics_pipeline.stages.fetch.sources.tar_members import SourceDamaged, TarMember, tar_members

MAX_JSON = 2**20  # bytes of the notes of one image; with EXIF it has a few thousand
READ_AHEAD = 8 * 2**20  # bytes of one request to a store
ROWS = 1000  # of a table, held at a time

Held = tuple[Noted, int, int | None]  # what is noted; where it begins, or its row; its bytes, where that is known


def held_in(where: Location) -> Iterator[Held | str]:
    """The images of a tar, or of a table; or of the folder that a table is beside. A reason for what is of no use.

    Raises SourceDamaged where the rest of the file cannot be read, and OSError where a store does not answer.
    """
    try:
        yield from _of_tar(where) if where.name.endswith(TAR) else _of_table(where)
    except OSError as error:
        if not isinstance(where, Path):
            raise
        raise SourceDamaged(error.strerror or str(error)[:100]) from None
    except pa.ArrowException as error:
        raise SourceDamaged(str(error).splitlines()[0][:100]) from None


def opened(where: Location) -> IO[bytes]:
    """A file to read at any place."""
    if isinstance(where, Path):
        return where.open("rb")
    return io.BufferedReader(Ranged(where, size_of(where) or 0), READ_AHEAD)


def _of_tar(where: Location) -> Iterator[Held | str]:
    """Members of one name up to the first dot stand together: the image, its JSON, its caption."""
    size = size_of(where) or 0
    with opened(where) as tar:
        name, image, about = "", None, None
        try:
            for member in tar_members(tar, size):
                key, _, ending = member.name.rpartition("/")[2].partition(".")
                if key != name:
                    yield from _sample(name, image, about)
                    name, image, about = key, None, None
                if ending in FORMATS:
                    image = member
                elif ending == "json":
                    about = _parsed(tar, member)
        except SourceDamaged:
            yield from _sample(name, image, about)
            raise
        yield from _sample(name, image, about)


def _sample(key: str, image: TarMember | None, about: Mapping[str, Any] | None) -> Iterator[Held | str]:
    if image is None and about is None:
        return
    found = BAD_NOTES if about is None else noted({**about, "key": key})
    if isinstance(found, str) or image is None:
        yield found if isinstance(found, str) else NO_IMAGE
    else:
        yield found, image.offset, image.size


def _parsed(tar: IO[bytes], member: TarMember) -> Mapping[str, Any] | None:
    if member.size > MAX_JSON:
        return None
    tar.seek(member.offset)
    try:
        value = json.loads(tar.read(member.size))
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _of_table(where: Location) -> Iterator[Held | str]:
    with open_parquet(where) as table:
        names = table.schema_arrow.names
        image = image_column(table.schema_arrow)
        files = None if image is not None else _files_beside(where)
        if not {"url", "key", "status"} <= set(names) or not (image or files):
            raise SourceDamaged(
                f"no table of images by img2dataset: it needs url, key and status, and {', '.join(FORMATS)} or a "
                "folder or tar of its name beside it"
            )
        number = 0
        for batch in table.iter_batches(ROWS, columns=[name for name in NOTES if name in names]):
            for row in batch.to_pylist():
                found = noted(row)
                if isinstance(found, str):
                    yield found
                elif files is not None and found.key not in files:
                    yield NO_IMAGE
                else:
                    yield found, number, None
                number += 1


def image_column(schema: pa.Schema) -> str | None:
    """The column of a table that has the bytes of images."""
    kinds = (pa.binary(), pa.large_binary())
    return next((name for name in FORMATS if name in schema.names and schema.field(name).type in kinds), None)


def _files_beside(table: Location) -> dict[str, str]:
    return files_by_key(table.parent / table.stem)


def files_by_key(folder: Location) -> dict[str, str]:
    """The image files of a folder by their key."""
    split = [name.rpartition(".") for name in names_in(folder)]
    return {key: f"{key}.{ending}" for key, _, ending in split if ending in FORMATS}
