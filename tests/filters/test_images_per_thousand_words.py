"""Images are set against words on documents, those that are kept only."""

from obelics_pipeline.core.document import Document, ImageNode, TextNode
from obelics_pipeline.filters import Text, build


def test_kept_images_are_set_against_the_words_of_the_document() -> None:
    nodes = [ImageNode("http://a/1.png", "1.png"), TextNode("text"), ImageNode("http://a/2.png", "2.png", reason="x")]
    document = Document("id", "http://a/", "w", 0, 1, list(nodes))
    ratio = build("images_per_thousand_words")
    assert ratio.score(Text("four words of text", document=document)) == 250.0
    assert ratio.score(Text("four words of text")) is None
    assert ratio.score(Text("", document=document)) is None
