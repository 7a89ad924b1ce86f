"""A dear model measures only what the scores of cheaper ones ask it for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from obelics_pipeline.core.config import Bounds, load_config
from obelics_pipeline.core.document import Document, TextNode
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.filters.sampling import keeps
from obelics_pipeline.stages.score.document_models import DocumentModels
from obelics_pipeline.stages.score.some import ScoreSome
from obelics_pipeline.stages.score.value import check_judge


class Judge:
    def __init__(self) -> None:
        self.given: list[str] = []

    def score(self, documents: Sequence[Document]) -> Sequence[Mapping[str, float | None]]:
        self.given += [document.doc_id for document in documents]
        return [{"judge_score": float(len(document.text()))} for document in documents]


class Lengths:
    def score(self, documents: Sequence[Document]) -> Sequence[Mapping[str, float | None]]:
        return [{"length": float(len(document.text())) or None} for document in documents]


def document(number: int, farm_score: float | None) -> Document:
    return Document(f"d{number}", "", "w", number, 1, [TextNode("x" * number)], scores={"farm_score": farm_score})


def judged(only: Mapping[str, Bounds], documents: Sequence[Document]) -> list[float | None]:
    found = ScoreSome(Judge(), only, ["judge_score"]).score(documents)
    return [columns["judge_score"] for columns in found]


def test_only_documents_within_all_bounds_are_judged_and_a_null_is_in_none() -> None:
    documents = [document(1, 0.2), document(2, 0.6), document(3, 0.97), document(4, None), document(5, 0.5)]
    assert judged({"farm_score": Bounds(min=0.5, max=0.95)}, documents) == [None, 2, None, None, 5]
    assert judged({}, documents) == [1, 2, 3, 4, 5]


def test_a_sample_is_judged_and_drawn_otherwise_than_bounds_of_the_same_score_draw() -> None:
    half = Bounds(sample=[(0, 0.5)])
    documents = [document(number, 0.5) for number in range(1, 401)]
    chosen = {n for n, score in enumerate(judged({"farm_score": half}, documents)) if score is not None}
    kept = {n for n, d in enumerate(documents) if keeps(half, 0.5, "farm_score", d.doc_id)}
    assert 160 < len(chosen) < 240
    assert 60 < len(chosen & kept) < 140  # a quarter of all: were the draws the same, it would be a half


def test_the_judge_sees_what_the_models_before_it_measured() -> None:
    some = ScoreSome(Judge(), {"length": Bounds(min=2)}, ["judge_score"])
    found = DocumentModels([Lengths(), some]).score([document(0, 0.1), document(1, 0.1), document(2, 0.1)])
    assert found == [
        {"length": None, "judge_score": None},
        {"length": 1.0, "judge_score": None},
        {"length": 2.0, "judge_score": 2.0},
    ]


def test_a_score_that_nobody_measures_is_refused() -> None:
    with pytest.raises(UserError, match=r"score\.judge\.only\.farm: not measured here.*; measured are farm_score"):
        judged({"farm": Bounds(min=0.5)}, [document(1, 0.2)])


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("", None),
        (", only: {farm_score: {min: 0.5}}", None),
        (", only: {farm_scor: {min: 0.5}}", r"score\.judge\.only\.farm_scor: no such score; did you mean farm_score\?"),
        (", only: {judge_mass: {min: 0.5}}", r"score\.judge\.only\.judge_mass: no such score"),
        (", answers: {1: 1, 2: 2.5}", None),
        (", answers: {yes: 1}", r"score\.judge\.answers"),
    ],
)
def test_a_wrong_judge_is_refused_before_a_run_begins(more: str, said: str | None) -> None:
    def checked() -> None:
        check_judge(load_config("default", [f"score.judge={{model: m, prompt: '1 to 5? {{document}}'{more}}}"]))

    if said is None:
        checked()
        return
    with pytest.raises(UserError, match=said):
        checked()


def test_a_prompt_without_the_place_of_the_document_is_refused() -> None:
    with pytest.raises(UserError, match=r"the prompt has {document} 0 times; write it once"):
        check_judge(load_config("default", ["score.judge={model: m, prompt: How good is it}"]))
