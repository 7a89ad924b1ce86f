"""Documents are dealt to files of about equal bytes, in their order, each to one."""

from hypothesis import given
from hypothesis import strategies as st

from obelics_pipeline.core.shards.shard_table import ShardEntry
from obelics_pipeline.inspect.published.parts import parts_of

tars = st.builds(
    lambda i, documents, size: ShardEntry(f"{i}", "", documents * size, documents, 0, 0, 0),
    st.integers(0, 9),
    st.integers(1, 200),
    st.integers(1, 5000),
)


@given(st.lists(tars, max_size=8), st.integers(1, 300_000))
def test_each_document_is_in_one_part_and_the_order_stays(shards: list[ShardEntry], target: int) -> None:
    parts = parts_of(shards, target)
    total = sum(shard.documents for shard in shards)
    assert [row for part in parts for row in range(part.start, part.stop)] == list(range(total))
    assert all(part.start < part.stop for part in parts) or (total == 0 and len(parts) == 1)
    assert [part.name for part in parts] == [f"train-{i:05d}-of-{len(parts):05d}.parquet" for i in range(len(parts))]


def test_parts_have_about_the_bytes_that_are_aimed_at() -> None:
    shards = [ShardEntry(f"{i}", "", 256_000_000, 1000, 0, 0, 0) for i in range(10)]
    parts = parts_of(shards, 400_000_000)
    assert len(parts) == 6
    assert {part.stop - part.start for part in parts} <= {1666, 1667}


def test_a_tar_that_is_larger_than_a_part_is_divided() -> None:
    (tar,) = [ShardEntry("0", "", 4_000_000_000, 1000, 0, 0, 0)]
    assert [part.stop - part.start for part in parts_of([tar], 400_000_000)] == [100] * 10
