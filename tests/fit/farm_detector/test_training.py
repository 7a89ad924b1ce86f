"""Marks of a made document fall on the right tokens, and the same training gives the same network."""

import numpy as np
import pytest

from obelics_pipeline.fit.farm_detector.families import Families, Made, Words
from obelics_pipeline.fit.farm_detector.marked_text import Piece, plain
from obelics_pipeline.fit.farm_detector.thesaurus import Thesaurus
from obelics_pipeline.models.farm_detector.tokens import Vocabulary, find_tokens
from tests.fit.farm_detector.small import texts, trusted

pytest.importorskip("torch")


def test_marks_fall_on_the_tokens_of_their_pieces_and_a_junction_on_the_next_word() -> None:
    from obelics_pipeline.fit.farm_detector.training import read_marked

    text = [Piece("The"), Piece(" "), Piece("take over", True), Piece("  ", junction=True), Piece("boat"), Piece(". ")]
    tokens, marks = read_marked(Made("spinning", text), Vocabulary(["the"]))
    assert len(tokens) == len(find_tokens(plain(text))) == 5
    assert marks.T.tolist() == [[0, 1, 1, 0, 0], [0, 0, 0, 1, 0], [1, 1, 1, 1, 1]]
    assert not read_marked(Made(None, [Piece("The")]), Vocabulary(["the"]))[1].any()


def test_the_vocabulary_has_what_was_seen_often_the_most_frequent_first() -> None:
    from obelics_pipeline.fit.farm_detector.training import vocabulary_of

    found = vocabulary_of(["The boat, the BOAT, the boat 12 12 12 12\n\n\n\n the boat, rare, Don’t don't don't don't"])
    assert found.words == (",", "boat", "don't", "the")


@pytest.mark.slow
def test_the_same_training_gives_the_same_network_and_learns() -> None:
    from obelics_pipeline.fit.farm_detector.training import train, vocabulary_of

    vocabulary = vocabulary_of(texts())
    said: list[str] = []

    def network(steps: int) -> dict[str, np.ndarray]:
        families = Families(trusted(), None, Words(Thesaurus.of_texts(texts())), ())
        return train(families, vocabulary, steps, 64, 1, said.append).in_whole_numbers().arrays()

    one, two = network(3), network(3)
    assert all(np.array_equal(one[name], two[name]) for name in one)
    network(200)
    losses = [[float(part.split()[-1]) for part in line.split(",")] for line in said]
    assert len(losses) == 2
    assert sum(losses[1]) < 0.97 * sum(losses[0]), losses  # of all heads together: each alone is of a few documents
