"""Documents with images, and a source of images that counts what it is asked for."""

from __future__ import annotations

import io
import struct
import zlib
from collections import Counter
from typing import Any

import numpy as np

from obelics_pipeline.core.document import Document, ImageNode, Node, TextNode


def noise(side: int, seed: int = 0, count: int = 1) -> np.ndarray[Any, Any]:
    """Random pictures (count, side, side, 3), uint8."""
    return np.random.default_rng(seed).integers(0, 256, (count, side, side, 3), dtype=np.uint8)


def png(picture: np.ndarray[Any, Any]) -> bytes:
    from PIL import Image

    out = io.BytesIO()
    Image.fromarray(picture).save(out, "PNG")
    return out.getvalue()


def bomb() -> bytes:
    """A hundred bytes that say they are an image of 2.5 billion pixels."""
    header = b"IHDR" + struct.pack(">IIBBBBB", 50_000, 50_000, 8, 2, 0, 0, 0)
    data = b"IDAT" + zlib.compress(bytes(150_001))
    chunks = (struct.pack(">I", len(c) - 4) + c + struct.pack(">I", zlib.crc32(c)) for c in (header, data, b"IEND"))
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


class Pictures:
    """Noise drawn from the number behind `image:`; `image:none` is not to be had, others are no images."""

    def __init__(self, side: int) -> None:
        self.asked: Counter[str] = Counter()
        self._side = side  # pixels

    def __call__(self, image: ImageNode, /) -> bytes | None:
        self.asked[image.src] += 1
        name = image.src.removeprefix("image:")
        if not name.isdigit():
            return {"none": None, "bad": b"<html>not found</html>", "empty": b"", "bomb": bomb()}[name]
        return png(noise(self._side, int(name))[0])


def document(*parts: str, name: str = "d") -> Document:
    """Text, and an image wherever a part is `image:…`."""
    nodes: list[Node] = [ImageNode(p, p) if p.startswith("image:") else TextNode(p) for p in parts]
    return Document(name, f"https://{name}.example/", "a.warc.gz", 0, 1, nodes)
