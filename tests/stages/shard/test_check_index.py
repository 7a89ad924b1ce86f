from itertools import groupby
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import given, settings
from hypothesis import strategies as st

from obelics_pipeline.core.index_name import part_name
from obelics_pipeline.core.shards.index import IndexWriter
from obelics_pipeline.core.shards.manifest import index_part, read_manifest
from obelics_pipeline.core.shards.run_index import RowSpan
from obelics_pipeline.core.shards.shard_table import ShardEntry
from obelics_pipeline.stages.shard.check_index import _tars_in_order, check_part

from .runs import SCORES, document, make_run


@given(st.lists(st.sampled_from("abc"), max_size=40), st.integers(1, 7))
@settings(max_examples=30)
def test_tars_follow_each_other_wherever_groups_of_rows_end(
    tmp_path_factory: object, shards: list[str], group: int
) -> None:
    path = tmp_path_factory.getbasetemp() / "in-order.parquet"  # type: ignore[attr-defined]
    pq.write_table(pa.table({"shard": pa.array(shards, pa.string())}), path, row_group_size=group)
    assert list(_tars_in_order(path)) == [(name, len(list(of))) for name, of in groupby(shards)]


def entry(name: str, documents: int) -> ShardEntry:
    return ShardEntry(name, "", 0, documents, 0, 0, 0)


def test_rows_are_where_the_manifest_says_or_their_places_are_told(tmp_path: Path) -> None:
    make_run(tmp_path, [document(i) for i in range(8)], per_shard=3)
    manifest = read_manifest(tmp_path)
    (part,), (first, second, third) = manifest.index, manifest.shards
    assert check_part(tmp_path, SCORES, (part, manifest.shards)).spans is None
    empty = entry("shard-000009.tar", 0)
    assert (
        check_part(tmp_path, SCORES, (part, [empty, *manifest.shards])).spans is None
    )  # it has no rows to be anywhere
    found = check_part(tmp_path, SCORES, (part, [first, third, second, entry("x.tar", 2)]))
    spans = {(span.start, span.stop) for span in found.spans or ()}
    assert [(span.start, span.stop) for span in found.spans or ()] == [(0, 3), (6, 8), (3, 6), (0, 0)]
    assert found.problems == ("index.parquet: its tars do not follow each other as in the manifest",)
    assert len(spans) == 4
    less = check_part(tmp_path, SCORES, (part, [first, third]))
    assert less.problems == (
        "index.parquet: rows of 'shard-000001.tar', which the manifest does not list, or lists elsewhere",
    )
    assert less.spans == (RowSpan("index.parquet", 0, 3), RowSpan("index.parquet", 6, 8))
    fewer = check_part(tmp_path, SCORES, (part, [entry(first.name, 2), second, third]))
    assert (fewer.problems, fewer.spans) == (
        (),
        tuple(RowSpan("index.parquet", *at) for at in ((0, 3), (3, 6), (6, 8))),
    )


def test_a_part_without_rows_is_whole(tmp_path: Path) -> None:
    with IndexWriter(tmp_path / part_name(3), SCORES):
        pass
    part = index_part(tmp_path / part_name(3), 0)
    assert check_part(tmp_path, SCORES, (part, [])).problems == ()
