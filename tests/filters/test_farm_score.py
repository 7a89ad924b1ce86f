"""The score of generated text is that of the detector of the text's language, and none elsewhere."""

from pathlib import Path

import pytest

from obelics_pipeline.core.document import Document, TextNode
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.storage import file_sha256
from obelics_pipeline.filters.farm_score import FarmScore
from obelics_pipeline.filters.text import Text
from obelics_pipeline.models.farm_detector.detector import all_bundled
from obelics_pipeline.models.farm_heads.panel import MIX
from tests.models.farm_detector.small import detector
from tests.models.wording_detector.small import WRONG
from tests.models.wording_detector.small import detector as wording

ABOUT_WORDS = ("word of grammar that does not fit", "pair of words that people do not write")
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
    assert (FarmScore().not_applied is None) == (all_bundled()["en"] is not None)
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
    assert rows[0] == ("head network", f"{made.score(Text(TEXT, 'xx')):.3f}", "text put together by a program")
    assert "worst stretch" in {row[0] for row in rows}
    assert any(row[2].startswith("harbour, in “") for row in rows)
    assert not list(made.reasons(Text(TEXT, "yy")))
    assert not list(made.reasons(Text("boat", "xx")))


def test_of_several_heads_each_tells_what_it_says_and_the_highest_its_reasons(path: str, tmp_path: Path) -> None:
    wording().save(tmp_path / "wording.npz")
    made = FarmScore(paths={"xx": [path, str(tmp_path / "wording.npz")]})
    for text in (WRONG * 3, TEXT):
        rows = list(made.reasons(Text(text, "xx")))
        heads = {row[0]: float(row[1]) for row in rows if row[0].startswith("head")}
        assert list(heads) == ["head wording", "head network"]
        assert max(heads.values()) == pytest.approx(made.score(Text(text, "xx")), abs=0.001)
        by_words = heads["head wording"] > heads["head network"]
        assert (rows[2][0] in ABOUT_WORDS) == by_words
    assert {path, str(tmp_path / "wording.npz"), str(MIX)} <= set(made.files())


def test_each_file_has_a_sum_or_the_run_does_not_start(path: str, tmp_path: Path) -> None:
    wording().save(tmp_path / "wording.npz")
    files = [path, str(tmp_path / "wording.npz")]
    sums = [file_sha256(Path(file)) for file in files]
    FarmScore(paths={"xx": files}, sha256={"xx": sums})
    with pytest.raises(UserError, match="damaged or another file"):
        FarmScore(paths={"xx": files}, sha256={"xx": sums[::-1]})
    for paths in ({"xx": files}, None):
        with pytest.raises(UserError, match=r"sha256 has 1 sums for xx, and options\.paths \d files"):
            FarmScore(paths=paths, sha256={"xx": sums[0]})


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


def test_whether_sentences_follow_each_other_is_not_asked_about_the_posts_of_a_forum() -> None:
    made, posts = (
        FarmScore(),
        "\n\n".join(f"Post {number} is about the harbour. Thank you all!" for number in range(30)),
    )

    def heads(page_type: str) -> list[str]:
        page = Document("0" * 32, "http://a.example/", "w", 0, 1, [TextNode(posts)], {"page_type": page_type})
        rows = made.reasons(Text(page.text(), "en", document=page))
        return [row[0] for row in rows if row[0].startswith("head")]

    assert heads("article") == heads("documentation") == ["head wording", "head chat", "head coherence", "head network"]
    assert heads("forum") == ["head wording", "head chat", "head network"]


def test_of_few_words_there_is_no_score_and_no_reason(path: str) -> None:
    made, few = FarmScore(paths={"xx": path}), Text(" ".join(["boat"] * 99), "xx")
    assert (made.score(few), made.spans(few), list(made.reasons(few))) == (None, [], [])
    assert made.score(Text(" ".join(["boat"] * 100), "xx")) is not None
