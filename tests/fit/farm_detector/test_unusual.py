"""Honest text that looks unusual keeps what its writer meant, and bears no mark."""

from random import Random

from obelics_pipeline.fit.farm_detector.marked_text import marked, plain
from obelics_pipeline.fit.farm_detector.unusual import posts, telegraphic
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
        assert 2 * 40 <= len(made.split()) <= 5 * 150
