"""What training learned of documents stands beside the run that made them, and its tools show it."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from obelics_pipeline.cli.main import main
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.folder import RunFolder
from obelics_pipeline.inspect.report.command import report_html
from obelics_pipeline.inspect.report.opened import open_run
from obelics_pipeline.inspect.run_tables.documents import document_table, score_names
from obelics_pipeline.inspect.run_tables.training import SCORES, trained
from obelics_pipeline.inspect.tune.workbench import Workbench
from tests.training.diagnosis.made import Made, make_plan

BAD = 5


@pytest.fixture(scope="module")
def curated(run_of_demo: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run whose documents were trained on twice, but for some."""
    folder = tmp_path_factory.mktemp("losses")
    run = shutil.copytree(run_of_demo, folder / "curated", ignore=shutil.ignore_patterns("images"))
    plan = make_plan(folder / "plan", run)
    n = len(pq.read_table(run / "index.parquet"))
    made = Made(folder / "run", n, {BAD: 7.0}).begin(plan).train(1, 10).train(11, 19)
    made.again("rollback", 15).train(16, 20)
    assert main(["losses", str(made.written())]) == 0
    return run


def test_each_document_has_its_mean_loss_and_the_steps_that_saw_it(curated: Path) -> None:
    index = pq.read_table(curated / "index.parquet")["doc_id"].to_pylist()
    table = pq.read_table(curated / "training.parquet")
    assert set(table["doc_id"].to_pylist()) <= set(index)
    found = trained(RunFolder(curated), [index[BAD], "nobody"])
    (bad,) = found.values()
    n = len(index)
    steps = [1, 1 + (n + BAD) // 8] if n + BAD < 160 else [1]
    assert bad.steps == tuple(steps)
    assert bad.losses == pytest.approx([7.0] * len(steps))
    assert bad.scores["train_loss"] == pytest.approx(7.0)
    assert (bad.scores["train_first_step"], bad.scores["train_last_step"]) == (steps[0], steps[-1])
    excess = table["train_excess"].to_numpy()
    assert bad.scores["train_excess"] == excess.max() > 3
    assert abs(np.median(excess)) < 0.2


def test_a_run_table_has_them_as_scores_that_dropped_documents_lack(curated: Path, run_of_demo: Path) -> None:
    table = document_table(RunFolder(curated))
    assert score_names(table)[-len(SCORES) :] == list(SCORES)
    seen = table["train_loss"].is_valid()
    assert 0 < seen.to_pylist().count(True) < len(table)
    assert table.filter(seen)["reason"].null_count == seen.to_pylist().count(True)
    assert not set(SCORES) & set(score_names(document_table(RunFolder(run_of_demo))))


def test_the_report_draws_them(curated: Path) -> None:
    assert "<h4>train_excess</h4>" in report_html(open_run(str(curated)))


def test_explain_tells_the_steps_that_saw_a_document(
    curated: Path, warcs: list[Path], capsys: pytest.CaptureFixture[str]
) -> None:
    doc_id = pq.read_table(curated / "index.parquet")["doc_id"][BAD].as_py()
    assert main(["explain", str(curated), doc_id, "--input", *map(str, warcs)]) == 0
    out = capsys.readouterr().out
    assert "in training" in out
    assert "step 1 " in out
    assert "7 nats a token" in out


def test_tune_shows_their_distribution(curated: Path) -> None:
    bench = Workbench(curated, 1)
    assert sum(bench.histogram("document", "train_excess")["all"]) == len(pq.read_table(curated / "training.parquet"))
    assert bench.estimate({})["kept"]["documents"] == len(pq.read_table(curated / "index.parquet"))


def test_a_bound_on_them_in_tune_is_for_a_recipe_and_not_for_the_config(curated: Path) -> None:
    bench = Workbench(curated, 1)
    kept = bench.estimate({})
    rules = [rule["name"] for rule in bench.about()["document"]]
    assert rules[-len(SCORES) :] == list(SCORES)
    assert [rule["name"] for rule in kept["rules"]] == rules
    assert all(rule["drops"] == 0 for rule in kept["rules"][-len(SCORES) :])
    settings = {"keep.train_excess.max": 2.0}
    found = bench.estimate(settings)
    assert found["kept"]["documents"] == kept["kept"]["documents"] - 1
    assert found["reasons"]["train_excess"] == 1
    assert (kept["exact"], found["exact"]) == (True, False)
    said = bench.saved(settings, curated / "tuned.yaml")
    assert said == f"{curated / 'tuned.yaml'}; in the recipe of a plan: keep: {{train_excess: {{max: 2.0}}}}"
    assert "train_excess" not in (curated / "tuned.yaml").read_text()
    with pytest.raises(UserError, match="a recipe keeps by min and max of train_loss"):
        bench.estimate({"keep.train_excess.below": 2.0})
