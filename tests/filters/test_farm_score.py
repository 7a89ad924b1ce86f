"""The score of generated text is that of the detector of the text's language, and none elsewhere."""

from pathlib import Path

import pytest

from obelics_pipeline.core.document import Document, TextNode
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.filters.farm_score import FarmScore
from obelics_pipeline.filters.text import Text
from obelics_pipeline.models.farm_detector.detector import bundled
from tests.models.farm_detector.small import detector

TEXT = "the old boat of the harbour " * 20


@pytest.fixture
def path(tmp_path: Path) -> str:
    detector().save(tmp_path / "small.npz")
    return str(tmp_path / "small.npz")


def test_the_detector_of_the_language_scores(path: str) -> None:
    made = FarmScore(paths={"xx": path})
    assert made.score(Text(TEXT, "xx")) == detector().score(TEXT)
    assert made.score(Text(TEXT, "yy")) is None
    assert made.score(Text(TEXT)) is None
    assert made.score(Text("boat", "xx")) is None
    assert path in made.files()
    assert made.not_applied is None


def test_without_a_detector_it_says_that_it_measures_nothing() -> None:
    assert (FarmScore().not_applied is None) == (bundled("en") is not None)
    assert FarmScore().score(Text(TEXT, "xx")) is None


def test_a_detector_that_cannot_be_read_stops_the_run_before_it_starts(tmp_path: Path) -> None:
    (tmp_path / "wrong.npz").write_bytes(b"wrong")
    for name in ("wrong.npz", "missing.npz"):
        with pytest.raises(UserError, match=f"detector .*{name}: cannot be read"):
            FarmScore(paths={"en": str(tmp_path / name)})


def test_it_tells_the_reasons_of_its_score_in_rows_of_three(path: str) -> None:
    made = FarmScore(paths={"xx": path})
    rows = list(made.reasons(Text(TEXT, "xx")))
    assert {len(row) for row in rows} == {3}
    assert "worst stretch" in {row[0] for row in rows}
    assert any(row[2].startswith("harbour, in “") for row in rows)
    assert not list(made.reasons(Text(TEXT, "yy")))
    assert not list(made.reasons(Text("boat", "xx")))


def test_of_a_document_its_prose_is_judged_and_the_reasons_stand_there(path: str) -> None:
    made = FarmScore(paths={"xx": path})
    names = TextNode("\n".join(["Jib 12 m"] * 60), "list")
    page = Document("0" * 32, "http://a.example/", "w", 0, 1, [names, TextNode(TEXT), names])
    text = Text(page.text(), "xx", document=page)
    assert made.score(text) == made.score(Text(TEXT, "xx")) is not None
    begin = len(names.text) + 2
    assert made.spans(text) == [(begin + first, begin + last) for first, last in made.spans(Text(TEXT, "xx"))] != []
    assert list(made.reasons(text)) == list(made.reasons(Text(TEXT, "xx")))
    page.nodes = [names, names]
    assert made.score(Text(page.text(), "xx", document=page)) is None


def test_of_few_words_there_is_no_score_and_no_reason(path: str) -> None:
    made, few = FarmScore(paths={"xx": path}), Text(" ".join(["boat"] * 99), "xx")
    assert (made.score(few), made.spans(few), list(made.reasons(few))) == (None, [], [])
    assert made.score(Text(" ".join(["boat"] * 100), "xx")) is not None
