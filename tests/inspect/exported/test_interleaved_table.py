"""NeMo Curator's own reader finds the texts and pictures of the shards in interleaved Parquet."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from obelics_pipeline.inspect.exported.command import export_files
from obelics_pipeline.inspect.exported.interleaved_table import CURATOR, SCHEMA, count_interleaved
from tests.inspect.exported.curator import found
from tests.inspect.exported.documents import of_shards


@pytest.fixture(scope="module")
def table(small_run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("curator") / "out"
    assert len(export_files(small_run, folder, CURATOR, shards=2, workers=1).files) == 2
    return folder


def test_a_row_stands_for_each_text_each_picture_and_the_document(small_run: Path, table: Path) -> None:
    rows = pq.read_table(table)
    assert rows.schema.equals(SCHEMA)
    assert found(rows) == of_shards(small_run)


def test_what_cannot_be_read_is_not_counted(table: Path, tmp_path: Path) -> None:
    path = table / "part-000000.parquet"
    assert count_interleaved(path) + count_interleaved(table / "part-000001.parquet") == 12
    data = bytearray(path.read_bytes())
    data[len(data) // 3] ^= 1
    (tmp_path / "x.parquet").write_bytes(data)
    with pytest.raises((OSError, pa.ArrowException)):
        count_interleaved(tmp_path / "x.parquet")


def test_the_columns_are_those_of_curator_and_ours() -> None:
    tasks = pytest.importorskip("nemo_curator.tasks.interleaved")
    own = tasks.INTERLEAVED_SCHEMA
    assert pa.schema([SCHEMA.field(name) for name in own.names]).equals(own)


def test_curator_reads_it(small_run: Path, table: Path) -> None:
    stages = pytest.importorskip("nemo_curator.stages.interleaved.io.readers.parquet")
    tasks = pytest.importorskip("nemo_curator.tasks")
    files = [str(path) for path in sorted(table.glob("*.parquet"))]
    batch = stages.InterleavedParquetReaderStage().process(tasks.FileGroupTask(dataset_name="x", data=files))
    assert batch.validate()
    assert found(batch.to_pyarrow()) == of_shards(small_run)
