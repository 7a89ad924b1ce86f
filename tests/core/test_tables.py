"""Documents survive Parquet, and the published columns are among the working ones."""

import json
from itertools import pairwise
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import given, settings
from hypothesis import strategies as st

from obelics_pipeline.core.document import Document, ImageNode, TextNode, interleave, make_doc_id
from obelics_pipeline.core.tables import DocumentWriter, read_documents, read_kept, score_columns

text = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
score = st.floats(allow_nan=False)
text_nodes = st.builds(
    TextNode,
    text,
    st.sampled_from(["paragraph", "heading"]),
    st.none() | text,
    st.just({}) | st.builds(dict, a=score),
    post=st.none() | st.integers(0, 10**6),
)
size = st.none() | st.integers(-1, 10**6) | st.just("50%")
image_nodes = st.builds(
    ImageNode,
    text,
    text,
    st.none() | text,
    st.none() | text,
    size,
    size,
    st.sampled_from([None, "inline"]),
    st.none() | st.integers(0, 10**6),
    st.none() | text,
    st.booleans(),
    post=st.none() | st.integers(0, 10**6),
    scores=st.just({}) | st.builds(dict, sharpness=score),
)
documents = st.builds(
    Document,
    doc_id=text,
    url=text,
    warc_filename=text,
    warc_record_offset=st.integers(0, 2**40),
    warc_record_length=st.integers(0, 2**40),
    nodes=st.lists(text_nodes | image_nodes, max_size=6),
    general=st.dictionaries(st.sampled_from(["title", "part"]), text),
    language=st.none() | text,
    scores=st.fixed_dictionaries({"s": st.none() | score}),
    reason=st.none() | text,
)


@settings(max_examples=40)
@given(st.lists(documents, max_size=3))
def test_documents_survive_a_file(tmp_path_factory: object, found: list[Document]) -> None:
    path = tmp_path_factory.mktemp("t") / "d.parquet"  # type: ignore[attr-defined]
    with DocumentWriter(path, ["s"], ["a", "sharpness"]) as writer:
        for document in found:
            writer.write(document)
    assert list(read_documents(path)) == found
    assert score_columns(path) == (["s"], ["a", "sharpness"])


def document(row: int) -> Document:
    nodes = [
        TextNode(f"text {row}"),
        ImageNode(f"https://a.example/{row}.jpg", f"/{row}.jpg"),
        TextNode("gone", reason="x"),
    ]
    return Document(make_doc_id("w", row), "https://a.example/", "w", row, 1, nodes, scores={"s": 1.0})


def write(path: Path, n: int) -> None:
    with DocumentWriter(path, ["s"], []) as writer:
        for row in range(n):
            writer.write(document(row))


def test_rows_are_read_by_number_across_row_groups(tmp_path: Path) -> None:
    write(tmp_path / "d.parquet", 700)
    offsets = [d.warc_record_offset for d in read_documents(tmp_path / "d.parquet", 250, 520)]
    assert offsets == list(range(250, 520))


def test_the_published_columns_hold_what_is_kept_and_only_that(tmp_path: Path) -> None:
    write(tmp_path / "d.parquet", 1)
    row = pq.read_table(tmp_path / "d.parquet").to_pylist()[0]
    assert row["texts"] == ["text 0", None]
    assert row["images"] == [None, "https://a.example/0.jpg"]
    metadata = json.loads(row["metadata"])
    assert metadata[0] is None
    assert metadata[1]["src"] == "https://a.example/0.jpg"
    assert json.loads(row["general_metadata"])["warc_record_offset"] == 0


def test_files_of_versions_without_a_column_of_images_are_read(tmp_path: Path) -> None:
    write(tmp_path / "d.parquet", 3)
    table = pq.read_table(tmp_path / "d.parquet")
    rows = table.to_pylist()
    for row in rows:
        for node in row["nodes"]:
            del node["unsafe"], node["similarity"]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "old.parquet")
    assert [d.images()[0].unsafe for d in read_documents(tmp_path / "old.parquet")] == [None] * 3
    assert list(read_kept(tmp_path / "old.parquet")) == list(read_kept(tmp_path / "d.parquet"))


def test_equal_documents_give_equal_bytes(tmp_path: Path) -> None:
    for name in ("one", "two"):
        write(tmp_path / name, 300)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


@given(st.lists(text_nodes | image_nodes, max_size=8))
def test_interleaving_has_one_value_per_place_and_no_two_texts_in_a_row(nodes: list[TextNode | ImageNode]) -> None:
    shown = interleave(nodes, "https://a.example/")
    assert len(shown.texts) == len(shown.images) == len(shown.metadata)
    kinds = [t is not None for t in shown.texts]
    assert all((t is None) != (i is None) for t, i in zip(shown.texts, shown.images, strict=True))
    assert not any(a and b for a, b in pairwise(kinds))
    kept = [n.src for n in nodes if isinstance(n, ImageNode) and n.reason is None]
    assert [i for i in shown.images if i is not None] == kept
