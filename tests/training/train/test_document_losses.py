from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from obelics_pipeline.training.train.document_losses import SCHEMA, DocumentLossWriter


def columns(n: int, targets: int = 5) -> dict[str, np.ndarray]:
    names = [name for name in SCHEMA.names if name != "step"]
    return {name: np.arange(n) for name in names} | {"n_targets": np.full(n, targets)}


def written(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.parquet"))


def test_every_file_holds_whole_steps_and_is_named_by_them(tmp_path: Path) -> None:
    writer = DocumentLossWriter(tmp_path, attempt=2, rank=1, steps_per_file=3)
    for step in range(11, 18):
        writer.add(step, columns(4))
    writer.flush()
    found = written(tmp_path)
    steps = ("00000011-00000013", "00000014-00000016", "00000017-00000017")
    assert [path.stem for path in found] == [f"steps-{of}" for of in steps]
    assert {path.parent for path in found} == {tmp_path / "accounts/attempt-00002/rank-00001"}
    tables = [pq.read_table(path) for path in found]
    assert pa.concat_tables(tables)["step"].to_pylist() == [step for step in range(11, 18) for _ in range(4)]
    assert tables[0].schema.equals(SCHEMA)


def test_spans_without_targets_are_left_out(tmp_path: Path) -> None:
    writer = DocumentLossWriter(tmp_path, 1, 0, 1)
    writer.add(1, columns(3) | {"n_targets": np.array([0, 7, 0])})
    (path,) = written(tmp_path)
    assert pq.read_table(path)["document"].to_pylist() == [1]


def test_a_step_without_spans_is_written_as_such(tmp_path: Path) -> None:
    writer = DocumentLossWriter(tmp_path, 1, 0, 1)
    writer.add(1, columns(0))
    (path,) = written(tmp_path)
    assert pq.read_table(path).num_rows == 0


def test_a_flush_with_nothing_to_write_makes_no_file(tmp_path: Path) -> None:
    DocumentLossWriter(tmp_path, 1, 0, 1).flush()
    assert written(tmp_path) == []
