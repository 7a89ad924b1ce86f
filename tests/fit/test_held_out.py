from collections.abc import Iterable

import numpy as np
import pytest

from obelics_pipeline.fit import held_out
from obelics_pipeline.fit.example import Example, make_example
from obelics_pipeline.fit.folds import deal
from obelics_pipeline.fit.gold import Truth
from obelics_pipeline.fit.held_out import Judged, calibration, judge_held_out, table
from obelics_pipeline.models.forest import NODE, SCALE, Forest
from obelics_pipeline.stages.extract.main_features import NAMES
from tests.fit.site import COUNT, html, page, paragraphs, url


def examples() -> list[Example]:
    truths = (Truth("\n".join(paragraphs(number)), (), ()) for number in range(COUNT))
    made = (make_example(page(html(n), url(n)), truth) for n, truth in enumerate(truths))
    return [example for example in made if example is not None]


def test_no_page_is_judged_by_a_model_that_saw_its_domain(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[set[str]] = []

    def fit(pages: Iterable[Example]) -> Forest:
        seen.append({one.domain for one in pages})
        return Forest(NAMES, np.array([(-1, 0, SCALE)], NODE), np.array([0], np.int32))

    monkeypatch.setattr(held_out, "fit", fit)
    pages = examples()
    judged = []
    for one in judge_held_out(pages, deal((one.domain for one in pages), 3)):
        assert one.example.domain not in seen[-1]
        assert len(seen[-1]) == 4
        judged.append(one)
    assert len(seen) == 3
    assert {id(one.example) for one in judged} == {id(one) for one in pages}


def test_pages_of_which_nothing_is_known_are_learnt_from_but_not_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    leaf = Forest(NAMES, np.array([(-1, 0, SCALE)], NODE), np.array([0], np.int32))
    monkeypatch.setattr(held_out, "fit", lambda pages: leaf)
    unknown = make_example(page(html(0), "http://other.example/"), None)
    assert unknown is not None
    judged = list(
        judge_held_out([*examples(), unknown], {**deal((e.domain for e in examples()), 2), "other.example": 0})
    )
    assert len(judged) == COUNT


def rows_of(*judged: Judged) -> dict[str, list[float]]:
    return {line[:12].strip(): [float(cell) for cell in line.split()[-6:]] for line in list(table(judged))[1:]}


def test_a_perfect_model_has_perfect_figures() -> None:
    (first, *_) = examples()
    assert first.truth is not None
    found = rows_of(Judged(first, first.truth, first.labels == 1, 0.99))
    assert found["main content"][:3] == [100, 100, 100]
    assert found["whole pages"][1] == 100
    assert found["whole pages"][0] < 100


def test_the_confidence_stands_beside_what_it_foretells() -> None:
    first, second, *_ = examples()
    assert first.truth is not None
    assert second.truth is not None
    nothing = Judged(second, second.truth, second.labels > 9, 0.61)
    by_snippets = Judged(second, Truth(None, ("a",), ()), second.labels == 1, 0.2)
    assert list(calibration([Judged(first, first.truth, first.labels == 1, 0.94), nothing, by_snippets])) == [
        "confidence from 0.5: 1 pages, mean 61.0, F1 of words 0.0",
        "confidence from 0.9: 1 pages, mean 94.0, F1 of words 100.0",
    ]
