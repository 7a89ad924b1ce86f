"""The messages of a unit: which of its texts are compared."""

import pytest

from obelics_pipeline.core.config.dedup import DedupConfig
from obelics_pipeline.stages.dedup.candidates import PageFacts, PagesTable, signer, text_messages

TEXT = "a text of six words here"


@pytest.mark.parametrize(("longer", "messages"), [(0, 16), (1, 0)])
def test_a_text_of_as_many_characters_as_are_compared_sends_a_message_for_each_band(longer: int, messages: int) -> None:
    config = DedupConfig.model_validate({"text": {"min_characters": len(TEXT) + longer}})
    fact = PageFacts(0, bytes(16), "https://e.example/", ("a.warc", 0), 0, TEXT)
    place = {"generation": 0, "partition": "p"}
    assert text_messages([fact], signer(config.text), {}, PagesTable(), place, config).num_rows == messages
