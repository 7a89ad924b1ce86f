from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from obelics_pipeline.core.errors import UserError
from obelics_pipeline.core.index_name import INDEX
from obelics_pipeline.core.shards.manifest import read_manifest
from obelics_pipeline.core.shards.run_index import (
    PartBounds,
    RowSpan,
    index_files,
    index_of,
    read_spans,
    tars_of_parts,
)
from tests.stages.shard.runs import cut_index, document, make_run


@pytest.fixture
def whole(tmp_path: Path) -> Path:
    """Nine documents in tars of two, the last of one; the index is one file."""
    make_run(tmp_path / "whole", [document(i) for i in range(9)], per_shard=2)
    return tmp_path / "whole"


@pytest.fixture
def parts(tmp_path: Path) -> Path:
    """The same, with the index in parts of two tars, of none, and of three."""
    make_run(tmp_path / "parts", [document(i) for i in range(9)], per_shard=2)
    cut_index(tmp_path / "parts", 2, 0, 3)
    return tmp_path / "parts"


def test_parts_are_read_as_one_file_is(whole: Path, parts: Path) -> None:
    one, several = index_of(whole), index_of(parts)
    assert one is not None and several is not None
    assert (len(one.names), len(several.names)) == (1, 3)
    assert several.schema().equals(one.schema())
    assert several.table().equals(one.table())
    assert several.table(["doc_id", "n_images"]).equals(one.table(["doc_id", "n_images"]))
    assert list(several.rows()) == list(one.rows()) == pq.read_table(whole / INDEX).to_pylist()
    assert list(several.rows(["url"])) == list(one.rows(["url"]))
    wanted = one.table(["doc_id"])["doc_id"].to_pylist()[5:6]
    assert several.table(["url"], [("doc_id", "in", wanted)]).equals(one.table(["url"]).slice(5, 1))


def test_any_span_of_rows_is_found_in_its_parts(whole: Path, parts: Path) -> None:
    rows = pq.read_table(whole / INDEX).to_pylist()
    for run in (whole, parts):
        bounds = PartBounds.of(read_manifest(run))
        for start in range(10):
            for stop in range(start, 10):
                assert read_spans(run, bounds.spans(start, stop)) == rows[start:stop], (start, stop)


def test_a_span_names_only_the_parts_that_it_needs(parts: Path) -> None:
    bounds = PartBounds.of(read_manifest(parts))
    assert bounds.spans(1, 3) == (RowSpan("index-000000.parquet", 1, 3),)
    assert bounds.spans(3, 6) == (RowSpan("index-000000.parquet", 3, 4), RowSpan("index-000002.parquet", 0, 2))
    assert bounds.spans(4, 4) == ()


def test_each_part_is_told_with_its_tars(parts: Path) -> None:
    manifest = read_manifest(parts)
    told = [(part.name, [tar.name for tar in tars]) for part, tars in tars_of_parts(manifest)]
    assert [len(tars) for _, tars in told] == [2, 0, 3]
    assert [tar for _, tars in told for tar in tars] == [tar.name for tar in manifest.shards]


def test_without_a_manifest_what_lies_there_is_the_index(whole: Path, parts: Path, tmp_path: Path) -> None:
    for run in (whole, parts):
        before = index_of(run)
        (run / "manifest.json").unlink()
        assert index_of(run) == before
        (run / "manifest.json").write_text("{")
        assert index_of(run) == before
    (parts / "index.parquet").write_bytes((whole / "index.parquet").read_bytes())
    found = index_of(parts)
    assert found is not None and found.names == (INDEX,)
    assert len(index_files(parts)) == 4
    assert index_of(tmp_path) is None


@pytest.mark.parametrize("damage", [lambda path: path.unlink(), lambda path: path.write_bytes(b"x")])
def test_a_part_that_cannot_be_read_is_named_in_one_line(parts: Path, damage: Callable[[Path], object]) -> None:
    damage(parts / "index-000002.parquet")
    index = index_of(parts)
    assert index is not None
    bounds = PartBounds.of(read_manifest(parts))
    assert len(read_spans(parts, bounds.spans(0, 4))) == 4  # another part is not touched
    for read in (index.table, lambda: list(index.rows()), lambda: read_spans(parts, bounds.spans(3, 5))):
        with pytest.raises(UserError, match=r"index-000002\.parquet: cannot be read") as caught:
            read()
        assert "\n" not in str(caught.value)
