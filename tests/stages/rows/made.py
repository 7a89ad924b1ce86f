"""Rows of each layout, as their publishers write them."""

from __future__ import annotations

import base64
import io
import json
import tarfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image

from obelics_pipeline.policy.image_safety.tiff import pictures

PAGE = "https://pages.example/garden.html"
FIRST, SECOND = "https://pages.example/one.png", "https://pages.example/two.png"


def obelics(**changed: Any) -> dict[str, Any]:
    general = {"url": PAGE, "warc_filename": "crawl/one.warc.gz", "warc_record_offset": 7, "warc_record_length": 9}
    about = [None, {"document_url": PAGE, "unformatted_src": "/one.png", "src": FIRST, "alt_text": "A bench"}, None]
    row = {
        "images": [None, FIRST, None],
        "metadata": json.dumps(about),
        "general_metadata": json.dumps(general),
        "texts": ["The bench.\n\nIt is old.", None, "The end."],
    }
    return row | changed


def published(**changed: Any) -> dict[str, Any]:
    row = obelics(images=[None, {"bytes": b"one", "path": "one.png"}, None])
    return row | {"doc_id": "0" * 31 + "1", "image_urls": [None, FIRST, None]} | changed


def mint1t(**changed: Any) -> dict[str, Any]:
    row = {"url": PAGE, "cc_dump": "CC-MAIN-2024-18", "texts": ["The bench.", None, "The end."]}
    return row | {"images": [None, FIRST, None], "image_hashes": ["a"], "metadata": ["b"]} | changed


def mmc4(**changed: Any) -> dict[str, Any]:
    images = [
        {
            "image_name": "b.png",
            "raw_url": SECOND,
            "matched_text_index": 2,
            "matched_sim": 0.3,
            "face_detections": None,
        },
        {"image_name": "a.png", "raw_url": FIRST, "matched_text_index": 1, "matched_sim": 0.2, "face_detections": None},
    ]
    row = {"text_list": ["One sentence.", "Two sentences.", "Three."], "image_info": images, "url": PAGE}
    return row | {"similarity_matrix": [[0.1, 0.2, 0.3]] * 2, "could_have_url_duplicate": 0} | changed


def omnicorpus(**changed: Any) -> dict[str, Any]:
    general = {"domain": ["pages.example"], "fluency_prob": 0.9, "id": "7", "porn_prob": 0.0, "url": PAGE}
    about = [{"width": 640, "height": 480, "bytes": 1234, "d_hash": "0", "unsafe_prob": 0.0}]
    row = {"general_metadata": general, "images": [None, FIRST, None], "texts": ["The bench.", None, "The end."]}
    return row | {"metadata": about} | changed


def curator(sample: str = "a", page: str = PAGE, count: int = 2, **of_text: Any) -> list[dict[str, Any]]:
    """The rows of a document with so many texts and a picture behind each."""

    def row(position: int, modality: str, **values: Any) -> dict[str, Any]:
        empty = dict.fromkeys(("text_content", "binary_content", "url", "image_url", "image_metadata"))
        return {"sample_id": sample, "position": position, "modality": modality, **empty, **values}

    rows = [row(-1, "metadata", url=page)]
    for number in range(count):
        rows.append(row(2 * number, "text", text_content=f"Text {number}.", **of_text))
        rows.append(row(2 * number + 1, "image", binary_content=b"picture", image_metadata='{"alt_text": "A bench"}'))
    return rows


def tiff(frames: int) -> bytes:
    """A TIFF file as in MINT-1T's tars of PDF files: a frame for each picture."""
    out = io.BytesIO()
    first, *others = [Image.radial_gradient("L").resize((200 + 40 * number, 200)) for number in range(frames)]
    first.save(out, "TIFF", save_all=True, append_images=others)
    return out.getvalue()


def frames(count: int) -> list[bytes | None]:
    """Its pictures, each a file."""
    return list(pictures(tiff(count), count).files)


def with_picture(row: dict[str, Any], content: bytes) -> dict[str, Any]:
    """A row of MMC4 whose first image is in it."""
    first, *others = row["image_info"]
    return row | {"image_info": [first | {"image_base64": base64.b64encode(content).decode()}, *others]}


def parquet(path: Path, rows: Sequence[Mapping[str, Any]], row_group_size: int = 100) -> Path:
    pq.write_table(pa.Table.from_pylist(list(rows)), path, row_group_size=row_group_size)
    return path


def damaged(path: Path, group: int) -> Path:
    """The file with pages of one group of rows that cannot be read."""
    about = pq.ParquetFile(path).metadata.row_group(group)
    data = bytearray(path.read_bytes())
    for i in range(about.num_columns):
        column = about.column(i)
        at = column.dictionary_page_offset or column.data_page_offset
        data[at : at + column.total_compressed_size] = b"\xff" * column.total_compressed_size
    path.write_bytes(data)
    return path


def lines(path: Path, rows: Sequence[Mapping[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def tar(path: Path, members: Sequence[tuple[str, bytes]]) -> Path:
    with tarfile.open(path, "w") as file:
        for name, content in members:
            info = tarfile.TarInfo(name)
            info.size = len(content)
            file.addfile(info, io.BytesIO(content))
    return path
