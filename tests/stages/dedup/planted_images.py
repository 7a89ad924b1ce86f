"""The images of a made corpus, as if they had been fetched."""

import hashlib
import struct
import zlib
from pathlib import Path

import pyarrow.parquet as pq

from obelics_pipeline.core.folder import RunFolder
from obelics_pipeline.core.partitions import Partitions
from obelics_pipeline.core.tables import read_kept
from obelics_pipeline.stages.fetch.image_store import ImageStore
from obelics_pipeline.stages.fetch.result import FetchResult, results_to_table
from obelics_pipeline.stages.job import Documents
from tests.stages.dedup.planted import Planted

WIDTH, HEIGHT = 640, 480  # pixels
PIXELS = zlib.compress(bytes(HEIGHT * (WIDTH + 1)))  # all black


def fetched(documents: Documents, planted: Planted, output: Path) -> Partitions:
    """Answers of a fetch stage to which every image was there; the images are in the store."""
    folder, store = RunFolder(output), ImageStore(RunFolder(output).images)
    for first in range(256):
        (folder.images / f"{first:02x}").mkdir(parents=True, exist_ok=True)
    files = {}
    answers = folder.shuffled / "planted-answers"
    answers.mkdir(parents=True)
    for manifest in documents.units:
        rows = []
        of_unit = read_kept(manifest.path(documents.folder, "data"))
        for url in sorted({i.src for document in of_unit for i in document.images() if i.src and i.reason is None}):
            content = png(planted.copies.get(url, url))
            sha256 = hashlib.sha256(content).hexdigest()
            Path(str(store.path(sha256))).write_bytes(content)
            look = planted.looks.get(url, f"f{sha256[:15]}")
            rows.append(FetchResult(url, "ok", None, False, sha256, len(content), "png", WIDTH, HEIGHT, look))
        pq.write_table(results_to_table(rows), answers / f"{manifest.unit}.parquet")
        files[manifest.unit] = [f"{manifest.unit}.parquet"]
    return Partitions(answers, files, {unit: unit for unit in files})


def png(comment: str) -> bytes:
    """A black picture, which nothing but its comment tells from others."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", WIDTH, HEIGHT, 8, 0, 0, 0, 0)
    text, pixels = b"Comment\0" + comment.encode(), PIXELS
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        chunk(*c) for c in ((b"IHDR", header), (b"tEXt", text), (b"IDAT", pixels), (b"IEND", b""))
    )
