"""The scores of a curation run, whose index is one file or lies in parts."""

from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.training.diagnosis import curated
from obelics_pipeline.training.diagnosis.curated import read_curated, scores_of
from tests.stages.shard.runs import cut_index, document, make_run


@pytest.fixture
def runs(tmp_path: Path) -> list[Path]:
    """Two runs of equal documents, the second with its index in parts."""
    for name in ("whole", "parts"):
        make_run(tmp_path / name, [document(i) for i in range(9)], per_shard=2)
    cut_index(tmp_path / "parts", 2, 0, 3)
    return [tmp_path / "whole", tmp_path / "parts"]


def test_scores_in_parts_are_those_of_one_file(runs: list[Path]) -> None:
    whole, parts = (read_curated(str(run)) for run in runs)
    assert whole is not None and parts is not None
    assert parts.documents == whole.documents == 9
    assert parts.scores.keys() == whole.scores.keys() == {"word_count", "perplexity"}
    assert all(np.array_equal(parts.scores[name], whole.scores[name], equal_nan=True) for name in whole.scores)
    ids = pq.read_table(runs[0] / "index.parquet")["doc_id"].to_pylist()
    told = [scores_of(str(run), [*ids[2:5], "unknown"]) for run in runs]
    assert told[0] == told[1]
    assert told[0].keys() == set(ids[2:5])


def test_of_many_documents_groups_of_all_parts_are_read(runs: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(curated, "MOST", 5)  # every second group of rows; each part has one, or none
    found = read_curated(str(runs[1]))
    assert found is not None
    assert (found.documents, len(found.scores["word_count"])) == (9, 4)


def test_a_run_without_an_index_has_none_and_a_damaged_part_is_named(runs: list[Path], tmp_path: Path) -> None:
    assert read_curated(str(tmp_path / "nowhere")) is None
    (runs[1] / "index-000002.parquet").write_bytes(b"x")
    for read in (lambda: read_curated(str(runs[1])), lambda: scores_of(str(runs[1]), ["x"])):
        with pytest.raises(UserError, match=r"index-000002\.parquet: cannot be read"):
            read()
