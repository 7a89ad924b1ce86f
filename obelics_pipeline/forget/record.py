"""One document of a shard without the images that are forgotten."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from typing import Any

from obelics_pipeline.core.document import PARAGRAPH_SEPARATOR, to_json
from obelics_pipeline.core.shards.check_record import GIVEN, parse_json
from obelics_pipeline.core.shards.record import Record, RecordFile


def without_images(
    value: Mapping[str, Any], images: Mapping[str, bytes], is_gone: Callable[[str, bytes | None], bool]
) -> tuple[Record, dict[str, bytes]] | None:
    """The plain record of a document, and the bytes of its images by name, less those that are gone.

    `value` is its JSON and `images` what stands beside it. Texts that an image stood between become one; files are
    named by their places. None where no image is gone. Raises NotJson, KeyError or ValueError for what is no record of
    ours.
    """
    metadata = parse_json(value["metadata"])
    rows = list(zip(value["texts"], value["images"], metadata, value["files"], strict=True))
    given = list(value.get(GIVEN) or [])
    gone = {
        i
        for i, (_, url, _, file) in enumerate(rows)
        if url is not None and is_gone(url, images[file] if file is not None else None)
    }
    if not gone:
        return None
    kept: list[list[Any]] = []
    for i, row in enumerate(rows):
        if i in gone:
            continue
        if kept and row[0] is not None and kept[-1][0] is not None and gone & set(range(kept[-1][4], i)):
            kept[-1][0] = f"{kept[-1][0]}{PARAGRAPH_SEPARATOR}{row[0]}"
            kept[-1][4], kept[-1][5] = i, kept[-1][5] and (not given or given[i])
        else:
            kept.append([*row, i, bool(given and given[i])])
    names, files, contents = list[str | None](), list[RecordFile](), dict[str, bytes]()
    for position, (*_, file, _, _) in enumerate(kept):
        if file is None:
            names.append(None)
            continue
        data = images[file]
        name = f"{position:03d}.{file.rpartition('.')[2]}"
        files.append(RecordFile(name, hashlib.sha256(data).hexdigest(), len(data)))
        contents[name] = data
        names.append(name)
    changed = {
        "texts": [row[0] for row in kept],
        "images": [row[1] for row in kept],
        "metadata": to_json([row[2] for row in kept]),
        "files": names,
    }
    if given:
        changed[GIVEN] = [row[5] for row in kept]
    plain = {key: changed.get(key, of_it) for key, of_it in value.items()}
    n_images = sum(row[1] is not None for row in kept)
    record = Record(value["doc_id"], to_json(plain).encode(), tuple(files), len(kept) - n_images, n_images)
    return record, contents
