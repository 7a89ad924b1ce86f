"""Plans of training: those made before name what they hold, those made after leave it out."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from obelics_pipeline.cli.main import main
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.training.plan import command
from obelics_pipeline.training.plan.command import plan
from obelics_pipeline.training.plan.plan_file import open_plan
from obelics_pipeline.training.train.document_losses import SCHEMA
from tests.training.plan.made import fake_tokenizer, made_run, write_recipe

GONE = (7, 31)
NUMBERS = [n for n in range(80) if n % 4]  # of pages with an image, as the run promises
OF_PLAN = tuple(NUMBERS.index(n) for n in GONE)


@pytest.fixture(autouse=True)
def no_transformers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "open_tokenizer", fake_tokenizer)


@pytest.fixture
def web(tmp_path: Path) -> Path:
    return made_run(tmp_path / "web", NUMBERS)


def recipe(tmp_path: Path, *runs: Path) -> str:
    return str(write_recipe(tmp_path / "r.yaml", {"web": {"runs": [str(run) for run in runs]}}))


def forget(run: Path, tmp_path: Path, *arguments: str, numbers: tuple[int, ...] = GONE) -> int:
    (tmp_path / "urls").write_text("".join(f"https://pages.example/{n}\n" for n in numbers))
    return main(["forget", str(run), "--urls", str(tmp_path / "urls"), *arguments])


def test_a_plan_beside_the_run_is_named_with_its_documents_steps_and_trainings(
    web: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan(recipe(tmp_path, web), tmp_path / "plan", say=lambda _line: None)
    before = open_plan(tmp_path / "plan")
    rows = before.arrays()
    owner = np.repeat(np.arange(len(rows.n_spans)), rows.n_spans)
    steps = sorted({int(r) // before.rows_per_step + 1 for r in owner[np.isin(rows.spans.document, OF_PLAN)]})
    training = tmp_path / "training"
    folder = training / "accounts/attempt-00000/rank-00000"
    folder.mkdir(parents=True)
    (training / "plan.txt").write_text(f"{tmp_path / 'plan'} {before.id}\n")
    account = {name: [0, 0] for name in SCHEMA.names} | {"step": [1, 2], "document": [OF_PLAN[0], 3]}
    pq.write_table(pa.table(account, schema=SCHEMA), folder / "steps-00000001-00000002.parquet")

    assert forget(web, tmp_path) == 0
    said = capsys.readouterr().out
    assert f"plan {tmp_path / 'plan'}: 2 forgotten documents (numbers {OF_PLAN[0]}, {OF_PLAN[1]})" in said
    assert f"in {len(steps)} steps ({', '.join(map(str, steps))})" in said
    assert f"training {training}: has read them in 1 steps (1), by its losses per document up to step 2" in said
    assert main(["validate", str(web)]) == 0


def test_a_plan_made_after_leaves_it_out_of_every_run_of_the_recipe(web: Path, tmp_path: Path) -> None:
    other = made_run(tmp_path / "other", (5, 6, 7, 9))  # 7 is in it too, and nobody asked there
    assert forget(web, tmp_path) == 0
    rows = {"allow_equal_content": True}
    about: dict[str, Any] = plan(
        recipe(tmp_path, web, other), tmp_path / "plan", overrides=[f"{k}={json.dumps(v)}" for k, v in rows.items()]
    )
    assert about["ledger"]["documents"]["left_out"]["forgotten"] == 1
    found = open_plan(tmp_path / "plan")
    reasons = {found.document(n).url: found.document(n).reason for n in range(found.n_documents)}
    assert reasons["http://pages.example/7"] == "forgotten"
    assert "http://pages.example/31" not in reasons


def test_no_plan_is_made_of_a_run_where_a_forget_was_begun(web: Path, tmp_path: Path) -> None:
    (web / "forgotten").mkdir()
    (web / "forgotten/pending.json").write_text("{}\n")
    with pytest.raises(UserError, match="obelics forget"):
        plan(recipe(tmp_path, web), tmp_path / "plan")


def test_a_plan_that_was_given_and_is_none_is_refused(web: Path, tmp_path: Path) -> None:
    assert forget(web, tmp_path, "--plan", str(tmp_path / "nowhere")) == 2
