"""The language score of a document is the stored one, of a paragraph its own."""

import pytest

from obelics_pipeline.core.document import Document
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.filters import Text, build

ENGLISH = "The old harbour was rebuilt in the nineteenth century, and it is still used by small boats."


def test_a_document_keeps_the_score_it_was_identified_with() -> None:
    document = Document("id", "http://a/", "w", 0, 1, [], scores={"language_score": 0.25})
    assert build("language_score").score(Text(ENGLISH, "en", document=document)) == 0.25


def test_a_paragraph_is_identified_by_itself() -> None:
    score = build("language_score").score(Text(ENGLISH, "en"))
    assert score is not None
    assert score > 0.9
    assert build("language_score").score(Text(ENGLISH, "de")) == 0.0


def test_a_missing_model_stops_before_the_run() -> None:
    with pytest.raises(UserError, match=r"language model /no/such\.bin: no such file"):
        build("language_score", {"model": "/no/such.bin"})
