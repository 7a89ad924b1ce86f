"""A small run whose documents differ in everything that a loader may stumble over."""

from pathlib import Path

import pytest

from obelics_pipeline.core.document import TextNode
from tests.stages.shard.runs import document, image, make_run

# Before the others: a document without a picture, one without a fetched picture, one with a picture alone.
FIRST = [
    document(100, [TextNode("Only a text, with ünïcode and a \"quote\".")]),
    document(101, [TextNode("A text."), image(3, sha256=None, n_bytes=None), TextNode("Another.")]),
    document(102, [image(4, "png")]),
]  # fmt: skip


@pytest.fixture(scope="session")
def small_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run of a dozen documents in four tars: for reading."""
    folder = tmp_path_factory.mktemp("small") / "run"
    make_run(folder, [*FIRST, *(document(i) for i in range(9))], per_shard=3)
    return folder
