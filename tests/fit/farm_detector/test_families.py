"""Each family makes what its name says, and says of each word and border what is wrong with it."""

from itertools import pairwise
from random import Random

import pytest

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.fit.farm_detector.dictionary import Dictionary
from obelics_pipeline.fit.farm_detector.families import IMPLEMENTATIONS, WEIGHTS, Families, Words
from obelics_pipeline.fit.farm_detector.marked_text import MarkedText, plain
from obelics_pipeline.fit.farm_detector.second.wordnet import NOUN, Sense, Wordnet
from obelics_pipeline.fit.farm_detector.thesaurus import Thesaurus
from tests.fit.farm_detector.small import texts, trusted

COMMON = trusted().common_words[:400]
WORDS = Words(
    Thesaurus.of_texts(texts()),
    wordnet=Wordnet({word: [Sense(NOUN, [other], [])] for word, other in pairwise(COMMON)}),
    glossaries=[Dictionary({str(n): list(both) for n, both in enumerate(pairwise(COMMON))})],
)
FAMILIES = Families(trusted(), None, WORDS, ())
REPLACES = {
    "spinning", "wrong_words", "words_out_of_order", "rewording", "seed_articles", "glossing", "babble", "slots"
}  # fmt: skip
JOINS = {
    "splicing", "mixed_sentences", "sentences_out_of_order", "chains", "stitching", "snippets", "jumbling", "babble"
}  # fmt: skip
MADE = sorted(set(WEIGHTS) - {"translating"})


def made(family: str, count: int = 30, seed: int = 1) -> list[MarkedText]:
    only = Families(trusted(), None, WORDS, set(WEIGHTS) - {family, "translating"})
    random = Random(seed)
    return [only.generated(random).text for _ in range(count)]


@pytest.mark.parametrize("family", MADE)
def test_a_family_marks_what_it_did(family: str) -> None:
    pieces = [piece for text in made(family) for piece in text]
    words = [piece for piece in pieces if piece.is_word]
    replaced = sum(piece.replaced for piece in words) / len(words)
    junctions = sum(piece.junction for piece in pieces) / len(words)
    assert (0.01 < replaced < 0.9) == (family in REPLACES)
    assert (0.005 < junctions < 0.9) == (family in JOINS)
    assert (replaced > 0, junctions > 0) == (family in REPLACES, family in JOINS)


@pytest.mark.parametrize("family", MADE)
def test_a_family_makes_the_same_of_the_same_seed_and_else_something_else(family: str) -> None:
    assert made(family, 5) == made(family, 5)
    assert made(family, 5) != made(family, 5, seed=2)
    assert len({plain(text) for text in made(family)}) > 25


def test_honest_documents_bear_no_mark_and_all_kinds_of_layout() -> None:
    random = Random(1)
    honest = [FAMILIES.honest(random) for _ in range(100)]
    assert {one.family for one in honest} == {None}
    assert not any(piece.replaced or piece.junction for one in honest for piece in one.text)
    assert sum(plain(one.text).startswith(("- ", "* ", "• ", "1. ")) for one in honest) > 2


def test_families_come_as_often_as_their_weights_say_and_those_left_out_do_not_come() -> None:
    random = Random(1)
    some = Families(trusted(), None, WORDS, ["chains", "spinning", "second"])
    came = [some.generated(random).family for _ in range(400)]
    assert set(came) == set(IMPLEMENTATIONS["first"]) - {"chains", "spinning", "translating"}
    assert came.count("splicing") / 400 == pytest.approx(2 / 9.5, abs=0.07)


def test_unusual_genres_are_a_share_of_what_is_honest() -> None:
    from obelics_pipeline.fit.farm_detector.trusted import TrustedTexts

    both = Families(trusted(), TrustedTexts(["Zebra " * 50]), Words(Thesaurus({})), ())
    random = Random(1)
    zebras = sum("zebra" in plain(both.honest(random).text).lower() for _ in range(400))
    assert zebras / 400 == pytest.approx(0.25, abs=0.06)


def test_unusual_genres_are_made_into_others_too_or_all_of_them_would_be_taken_for_honest() -> None:
    from obelics_pipeline.fit.farm_detector.trusted import TrustedTexts

    both = Families(
        trusted(), TrustedTexts(["Zebra " * 50]), Words(Thesaurus({})), set(WEIGHTS) - {"words_out_of_order"}
    )
    random = Random(1)
    zebras = sum("zebra" in plain(both.generated(random).text).lower() for _ in range(400))
    assert zebras / 400 == pytest.approx(0.12, abs=0.05)


def test_a_family_that_is_not_there_cannot_be_left_out() -> None:
    with pytest.raises(UserError, match="family spining: unknown; valid are first, second, spinning, "):
        Families(trusted(), None, Words(Thesaurus({})), ["spining"])
    with pytest.raises(UserError, match="no family is left"):
        Families(trusted(), None, Words(Thesaurus({})), list(WEIGHTS))


def test_the_implementations_are_all_families_and_a_family_whose_words_are_missing_is_not_made() -> None:
    assert [*IMPLEMENTATIONS["first"], *IMPLEMENTATIONS["second"]] == list(WEIGHTS)
    assert WORDS.cannot() == {"translating"}
    bare = Words(Thesaurus({}))
    assert bare.cannot() == {"translating", "rewording", "seed_articles", "glossing"}
    random = Random(1)
    came = {Families(trusted(), None, bare, ["first"]).generated(random).family for _ in range(60)}
    assert came <= set(IMPLEMENTATIONS["second"]) - bare.cannot()
    assert len(came) > 5
