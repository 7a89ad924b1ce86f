"""Images are counted on documents, those that are kept only."""

from obelics_pipeline.core.document import Document, ImageNode, TextNode
from obelics_pipeline.filters import Text, build


def test_kept_images_of_a_document_are_counted() -> None:
    nodes = [ImageNode("http://a/1.png", "1.png"), TextNode("text"), ImageNode("http://a/2.png", "2.png", reason="x")]
    document = Document("id", "http://a/", "w", 0, 1, list(nodes))
    assert build("image_count").score(Text("text", document=document)) == 1.0
    assert build("image_count").score(Text("text")) is None
