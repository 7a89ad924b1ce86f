"""The score stage among the others: what it drops is no keeper of duplicates, and what fails there is counted."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from rich.console import Console

from obelics_pipeline import job as module
from obelics_pipeline.display import Display
from obelics_pipeline.engines.local import LocalEngine
from obelics_pipeline.errors import UserError
from obelics_pipeline.events import EventLog
from obelics_pipeline.folder import RunFolder
from obelics_pipeline.job import Job
from obelics_pipeline.ledger import total
from obelics_pipeline.stages import StageRunner
from tests.dedup.planted import CAPTURES, STAGES, Maker, config_of, write_units
from tests.model_scores.months import POISON, MakeMonths


@pytest.fixture
def months(monkeypatch: pytest.MonkeyPatch) -> None:
    """A model that needs no package, in the place of those that a config can name."""
    monkeypatch.setattr(module, "model_columns", lambda _config: ["month"])
    monkeypatch.setattr(module, "models_identity", lambda _config: "months")
    monkeypatch.setattr(module, "LoadDocumentModels", MakeMonths)


def run_stages(output: Path, maker: Maker, bounds: Mapping[str, object], only: Sequence[str] = STAGES) -> Job:
    extracted = write_units(maker.planted.documents, output / "extract", per_unit=3)
    config = config_of(score={"document": bounds}, dedup={"buckets": 2})
    events = EventLog(output / "events.jsonl")
    with LocalEngine(1, output, 60) as engine:
        runner = StageRunner(engine, events, Display(Console(quiet=True)), only)
        job = Job(RunFolder(output), config, runner)
        runner.ledgers["extract"] = {"documents": total("documents", (m.ledgers["documents"] for m in extracted))}
        documents = job.dedup(extracted)
        answers = job.fetch(extracted, documents, ())
        job.shard(job.score(job.assemble(documents, answers, job.dedup_images(documents, answers))))
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

    cpu_only = [stage for stage in STAGES if stage != "score"]
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


def test_without_a_model_there_is_no_folder_and_no_column(tmp_path: Path) -> None:
    run_stages(tmp_path, captured(), {})
    assert not (tmp_path / "scored").exists()
    assert not (tmp_path / "scores").exists()
    assert "month" not in index(tmp_path)[0]
