"""A spinner puts synonyms in, with the ending of the word, and marks them."""

from pathlib import Path
from random import Random

import pytest

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.fit.farm_detector.inflection import inflected, readings
from obelics_pipeline.fit.farm_detector.marked_text import marked, plain
from obelics_pipeline.fit.farm_detector.spinning import Spinner
from obelics_pipeline.fit.farm_detector.thesaurus import Substitute, Thesaurus
from tests.fit.farm_detector.small import THESAURUS


@pytest.fixture
def thesaurus(tmp_path: Path) -> Thesaurus:
    path = tmp_path / "th.dat"
    path.write_text(THESAURUS, encoding="utf-8")
    return Thesaurus.load(path)


def test_a_thesaurus_has_senses_synonyms_and_wider_words(thesaurus: Thesaurus) -> None:
    assert thesaurus.of("boat") == [
        ("noun", Substitute("ship", 0, True)),
        ("noun", Substitute("vessel", 0, False)),
        ("verb", Substitute("sail", 1, True)),
        ("verb", Substitute("sail over", 1, True)),
    ]
    assert thesaurus.of("take over") == ()
    assert thesaurus.of("harbour") == ()


@pytest.mark.parametrize("content", [b"", b"UTF-8\nboat|x\n", b"UTF-8\nboat|2\n(noun)|ship\n", b"UTF-8\n\xff"])
def test_a_file_that_is_no_thesaurus_is_refused(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "th.dat"
    path.write_bytes(content)
    if content:
        with pytest.raises(UserError, match=r"th\.dat: not a MyThes file"):
            Thesaurus.load(path)
    with pytest.raises(UserError, match="not a MyThes file"):
        Thesaurus.load(tmp_path / "missing.dat")


def test_without_one_words_between_the_same_neighbours_are_taken_for_one_another() -> None:
    found = Thesaurus.of_texts(["The red boat sank.", "A red house sank. The red boat sank."])
    assert found.of("boat") == [("", Substitute("house", 0, True))]
    assert found.of("red") == ()


@pytest.mark.parametrize(
    ("word", "lemma", "ending"),
    [
        ("boats", "boat", "s"), ("boxes", "box", "s"), ("parties", "party", "s"), ("children", "child", "s"),
        ("walked", "walk", "ed"), ("moved", "move", "ed"), ("stopped", "stop", "ed"), ("carried", "carry", "ed"),
        ("told", "tell", "ed"), ("walking", "walk", "ing"), ("moving", "move", "ing"), ("boat", "boat", ""),
    ],
)  # fmt: skip
def test_a_form_is_read_as_lemma_and_ending(word: str, lemma: str, ending: str) -> None:
    assert (lemma, ending) in readings(word)


@pytest.mark.parametrize(
    ("phrase", "ending", "form"),
    [
        ("tell", "ed", "telled"), ("take over", "ed", "taked over"), ("carry", "ed", "carried"),
        ("move", "ing", "moving"), ("see", "ing", "seeing"), ("take over", "ing", "taking over"),
        ("sailing boat", "s", "sailing boats"), ("party", "s", "parties"), ("day", "s", "days"), ("box", "s", "boxes"),
        ("anything", "", "anything"),
    ],
)  # fmt: skip
def test_endings_are_put_on_without_regard_to_exceptions(phrase: str, ending: str, form: str) -> None:
    assert inflected(phrase, ending) == form


def test_what_is_spun_keeps_its_case_and_ending_and_is_marked(thesaurus: Thesaurus) -> None:
    text = "Old boats said it. The boats of the harbour said it, and the OLD one did not."
    spinner = Spinner(thesaurus)
    found = set()
    for seed in range(300):
        pieces = spinner.spin(text, Random(seed))
        assert [piece.text for piece in pieces if not piece.replaced] == [
            before.text for before, after in zip(marked(text), pieces, strict=True) if not after.replaced
        ]
        found |= {piece.text for piece in pieces if piece.replaced}
    assert found >= {"Aged", "ships", "vessels", "told" if "told" in found else "telled", "ELDERLY", "stated"}
    assert "the" not in found
    assert not {word for word in found if word.startswith("harbour")}


def test_names_within_sentences_are_mostly_spared(thesaurus: Thesaurus) -> None:
    spun = [plain(Spinner(thesaurus).spin("we saw the Boat " * 20, Random(seed))) for seed in range(60)]
    assert 0 < sum("Boat " * 1 in text and "Ship" in text for text in spun) < 30
