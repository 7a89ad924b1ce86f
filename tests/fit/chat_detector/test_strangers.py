"""What is left out when a generator and a domain are judged, and how the parts are mixed by that."""

import numpy as np
import pytest

from obelics_pipeline.fit.chat_detector.strangers import (
    FEWEST_OF_MACHINE,
    Cell,
    cells_of,
    found_of,
    mix_of,
    mixed,
    settled_of,
)
from obelics_pipeline.fit.chat_detector.texts import PEOPLE, LabelledText
from obelics_pipeline.models.chat_detector.detector import MIX_ONE, NOTHING, Mix, Settled
from obelics_pipeline.models.forest import SCALE

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


def test_domains_of_people_alone_are_each_left_out_once() -> None:
    alone = [LabelledText("", PEOPLE, domain) for domain in ("poems", "web", "trusted") for _ in range(3)]
    texts = TEXTS + alone
    cells = cells_of(texts)
    assert [sorted({texts[row].domain for row in cell.others}) for cell in cells] == [["poems"], ["web"], [], []]
    for cell in cells:
        left_out = {texts[row].domain for row in cell.others}
        assert not left_out & {texts[row].domain for row in cell.unseen(texts)}
        assert {texts[row].domain for row in cell.rows()} == {cell.domain} | left_out


def test_a_generator_of_few_texts_of_a_domain_is_not_left_out() -> None:
    few = [one for one in TEXTS if (one.generator, one.domain) != ("talker", "law")]
    few += [LabelledText("", "talker", "law")] * (FEWEST_OF_MACHINE - 1)
    assert [(cell.generator, cell.domain) for cell in cells_of(few)] == [
        ("talker", "news"), ("writer", "law"), ("writer", "news"),
    ]  # fmt: skip


def test_where_nothing_is_left_to_learn_from_nothing_is_judged() -> None:
    assert not list(cells_of([one for one in TEXTS if one.generator != "writer"]))
    assert not list(cells_of([one for one in TEXTS if one.domain != "law"]))


NONE = np.arange(0)


def test_recall_is_at_one_percent_of_peoples_texts_of_the_domain() -> None:
    cell = Cell("talker", "law", np.arange(4), np.arange(4, 104), np.arange(104, 106))
    found = found_of(cell, np.array([98.5, 99.5, 3, 200, *range(100), 500, 500], float))
    assert found is not None
    assert (found.recall.found, found.recall.of) == (3, 4)
    assert (found.over_bound.found, found.people_over_bound.found) == (4, 97)  # log odds of 0.95 are 2.94
    assert found_of(Cell("talker", "law", np.arange(4), np.arange(4, 53), NONE), np.zeros(53)) is None


def test_words_settle_what_lies_below_all_but_one_in_a_hundred_of_likely_texts_of_machines() -> None:
    cell = Cell("talker", "law", np.arange(201), np.arange(201, 301), NONE)
    machine = np.column_stack([np.arange(201.0), np.ones(201)])
    people = np.column_stack([np.arange(-99.0, 1.0), np.arange(-99.0, 1.0)])
    said, mix = [np.vstack([machine, people])], Mix(MIX_ONE, MIX_ONE, 0)
    assert settled_of([cell], said, mix) == Settled(2 * SCALE, -49 * SCALE)
    assert settled_of([cell], [-said[0]], Mix(MIX_ONE, MIX_ONE, -500 * SCALE)) == NOTHING  # no text is likely


def test_parts_are_mixed_by_their_shares() -> None:
    assert mixed(Mix(MIX_ONE, MIX_ONE // 2, -SCALE), np.array([[1.0, 4.0], [0, 0]])).tolist() == [2, -1]


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
