"""The documents of a plan are those of a run's index, which is one file or lies in parts."""

from pathlib import Path

import pytest

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.training.plan.documents import read_run
from obelics_pipeline.training.plan.recipe import Dataset
from tests.stages.shard.runs import cut_index, document, make_run


def test_an_index_in_parts_gives_the_documents_of_one_file(tmp_path: Path) -> None:
    for name in ("whole", "parts"):
        make_run(tmp_path / name, [document(i) for i in range(9)], per_shard=2)
    cut_index(tmp_path / "parts", 2, 3)
    runs = [str(tmp_path / name) for name in ("whole", "parts")]
    whole, parts = (read_run("pages", Dataset(runs=(run,)), run, tmp_path) for run in runs)
    names = [name for name in whole.table.column_names if name != "shard"]
    assert parts.table.select(names).equals(whole.table.select(names))
    assert [task.shard.name for task in parts.tasks] == [task.shard.name for task in whole.tasks]
    assert [rows.tolist() for rows in parts.rows] == [rows.tolist() for rows in whole.rows]


def test_a_part_that_the_manifest_does_not_name_is_refused(tmp_path: Path) -> None:
    make_run(tmp_path, [document(i) for i in range(4)], per_shard=2)
    cut_index(tmp_path, 1, 1)
    first = (tmp_path / "index-000000.parquet").read_bytes()
    (tmp_path / "index-000001.parquet").write_bytes(first)
    with pytest.raises(UserError, match=r"index-000001\.parquet: not the index that manifest.json names"):
        read_run("pages", Dataset(runs=(str(tmp_path),)), str(tmp_path), tmp_path)
