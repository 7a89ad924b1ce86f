"""Output folders as img2dataset writes them, in each of its formats that is read; and their index, made by hand."""

from __future__ import annotations

import io
import json
import tarfile
from collections.abc import Sequence
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from obelics_pipeline.core.commit import Manifest, once
from obelics_pipeline.core.partitions import Partitions
from obelics_pipeline.core.storage import file_sha256
from obelics_pipeline.stages.fetch.sources.found import find_sources
from obelics_pipeline.stages.fetch.sources.held import Sources
from obelics_pipeline.stages.fetch.sources.held_image import SIZES
from obelics_pipeline.stages.fetch.sources.index import first_of_url, source_unit, source_units

Image = tuple[str, bytes, dict[str, Any]]
TYPES = {name: pa.int32() for name in SIZES}


def image(url: str, content: bytes, sizes: Sequence[int] = (), **about: Any) -> Image:
    """An image with the notes of img2dataset; without `sizes` nothing was encoded anew."""
    noted = dict(zip(SIZES, sizes or [None] * 4, strict=True))
    return url, content, {"status": "success", "sha256": sha256(content).hexdigest(), **noted, **about}


def write(format: str, folder: Path, images: Sequence[Image]) -> Path:
    """A shard of an output folder; what was not fetched stands in the table alone."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = [{"url": url, "key": f"{n:09d}", **about} for n, (url, _, about) in enumerate(images)]
    there = [content if about["status"] == "success" else None for _, content, about in images]
    schema = [pa.field(name, TYPES.get(name, pa.string())) for name in rows[0]]
    table = pa.Table.from_pylist(rows, pa.schema(schema))
    if format == "parquet":
        table = table.append_column("jpg", pa.array(there, pa.binary()))
    pq.write_table(table, folder / "00000.parquet", row_group_size=2)
    for row, content in zip(rows, there, strict=True):
        if format == "files" and content is not None:
            (folder / "00000").mkdir(exist_ok=True)
            (folder / "00000" / f"{row['key']}.jpg").write_bytes(content)
            (folder / "00000" / f"{row['key']}.json").write_text(json.dumps(row))
    if format == "webdataset":
        with tarfile.open(folder / "00000.tar", "w") as tar:
            for row, content in zip(rows, there, strict=True):
                if content is not None:
                    add(tar, f"{row['key']}.jpg", content)
                    add(tar, f"{row['key']}.json", json.dumps(row).encode())
    return folder


def add(tar: tarfile.TarFile, name: str, content: bytes, **header: Any) -> None:
    """A member of a tar."""
    info = tarfile.TarInfo(name)
    info.size, info.mtime = len(content), 0.5  # type: ignore[assignment]  # as webdataset: it makes extended headers
    for key, value in header.items():
        setattr(info, key, value)
    tar.addfile(info, io.BytesIO(content))


def index(scratch: Path, *patterns: object, accept: str = "same_size") -> tuple[Sources, list[Manifest]]:
    """The sources that the patterns name, in one bucket, and the units that read them."""
    files = find_sources([str(pattern) for pattern in patterns], {})
    work = partial(source_unit, folder=scratch / "read", options={})
    read = [once(unit, work=work, folder=scratch / "read") for unit in source_units(files, 1)]
    rows = pa.concat_tables([pq.read_table(m.path(scratch / "read", "data")) for m in read]).drop_columns(["bucket"])
    rows = rows.sort_by([(name, "ascending") for name in rows.column_names])
    pq.write_table(first_of_url(rows, "0").tables["data"], scratch / "index.parquet")
    digests = {"0": file_sha256(scratch / "index.parquet")}
    held = Partitions(scratch, {"0": ["index.parquet"]}, digests)
    return Sources(held, {file.name: file.path for file in files}, {}, accept), read
