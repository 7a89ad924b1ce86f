"""From a plan to a run, from its spike to the plan without what made it, and to one that keeps by losses."""

from __future__ import annotations

from pathlib import Path

import pytest

from obelics_pipeline.cli.main import main
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.training.plan import command
from obelics_pipeline.training.plan.command import plan
from obelics_pipeline.training.plan.plan_file import open_plan
from tests.training.diagnosis.made import Made
from tests.training.plan.made import fake_tokenizer, made_run, write_recipe

N, BAD = 60, 20  # documents; the bad one, which step 3 sees


@pytest.fixture(autouse=True)
def no_transformers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "open_tokenizer", fake_tokenizer)


def planned(tmp_path: Path, name: str, **dataset: object) -> dict[str, str | None]:
    """Make a plan; why each document of it is left out."""
    recipe = write_recipe(tmp_path / f"{name}.yaml", {"web": {"runs": [str(tmp_path / "curated")], **dataset}})
    plan(recipe, tmp_path / name, say=lambda line: None)
    found = open_plan(tmp_path / name)
    documents = [found.document(number) for number in range(found.n_documents)]
    return {one.doc_id: one.reason for one in documents}


def test_a_plan_leaves_out_what_a_spike_or_a_loss_has_found(tmp_path: Path) -> None:
    made_run(tmp_path / "curated", range(N))
    with pytest.raises(UserError, match="no such column"):
        planned(tmp_path, "early", keep={"train_excess": {"max": 3.0}})
    bad = list(planned(tmp_path, "plan"))[BAD]
    run = Made(tmp_path / "run", N, {BAD: 8.0}).begin(tmp_path / "plan").train(1, 40, {4: 2.0, 5: 2.0}).written()
    without = tmp_path / "bad.txt"
    assert main(["explain-spike", str(run), "5", "--top", "1", "--without", str(without)]) == 0
    assert without.read_text() == f"{bad}\n"
    assert planned(tmp_path, "without", without=[str(without)])[bad] == "without"
    assert main(["losses", str(run)]) == 0
    reasons = planned(tmp_path, "kept", keep={"train_excess": {"max": 3.0}})
    assert [doc_id for doc_id, reason in reasons.items() if "train_excess" in str(reason)] == [bad]
