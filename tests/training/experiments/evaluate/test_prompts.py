"""The same held-out beginnings are gone on with at every checkpoint, and kept."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from obelics_pipeline.training.experiments.evaluate.command import Wanted, evaluate_location
from obelics_pipeline.training.experiments.evaluate.prompts import generate, prompts
from obelics_pipeline.training.plan.plan_file import open_plan
from obelics_pipeline.training.train.saved_model import load_checkpoint


def test_each_checkpoint_has_its_file_and_all_have_the_same_prompts(coloured: Path, tmp_path: Path) -> None:
    wanted = Wanted(rows=0, prompts=3, tokens=5)
    evaluate_location(coloured / "run", coloured / "plan", tmp_path, wanted, lambda _: None)
    files = sorted(tmp_path.glob("*/generations.jsonl"))
    assert len(files) == 3
    of_each = [[json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] for path in files]
    for said in of_each:
        assert [(one["doc_id"], one["prompt"]) for one in said] == [(o["doc_id"], o["prompt"]) for o in of_each[0]]
        assert len(said) == 3 and all(one["generated"] and one["images"] for one in said)
        assert all(one["prompt"].startswith("<s><image>") for one in said)


def test_prompts_are_held_out_and_the_likeliest_token_is_taken(coloured: Path) -> None:
    plan = open_plan(coloured / "plan")
    model = load_checkpoint(coloured / "run/checkpoints/step-00000120").eval()
    given = prompts(plan, model, 2, 6)
    trained_on = set(plan.arrays().spans.document.tolist())
    ids = {plan.document(number).doc_id: number for number in range(plan.n_documents)}
    assert all(ids[prompt.doc_id] not in trained_on for prompt in given)
    made = generate(model, given, 6)
    assert made == generate(model, given, 6)
    assert made == [generate(model, [prompt], 6)[0] for prompt in given]  # what stands beside it changes nothing
    assert all(len(tokens) == 6 or tokens[-1] == model.vocabulary.end for tokens in made)
    assert all(model.vocabulary.end not in tokens[:-1] for tokens in made)
    longer = generate(model, given, 8)
    assert all(b[: len(a)] == a for a, b in zip(made, longer, strict=True))
    assert all(model.vocabulary.image not in tokens for tokens in longer)


def test_a_colour_is_named_that_no_text_tells(coloured: Path) -> None:
    plan = open_plan(coloured / "plan")
    model = load_checkpoint(coloured / "run/checkpoints/step-00000120").eval()
    telling = [p for p in prompts(plan, model, 99, 1) if _of(plan, p.doc_id) == "telling"]
    words = {model.vocabulary.encode(f" {name}")[0]: name for name in ("red", "green", "blue", "white")}
    right = asked = 0
    for prompt in telling:
        if prompt.goes_on[:1] and prompt.goes_on[0] in words:
            asked += 1
            right += generate(model, [prompt], 1)[0][0] == prompt.goes_on[0]
    assert asked >= 2
    assert right / asked >= 0.75


def _of(plan: object, doc_id: str) -> str:
    from obelics_pipeline.training.plan.plan_file import Plan

    assert isinstance(plan, Plan)
    found = [plan.document(n) for n in range(plan.n_documents)]
    return next(plan.datasets[d.dataset] for d in found if d.doc_id == doc_id)
