from __future__ import annotations

import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from obelics_pipeline.core.document import ImageNode
from obelics_pipeline.models.pictures.distinct import Seen, see
from obelics_pipeline.models.pictures.pixels import Picture


def image(src: str, sha256: str | None = None) -> ImageNode:
    return ImageNode(src, src, sha256=sha256)


def decode(content: bytes) -> Picture | None:
    return np.full((1, 1, 3), content[0], np.uint8) if content else None


def seen(images: list[ImageNode], answers: dict[str, bytes | None]) -> tuple[Seen, Counter[str]]:
    asked: Counter[str] = Counter()
    lock = threading.Lock()

    def source(one: ImageNode, /) -> bytes | None:
        with lock:
            asked[one.src] += 1
        return answers[one.src]

    with ThreadPoolExecutor(4) as threads:
        return see(images, source, decode, threads), asked


def test_each_is_asked_for_once_and_the_same_bytes_are_one_picture() -> None:
    a, b, copy, gone, bad = map(image, ("a", "b", "copy", "gone", "bad"))
    found, asked = seen([a, b, copy, a, gone, bad], {"a": b"1", "b": b"2", "copy": b"1", "gone": None, "bad": b""})
    assert asked == dict.fromkeys(("a", "b", "copy", "gone", "bad"), 1)
    assert [picture[0, 0, 0] for picture in found.pictures] == [ord("1"), ord("2")]
    assert [found.number(one) for one in (a, b, copy, gone, bad)] == [0, 1, 0, None, None]


def test_an_image_that_was_not_among_them_has_no_picture() -> None:
    found, _ = seen([image("a")], {"a": b"1"})
    assert found.number(image("other")) is None
    assert found.number(image("a", sha256="0" * 64)) is None


def test_the_order_is_that_of_the_images_whichever_thread_is_first() -> None:
    second_is_done = threading.Event()

    def source(one: ImageNode, /) -> bytes:
        if one.src == "first":
            assert second_is_done.wait(60)
        else:
            second_is_done.set()
        return one.src.encode()

    with ThreadPoolExecutor(2) as threads:
        found = see([image("first"), image("second")], source, decode, threads)
    assert [found.number(image(src)) for src in ("first", "second")] == [0, 1]
    assert found.pictures[0][0, 0, 0] == ord("f")
