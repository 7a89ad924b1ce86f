"""The shuffled rows of a unit: which of its texts are compared."""

import pytest

from obelics_pipeline.core.config.dedup import DedupConfig
from obelics_pipeline.stages.dedup.candidates import PageFacts, PagesTable, signer, text_rows

TEXT = "a text of six words here"


@pytest.mark.parametrize(("longer", "rows"), [(0, 16), (1, 0)])
def test_a_text_of_as_many_characters_as_are_compared_gives_a_row_for_each_band(longer: int, rows: int) -> None:
    config = DedupConfig.model_validate({"text": {"min_characters": len(TEXT) + longer}})
    fact = PageFacts(0, bytes(16), "https://e.example/", ("a.warc", 0), 0, TEXT)
    place = {"generation": 0, "partition": "p"}
    assert text_rows([fact], signer(config.text), {}, PagesTable(), place, config).num_rows == rows
