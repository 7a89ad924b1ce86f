"""The score stage among the others: what it drops is no keeper of duplicates, and what fails there is counted."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from rich.console import Console

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.folder import RunFolder
from obelics_pipeline.engines.runner import StageRunner
from obelics_pipeline.jobs.display import Display
from obelics_pipeline.jobs.events import EventLog
from obelics_pipeline.jobs.publish import publish
from obelics_pipeline.jobs.run_ledgers import summary
from obelics_pipeline.jobs.stages import STAGES, names_of
from obelics_pipeline.stages.job import Job
from obelics_pipeline.stages.score import value as module
from tests.faults.inline import Inline
from tests.stages.dedup.planted import CAPTURES, Maker, config_of, job_on, write_units
from tests.stages.score.months import OVERFLOW, POISON, MakeMonths


@pytest.fixture
def months(monkeypatch: pytest.MonkeyPatch) -> None:
    """A model that needs no package, in the place of those that a config can name."""
    monkeypatch.setattr(module, "model_columns", lambda _config: ["month"])
    monkeypatch.setattr(module, "models_identity", lambda _config: "months")
    monkeypatch.setattr(module, "LoadDocumentModels", MakeMonths)


def run_stages(output: Path, maker: Maker, bounds: Mapping[str, object], only: Sequence[str] = names_of(STAGES)) -> Job:
    extracted = write_units(maker.planted.documents, output / "extract", per_unit=3)
    config = config_of(score={"document": bounds}, dedup={"buckets": 2})
    events = EventLog(output / "events.jsonl")
    with Inline(output) as engine:
        runner = StageRunner(engine, events, Display(Console(quiet=True)), only)
        job = job_on(extracted, RunFolder(output), config, runner)
        for stage in STAGES[1:]:
            stage.do(job)
        publish(job, STAGES)
    events.close()
    assert job.lost() == []
    return job


def captured() -> Maker:
    """Four pages of March, and one that was captured in January and in February."""
    maker = Maker(1)
    maker.clean(4)
    maker.captures(CAPTURES[:2])
    return maker


def index(output: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = pq.read_table(output / "index.parquet").to_pylist()
    return rows


@pytest.mark.usefixtures("months")
def test_of_duplicates_the_first_that_the_models_leave_is_kept_and_nothing_is_measured_twice(tmp_path: Path) -> None:
    maker = captured()
    january, february = maker.planted.documents[4:]
    job = run_stages(tmp_path, maker, {})
    assert [row["month"] for row in index(tmp_path)] == [3, 3, 3, 3, 2]
    assert job.ledgers["documents"].dropped == {"duplicate_url": 1}
    scores = {path.name for path in (tmp_path / "scores").glob("*.parquet")}

    cpu_only = [name for name in names_of(STAGES) if name != "score"]
    with pytest.raises(UserError, match=r"--stage: score has 2 of 2 units to do"):
        run_stages(tmp_path, maker, {"month": {"languages": {"en": {"max": 1}}}}, cpu_only)
    job = run_stages(tmp_path, maker, {"month": {"languages": {"en": {"max": 1}}}})
    assert [(row["doc_id"], row["month"]) for row in index(tmp_path)] == [(january.doc_id, 1)]
    assert job.ledgers["documents"].dropped == {"month": 5}
    assert job.ledgers["images"].dropped == {"document_dropped": 10}
    assert february.doc_id not in {row["doc_id"] for row in index(tmp_path)}
    assert {path.name for path in (tmp_path / "scores").glob("*.parquet")} == scores
    measured = [line for line in (tmp_path / "events.jsonl").read_text().splitlines() if '"stage": "score"' in line]
    assert sum('"unit_done"' in line for line in measured) == 2


@pytest.mark.usefixtures("months")
def test_documents_whose_unit_cannot_be_measured_are_counted_as_failed(tmp_path: Path) -> None:
    maker = captured()
    maker.document(extra=[POISON])
    maker.clean(1)
    job = run_stages(tmp_path, maker, {})
    assert [(f["stage"], f["reason"]) for f in job.runner.failures] == [("score", "RuntimeError: poisoned")]
    assert job.ledgers["documents"].failed == {"score_unit_failed": 2}
    assert job.ledgers["images"].failed == {"score_unit_failed": 4}
    assert len(index(tmp_path)) == 5


@pytest.mark.usefixtures("months")
def test_documents_that_a_model_gives_no_finite_number_fail_and_the_runs_ledger_counts_them(tmp_path: Path) -> None:
    maker = captured()
    maker.document(extra=[OVERFLOW])
    job = run_stages(tmp_path, maker, {"month": {"min": 0}})
    assert job.runner.failures == []
    assert job.ledgers["documents"].failed == {"not_finite": 1}
    assert "1 failed: not_finite 1" in summary(job.ledgers, tmp_path)
    assert len(index(tmp_path)) == job.ledgers["documents"].kept == 5


def test_without_a_model_there_is_no_folder_and_no_column(tmp_path: Path) -> None:
    run_stages(tmp_path, captured(), {})
    assert not (tmp_path / "scored").exists()
    assert not (tmp_path / "scores").exists()
    assert "month" not in index(tmp_path)[0]
