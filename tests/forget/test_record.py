"""A document of a shard without its forgotten images is what it would have been without them, in either form."""

import json
from pathlib import Path

import pytest

from obelics_pipeline.cli.main import main
from obelics_pipeline.core.document import ImageNode, TextNode
from obelics_pipeline.core.index_name import INDEX
from obelics_pipeline.core.shards.index import read_index
from obelics_pipeline.core.shards.record import make_record
from obelics_pipeline.forget.record import without_images
from tests.stages.shard.runs import SCORES, document, image, make_run, picture

FORMATS = ("jpeg", "png", "webp", "jpeg")


def test_it_is_the_record_that_would_have_been_made() -> None:
    nodes = [
        *(TextNode("One."), image(1), TextNode("Two."), TextNode("a caption", "caption"), image(2, "png")),
        *(image(3, "webp"), TextNode("Three."), image(4)),
    ]
    for gone in ({2}, {1, 3}, {1, 2, 3}, {4}):
        whole, left = document(1, list(nodes)), document(1, list(nodes))
        addresses = {f"http://pictures.example/{n}.{FORMATS[n - 1]}" for n in gone}
        left.nodes = [n for n in left.nodes if not (isinstance(n, ImageNode) and n.src in addresses)]
        record, expected = make_record(whole, SCORES), make_record(left, SCORES)
        data = {file.name: picture(FORMATS[i], i + 1) for i, file in enumerate(record.files)}
        found = without_images(json.loads(record.json), data, lambda url, _data, gone=addresses: url in gone)
        assert found is not None
        assert found[0] == expected
        assert found[0].content_sha256 == expected.content_sha256
        assert sorted(found[1]) == [f.name for f in expected.files]
    assert without_images(json.loads(record.json), data, lambda _url, _data: False) is None


@pytest.mark.parametrize("form", ["webdataset", "open_flamingo"])
def test_tars_of_either_form_lose_an_image(tmp_path: Path, form: str) -> None:
    documents = [document(n, [TextNode(f"A text {n}."), image(n), TextNode("between"), image(n + 5)]) for n in range(6)]
    if form == "webdataset":
        make_run(tmp_path / "run", documents, per_shard=2)
    else:
        make_run(tmp_path / "plain", documents, per_shard=2)
        export = ["export", str(tmp_path / "plain"), "--format", form, "--output", str(tmp_path / "run")]
        assert main([*export, "--shards", "3"]) == 0
    (tmp_path / "urls").write_text("http://pictures.example/3.jpeg\n")
    assert main(["forget", str(tmp_path / "run"), "--urls", str(tmp_path / "urls")]) == 0
    assert main(["validate", str(tmp_path / "run")]) == 0
    counts = {row["doc_id"]: (row["n_images"], row["n_texts"]) for row in read_index(tmp_path / "run" / INDEX)}
    assert counts[documents[3].doc_id] == (1, 1)
    assert counts[documents[2].doc_id] == (2, 2)
