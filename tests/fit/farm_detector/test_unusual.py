"""Honest text that looks unusual keeps what its writer meant, and bears no mark."""

from random import Random

from obelics_pipeline.fit.farm_detector.marked_text import marked, plain
from obelics_pipeline.fit.farm_detector.unusual import learner, posts, spoken, telegraphic
from tests.fit.farm_detector.small import texts, trusted

PROSE = "You should take the butter out of the pantry, and it will be soft. Melt the sugar with the treacle in a pan."


def test_a_telegraphic_text_leaves_out_what_goes_without_saying_and_has_quantities() -> None:
    made = [telegraphic(marked(PROSE * 5), Random(seed)) for seed in range(20)]
    for text in made:
        said = plain(text).lower().split()
        assert {"butter", "pantry,", "soft."} <= set(said)
        assert said.count("the") < 0.6 * PROSE.lower().count("the ") * 5
        assert not any(piece.replaced or piece.junction for piece in text)
    assert sum(any(c.isdigit() or c in "½¼¾" for c in plain(text)) for text in made) > 15


def test_posts_are_passages_of_several_texts_each_in_paragraphs_of_its_own() -> None:
    random = Random(1)
    for _ in range(20):
        made = posts(trusted(), random)
        parts = [" ".join(part.split()) for part in made.split("\n\n") if part.strip()]
        whole = [" ".join(text.split()) for text in texts()]
        of = [next(i for i, text in enumerate(whole) if part in text) for part in parts]
        assert len(of) >= 2
        assert 2 * 8 <= len(made.split()) <= max(5 * 150, 12 * 60)


def test_a_learner_s_text_lacks_articles_and_endings_and_keeps_most_words() -> None:
    made = [learner(marked(PROSE * 5), Random(seed)) for seed in range(20)]
    kept = [len(set(plain(text).split()) & set(PROSE.split())) / len(set(PROSE.split())) for text in made]
    assert min(kept) > 0.6
    assert sum(plain(text).lower().split().count("the") for text in made) < 0.95 * 20 * 5 * PROSE.lower().count("the ")
    assert not any(piece.replaced or piece.junction for text in made for piece in text)


def test_speech_has_fillers_and_the_writer_s_words_in_their_order() -> None:
    for seed in range(10):
        said = plain(spoken(marked(PROSE), Random(seed))).lower()
        words = iter(said.replace(",", " ").replace(".", " ").split())
        assert all(word in words for word in PROSE.lower().replace(",", " ").replace(".", " ").split())
        assert len(said.split()) > len(PROSE.split()) or seed
