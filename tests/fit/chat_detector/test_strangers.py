"""What is left out when a generator and a domain are judged, and how the parts are mixed by that."""

import numpy as np
import pytest

from obelics_pipeline.fit.chat_detector.strangers import Cell, cells_of, found_of, mix_of
from obelics_pipeline.fit.chat_detector.texts import PEOPLE, LabelledText
from obelics_pipeline.models.chat_detector.detector import MIX_ONE

TEXTS = [
    LabelledText("", generator, domain)
    for generator in (PEOPLE, "talker", "writer")
    for domain in ("news", "law")
    for _ in range(50)
]


def test_neither_the_generator_nor_the_domain_is_learned_from() -> None:
    cells = list(cells_of(TEXTS))
    assert [(cell.generator, cell.domain) for cell in cells] == [
        ("talker", "law"), ("talker", "news"), ("writer", "law"), ("writer", "news"),
    ]  # fmt: skip
    for cell in cells:
        seen = {(TEXTS[row].generator, TEXTS[row].domain) for row in cell.unseen(TEXTS)}
        others = [domain for domain in ("law", "news") if domain != cell.domain]
        assert seen == {
            (who, other) for who in (PEOPLE, "talker", "writer") if who != cell.generator for other in others
        }
        assert {TEXTS[row].domain for row in cell.rows()} == {cell.domain}


def test_where_nothing_is_left_to_learn_from_nothing_is_judged() -> None:
    assert not list(cells_of([one for one in TEXTS if one.generator != "writer"]))
    assert not list(cells_of([one for one in TEXTS if one.domain != "law"]))


def test_recall_is_at_one_percent_of_peoples_texts_of_the_domain() -> None:
    cell = Cell("talker", "law", np.arange(4), np.arange(4, 104))
    found = found_of(cell, np.array([98.5, 99.5, 3, 200, *range(100)], float))
    assert found is not None
    assert (found.texts, found.recall) == (4, 0.75)
    assert found_of(Cell("talker", "law", np.arange(4), np.arange(4, 53)), np.zeros(53)) is None


def test_a_part_that_says_nothing_has_no_share() -> None:
    cells = list(cells_of(TEXTS))
    random = np.random.default_rng(1)
    said = []
    for cell in cells:
        truth = np.repeat([1.0, -1.0], [len(cell.machine), len(cell.people)])
        said.append(np.column_stack([truth + random.normal(0, 1, len(truth)), random.normal(0, 1, len(truth))]))
    mix = mix_of(cells, said, TEXTS)
    assert mix.words == pytest.approx(2 * MIX_ONE, rel=0.3)  # log odds of two normal distributions
    assert mix.forest < 0.2 * MIX_ONE
