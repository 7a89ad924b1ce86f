"""Documents get their columns and images their scores; each file is looked at once, and a bad one costs itself."""

import threading
from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest

from obelics_pipeline.core.document import Document, ImageNode, TextNode
from obelics_pipeline.models.pictures import measured
from obelics_pipeline.models.pictures.pixels import Picture
from obelics_pipeline.models.unsafe_images.classifier import Classifier, Outputs, View
from obelics_pipeline.models.unsafe_images.columns import COLUMNS, columns
from obelics_pipeline.models.unsafe_images.scorer import UnsafeImageScorer
from tests.models.unsafe_images.test_classifier import plain


class Files:
    """Grey pictures by their name, and how often each was asked for."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()
        self._lock = threading.Lock()

    def __call__(self, image: ImageNode, /) -> bytes | None:
        name = image.src.rpartition("/")[2]
        with self._lock:
            self.asked[name] += 1
        return {"gone": None, "broken": b"\xff\xd8\xff\xe0broken"}.get(name, plain(int(name) if name.isdigit() else 0))


class Brightness:
    """A network whose one output is how bright a picture is, and how many it was given at a time."""

    def __init__(self) -> None:
        self.batches: list[int] = []

    def __call__(self, pictures: Sequence[Picture]) -> Outputs:
        self.batches.append(len(pictures))
        return np.array([[shown.mean() / 255] for shown in pictures], np.float32)


def document(n: int, *names: str) -> Document:
    images = [ImageNode(f"http://a/{name}", name, sha256=f"{name:0>64}") for name in names]
    return Document(f"{n:032x}", "http://a/", "w", n, 1, [TextNode("text"), *images])


def scored(documents: Sequence[Document], batch: int = 4) -> tuple[list[dict[str, float | None]], Files, Brightness]:
    files, network = Files(), Brightness()
    of = Classifier(network, View(8), ("unsafe",), ("unsafe",), "probabilities", batch)
    return UnsafeImageScorer(of, files).score(documents), files, network


def test_images_get_their_scores_and_documents_the_columns() -> None:
    documents = [document(0, "0", "255", "51"), document(1), document(2, "broken", "102"), document(3, "gone")]
    dropped = ImageNode("http://a/7", "7", reason="image_side")
    documents[0].nodes.insert(1, dropped)
    found, files, _ = scored(documents)
    assert [[i.unsafe for i in d.images()] for d in documents] == [[0.0, 1.0, 0.2], [], [None, 0.4], [None]]
    assert dropped.unsafe is None and "7" not in files.asked
    assert found[0] == {"unsafe_images_measured": 3.0, "unsafe_image_max": 1.0, "unsafe_image_mean": 0.4}
    assert found[1] == found[3] == {"unsafe_images_measured": 0.0, "unsafe_image_max": None, "unsafe_image_mean": None}
    assert found[2]["unsafe_images_measured"] == 1.0


def test_an_image_in_many_documents_is_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measured, "BLOCK", 3)
    documents = [document(n, str(n % 5), str(n), "gone") for n in range(20)]
    _, files, network = scored(documents)
    assert set(files.asked.values()) == {1}
    assert sum(network.batches) == 20 and max(network.batches) <= 4
    assert [i.unsafe for i in documents[7].images()] == [
        pytest.approx(2 / 255, abs=1e-6),
        pytest.approx(7 / 255, abs=1e-6),
        None,
    ]


def test_columns_are_in_their_order() -> None:
    assert tuple(columns([0.1, None, 0.3])) == COLUMNS
    assert columns([0.1, None, 0.3])["unsafe_image_mean"] == 0.2
