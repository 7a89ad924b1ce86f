"""A document comes out of the coder as it went in, whatever stands in it; equal documents have equal bytes."""

from dataclasses import fields

import apache_beam as beam
import pytest
from hypothesis import given
from hypothesis import strategies as st

from obelics_pipeline.beam_jobs.elements import from_bytes, to_bytes
from obelics_pipeline.core.document import Document, ImageNode, TextNode
from obelics_pipeline.stages.read.ranges import ReadTask

texts = st.text(st.characters(codec=None), max_size=20)  # lone surrogates as well
sizes = st.none() | st.integers() | texts
images = st.builds(
    ImageNode,
    src=texts,
    unformatted_src=texts,
    alt_text=st.none() | texts,
    rendered_width=sizes,
)
nodes = st.builds(TextNode, text=texts, scores=st.dictionaries(texts, st.floats(allow_nan=False), max_size=2)) | images
documents = st.builds(
    Document,
    doc_id=texts, url=texts, warc_filename=texts, warc_record_offset=st.integers(0), warc_record_length=st.integers(0),
    nodes=st.lists(nodes, max_size=4), general=st.dictionaries(texts, st.none() | texts | st.integers(), max_size=3),
    language=st.none() | texts, scores=st.dictionaries(texts, st.none() | st.floats(allow_nan=False), max_size=3),
    reason=st.none() | texts,
)  # fmt: skip


@given(documents)
def test_a_document_comes_back_as_it_was(document: Document) -> None:
    encoded = to_bytes(document)
    assert from_bytes(encoded) == document
    assert to_bytes(from_bytes(encoded)) == encoded


def test_nodes_are_told_apart_by_a_field_that_only_one_kind_has() -> None:
    names = [{field.name for field in fields(kind)} for kind in (TextNode, ImageNode)]
    assert "text" in names[0] - names[1]


@pytest.mark.parametrize("kind", [Document, ReadTask])
def test_the_registered_coder_is_deterministic(kind: type) -> None:
    assert beam.coders.registry.get_coder(kind).is_deterministic()
