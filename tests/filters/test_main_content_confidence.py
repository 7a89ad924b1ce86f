"""The confidence of extraction as a score of a document."""

from obelics_pipeline.core.document import Document, TextNode
from obelics_pipeline.filters import Text, build


def test_it_is_what_extraction_noted_and_none_where_it_noted_nothing() -> None:
    nodes = [TextNode("text")]
    told = Document("", "", "", 0, 0, nodes, general={"main_content_confidence": 0.917})
    untold = Document("", "", "", 0, 0, nodes)
    measuring = build("main_content_confidence")
    assert measuring.score(Text("text", document=told)) == 0.917
    assert measuring.score(Text("text", document=untold)) is None
    assert measuring.score(Text("text")) is None
