"""What models have measured decides in a dry run as in a run; a document that none has seen is counted, and stays."""

import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from obelics_pipeline.core.commit import Attempt, committed, unit_names
from obelics_pipeline.core.config.run import load_config
from obelics_pipeline.core.config.yaml_file import dump_config
from obelics_pipeline.core.folder import RunFolder
from obelics_pipeline.core.unit import Unit
from obelics_pipeline.inspect.run_tables.documents import document_table
from obelics_pipeline.stages.score.document_models import model_columns
from obelics_pipeline.stages.score.stage import SIMILARITY, measured_schema
from tests.inspect.dry_run.test_dry_run import run_dry

MODEL = "score.flamingo.model=a-model-that-nobody-loads"


def with_scores(run: Path, folder: Path, unseen: int) -> list[str]:
    """A copy of a run in which a model gave the kept documents 0, 1, 2 … but for some of them; their ids, in order."""
    shutil.copytree(run, folder)
    copy = RunFolder(folder)
    config = load_config(str(copy.config), [MODEL])
    copy.config.write_text(dump_config(config))  # type: ignore[union-attr]
    columns, ids = model_columns(config.score), list[str]()
    for name in sorted(unit_names(copy.assembled)):
        kept = pq.read_table(committed(copy.assembled, name).path(copy.assembled, "data"), columns=["doc_id", "reason"])
        found = kept.filter(kept["reason"].is_null())["doc_id"].to_pylist()
        rows = [
            {"doc_id": i, **dict.fromkeys(columns, float(len(ids) + n)), SIMILARITY: []} for n, i in enumerate(found)
        ]
        ids += found
        with Attempt(copy.scores, Unit("score", "0" * 16, name.rpartition("-")[0])) as attempt:
            table = pa.Table.from_pylist(rows[unseen:], measured_schema(columns))
            pq.write_table(table, attempt.file("data", ".parquet"))
            attempt.commit([], {"documents": name})
    return ids


def test_bounds_of_what_models_measured_decide(sampled_run: Path, tmp_path: Path) -> None:
    ids = with_scores(sampled_run, tmp_path / "run", unseen=0)
    unknown = run_dry(tmp_path / "run", tmp_path / "scratch", ["score.document={flamingo_loss: {max: 9}}"])
    assert unknown.scores == 0
    rows = {row["doc_id"]: row for row in document_table(RunFolder(tmp_path / "scratch")).to_pylist()}
    assert [rows[i]["flamingo_loss"] for i in ids[:12]] == list(range(12))
    dropped = [i for i in ids if rows[i]["reason"] == "flamingo_loss"]
    assert dropped == ids[10:]
    assert {rows[i]["stage"] for i in dropped} == {"score"}


def test_a_config_without_models_is_tried_after_one_with_them(sampled_run: Path, tmp_path: Path) -> None:
    with_scores(sampled_run, tmp_path / "run", unseen=0)
    run_dry(tmp_path / "run", tmp_path / "scratch", ["score.document={flamingo_loss: {max: 9}}"])
    run_dry(tmp_path / "run", tmp_path / "scratch", ["score.flamingo=null"])
    found = document_table(RunFolder(tmp_path / "scratch"))
    assert "flamingo_loss" not in [*found["reason"].to_pylist(), *found.column_names]


def test_documents_that_no_model_has_seen_stay_and_are_counted(sampled_run: Path, tmp_path: Path) -> None:
    ids = with_scores(sampled_run, tmp_path / "run", unseen=1)
    units = len(unit_names(RunFolder(tmp_path / "run").assembled))
    unknown = run_dry(tmp_path / "run", tmp_path / "scratch", ["score.document={flamingo_loss: {max: -1}}"])
    assert unknown.scores == units
    kept = document_table(RunFolder(tmp_path / "scratch"))
    stay = kept.filter(kept["reason"].is_null())["doc_id"].to_pylist()
    assert ids[0] in stay
    assert len(stay) == units
